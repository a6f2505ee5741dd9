import type { Caller } from '../domain/api-token.ts';
import type { UserGroupBody, UserGroupFields } from '../domain/body.ts';
import type { Secret } from '../domain/secret.ts';
import { sameJson } from '../domain/strict-json.ts';
import { digestOf, mintUserGroupToken, type TokenDigest } from '../domain/token.ts';
import { keyOf, type UserGroup, type UserGroupKey } from '../domain/user-group.ts';
import type { NewUserGroup } from '../store/store.ts';
import { type Context, type OpenUserGroup, openToken, permit, userGroupNotFound } from './context.ts';

export interface GetOrCreateResult extends OpenUserGroup {
  created: boolean;
  /** The sent fields that differ from what is stored. */
  drift: ('name' | 'mapping' | 'properties')[];
}

/**
 * Returns the group of the id as it is stored, or creates it where there is none. Of any number of concurrent
 * first calls exactly one creates. Throws `user_group_not_found` where it would have to create without a name.
 */
export async function getOrCreateUserGroup(
  context: Context,
  caller: Caller,
  body: UserGroupBody,
): Promise<GetOrCreateResult> {
  const key = keyOf(caller.workspaceId, caller.environment, body.userGroupId);
  const stored = await context.store.read({ kind: 'findUserGroup', key });
  if (stored === null) return create(context, caller, key, body);
  const { userGroup, token } = openToken(context, stored);
  return { created: false, drift: driftOf(body, userGroup), userGroup, token };
}

async function create(
  context: Context,
  caller: Caller,
  key: UserGroupKey,
  body: UserGroupBody,
): Promise<GetOrCreateResult> {
  const { name } = body;
  if (name === undefined) {
    throw userGroupNotFound(' Send a name with it to create one.');
  }
  permit(caller, ['read-write'], 'create a user group');
  context.store.admitWrite();
  const made = await make(context, key, { ...body, name });
  return { ...made, drift: made.created ? [] : driftOf(body, made.userGroup) };
}

/** `tried` has the ids with which this call may have made the group already. */
async function make(
  context: Context,
  key: UserGroupKey,
  fields: UserGroupFields & { name: string },
  tried: readonly number[] = [],
): Promise<OpenUserGroup & { created: boolean }> {
  const token = mintUserGroupToken(key.bucket);
  const tokenDigest = digestOf(token.reveal());
  const command = await newUserGroup(context, key, fields, { token, tokenDigest });
  const result = await context.store.write({ kind: 'createUserGroup', ...command });
  if (result === 'unsettled') {
    context.teamIds.end(command.lease);
    return make(context, key, fields, [...tried, command.teamId]);
  }
  const { userGroup } = result;
  const isSealedHere = userGroup.sealedToken.ciphertext === command.sealedToken.ciphertext;
  return {
    created: result.created || tried.includes(userGroup.teamId),
    userGroup,
    token: isSealedHere ? token : openToken(context, userGroup).token,
  };
}

/** A group that is not there yet, with an id of its own and its token sealed. */
export async function newUserGroup(
  { store, keyRing, teamIds, clock }: Pick<Context, 'store' | 'keyRing' | 'teamIds' | 'clock'>,
  key: UserGroupKey,
  { name, mapping = null, properties = null }: UserGroupFields & { name: string },
  { token, tokenDigest }: { token: Secret; tokenDigest: TokenDigest },
): Promise<NewUserGroup> {
  const { id: teamId, lease } = await teamIds.next(store);
  const sealedToken = keyRing.seal(token, { ...key, teamId, tokenDigest });
  return { key, teamId, lease, name, mapping, properties, tokenDigest, sealedToken, now: clock() };
}

/** The sent fields that differ from the stored ones. */
export function driftOf(sent: UserGroupFields, stored: UserGroup): GetOrCreateResult['drift'] {
  const drift: GetOrCreateResult['drift'] = [];
  if (sent.name !== undefined && sent.name !== stored.name) drift.push('name');
  for (const field of ['mapping', 'properties'] as const) {
    const text = sent[field];
    if (text !== undefined && !sameJson(text, stored[field])) drift.push(field);
  }
  return drift;
}
