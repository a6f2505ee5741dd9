import type { Caller } from '../../domain/api-token.ts';
import { sameJson } from '../../domain/json/json-tree.ts';
import { isMet, type Precondition } from '../../domain/precondition.ts';
import type { Secret } from '../../domain/secret.ts';
import { digestToken, mintUserGroupToken, type TokenDigest } from '../../domain/token.ts';
import {
  type SettableFields,
  settableFields,
  type UserGroupKey,
  valuesLength,
} from '../../domain/user-group/user-group.ts';
import type { UserGroupBody, UserGroupFields } from '../../domain/user-group/user-group-body.ts';
import type { NewUserGroup } from '../../store/port.ts';
import { type Context, type OpenUserGroup, openToken } from '../context.ts';
import { userGroupEvent } from '../event/event.ts';
import { overloaded, permit, userGroupNotFound, versionMismatch } from '../refusals.ts';
import { checkPolicies } from './violations.ts';

export interface GetOrCreateResult extends OpenUserGroup {
  created: boolean;
  /** Sent fields that differ from the stored ones. */
  drift: (keyof SettableFields)[];
}

/**
 * Returns the stored group with this id, or creates it. Of concurrent first calls, exactly one creates it.
 * Throws `user_group_not_found` if the group does not exist and the body has no name, and `version_mismatch`
 * if the precondition is not met.
 */
export async function getOrCreateUserGroup(
  context: Context,
  caller: Caller,
  body: UserGroupBody,
  precondition?: Precondition,
): Promise<GetOrCreateResult> {
  const key = context.store.userGroupKey(caller, body.userGroupId);
  const stored = await context.store.read({ kind: 'findUserGroup', key });
  if (stored === null) return createIfNamed(context, caller, key, body, precondition);
  if (!isMet(precondition, stored)) throw versionMismatch();
  const turn = context.cpu.turn(valuesLength(body));
  if (turn !== undefined) await turn;
  const { userGroup, token } = openToken(context, stored);
  return { created: false, drift: computeDrift(body, userGroup), userGroup, token };
}

async function createIfNamed(
  context: Context,
  caller: Caller,
  key: UserGroupKey,
  body: UserGroupBody,
  precondition?: Precondition,
): Promise<GetOrCreateResult> {
  const { name } = body;
  if (name === undefined) {
    throw userGroupNotFound(' Send a name to create one.');
  }
  permit(caller, ['read-write'], 'create a user group');
  if (!isMet(precondition, null)) throw versionMismatch();
  if (!context.store.admitsWrite()) throw overloaded;
  const { mapping = null, properties = null } = body;
  const check = checkPolicies(context, caller, body.userGroupId, { mapping, properties });
  if (check !== undefined) await check;
  const group = await createUserGroup(context, caller, key, { ...body, name });
  if (group.created) return { ...group, drift: [] };
  // A concurrent call created the group.
  if (!isMet(precondition, group.userGroup)) throw versionMismatch();
  await context.cpu.turn(valuesLength(body));
  return { ...group, drift: computeDrift(body, group.userGroup) };
}

/**
 * Creates the group unless it exists, and returns it. `tried` contains the ids with which earlier attempts of
 * this call may have created it.
 */
export async function createUserGroup(
  context: Context,
  caller: Caller,
  key: UserGroupKey,
  fields: UserGroupFields & { name: string },
  tried: readonly number[] = [],
): Promise<OpenUserGroup & { created: boolean }> {
  const token = mintUserGroupToken(key.bucket);
  const tokenDigest = digestToken(token.reveal());
  const command = await newUserGroup(context, key, fields, { token, tokenDigest });
  const event = await userGroupEvent(context, caller, 'user_group.created', key);
  const result = await context.store.write({ kind: 'createUserGroup', ...command, event });
  if (result === 'unsettled') {
    context.teamIds.discard(command.lease);
    return createUserGroup(context, caller, key, fields, [...tried, command.teamId]);
  }
  const { userGroup } = result;
  const isSealedHere = userGroup.sealedToken.ciphertext === command.sealedToken.ciphertext;
  return {
    created: result.created || tried.includes(userGroup.teamId),
    userGroup,
    token: isSealedHere ? token : openToken(context, userGroup).token,
  };
}

/** Builds the command for a new group, with a leased id and its encrypted token. */
export async function newUserGroup(
  { store, keyRing, teamIds, clock }: Pick<Context, 'store' | 'keyRing' | 'teamIds' | 'clock'>,
  key: UserGroupKey,
  fields: UserGroupFields & { name: string; suspended?: boolean },
  { token, tokenDigest }: { token: Secret; tokenDigest: TokenDigest },
): Promise<NewUserGroup> {
  const { id: teamId, lease } = await teamIds.next(store);
  const { name, mapping = null, properties = null, suspended = false } = fields;
  const sealedToken = keyRing.seal(token, { ...key, teamId, tokenDigest });
  const now = clock();
  const suspendedAt = suspended ? now : null;
  return { key, teamId, lease, name, mapping, properties, suspendedAt, tokenDigest, sealedToken, now };
}

/** Returns the sent fields that differ from the stored ones. */
export function computeDrift(sent: UserGroupFields, stored: SettableFields): GetOrCreateResult['drift'] {
  const { name, mapping, properties } = sent;
  const differs: Record<keyof SettableFields, boolean> = {
    name: name !== undefined && name !== stored.name,
    mapping: mapping !== undefined && !sameJson(mapping, stored.mapping),
    properties: properties !== undefined && !sameJson(properties, stored.properties),
  };
  return settableFields.filter((field) => differs[field]);
}
