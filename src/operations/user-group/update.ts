import type { Caller } from '../../domain/api-token.ts';
import type { Precondition } from '../../domain/precondition.ts';
import type { UserGroupBody } from '../../domain/request-body.ts';
import { type Context, type OpenUserGroup, openToken } from '../context.ts';
import { userGroupEvent } from '../event/event.ts';
import { userGroupNotFound, versionMismatch } from '../refusals.ts';
import { checkPolicies } from './violations.ts';

/**
 * Replaces each sent field as a whole; the others are unchanged. Throws `user_group_not_found`, and `version_mismatch`
 * if the precondition is not met.
 */
export async function updateUserGroup(
  context: Context,
  caller: Caller,
  body: UserGroupBody,
  precondition: Precondition | undefined,
): Promise<OpenUserGroup> {
  const { userGroupId, name, mapping, properties } = body;
  const check = checkPolicies(context, caller, userGroupId, body);
  if (check !== undefined) await check;
  const key = context.store.userGroupKey(caller, userGroupId);
  const userGroup = await context.store.write({
    kind: 'updateUserGroup',
    key,
    name,
    mapping,
    properties,
    precondition,
    now: context.clock(),
    event: await userGroupEvent(context, caller, 'updated', key),
  });
  if (userGroup === 'not_found') {
    throw userGroupNotFound(' GET /api/user with a name creates one.');
  }
  if (userGroup === 'version_mismatch') {
    throw versionMismatch();
  }
  return openToken(context, userGroup);
}
