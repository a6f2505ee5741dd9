import type { Caller } from '../domain/api-token.ts';
import type { UserGroupBody } from '../domain/body.ts';
import { sameJson } from '../domain/strict-json.ts';
import { digestOf, mintUserGroupToken } from '../domain/token.ts';
import { keyOf, type UserGroup, type UserGroupKey } from '../domain/user-group.ts';
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
  const { created, userGroup } =
    stored === null ? await create(context, caller, key, body) : { created: false, userGroup: stored };
  return { created, drift: created ? [] : driftOf(body, userGroup), ...openToken(context, userGroup) };
}

async function create(
  { store, keyRing, teamIds, clock }: Context,
  caller: Caller,
  key: UserGroupKey,
  { name, mapping = null, properties = null }: UserGroupBody,
): Promise<{ created: boolean; userGroup: UserGroup }> {
  if (name === undefined) {
    throw userGroupNotFound(' Send a name with it to create one.');
  }
  permit(caller, ['read-write'], 'create a user group');
  const teamId = await teamIds.next();
  const token = mintUserGroupToken(key.bucket);
  const tokenDigest = digestOf(token.reveal());
  return store.write({
    kind: 'createUserGroup',
    key,
    teamId,
    name,
    mapping,
    properties,
    tokenDigest,
    sealedToken: keyRing.seal(token, { ...key, teamId, tokenDigest }),
    now: clock(),
  });
}

function driftOf(sent: UserGroupBody, stored: UserGroup): GetOrCreateResult['drift'] {
  const drift: GetOrCreateResult['drift'] = [];
  if (sent.name !== undefined && sent.name !== stored.name) drift.push('name');
  for (const field of ['mapping', 'properties'] as const) {
    const text = sent[field];
    if (text !== undefined && !sameJson(text, stored[field])) drift.push(field);
  }
  return drift;
}
