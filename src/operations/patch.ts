import type { Caller } from '../domain/api-token.ts';
import type { UserGroupFields } from '../domain/body.ts';
import { mergeFields } from '../domain/merge-patch.ts';
import { keyOf, spell, type UserGroupKey, versionTag } from '../domain/user-group.ts';
import { Problem } from '../problem.ts';
import {
  type Context,
  type OpenUserGroup,
  openToken,
  userGroupNotFound,
  versionMismatch,
} from './context.ts';

/** Patches of one group take turns. An update, a rotation or another process may come between in each attempt. */
const MAX_ATTEMPTS = 100;

/**
 * Merges the patch into the group as it is stored at that moment: what others change meanwhile is not lost. With
 * `ifVersion` only where the stored version is one of them. Throws `user_group_not_found`, `version_mismatch`, and
 * `invalid_request` where the result exceeds a limit.
 */
export async function patchUserGroup(
  context: Context,
  caller: Caller,
  userGroupId: string,
  patch: UserGroupFields,
  ifVersion: readonly string[] | undefined,
): Promise<OpenUserGroup> {
  const key = keyOf(caller.workspaceId, caller.environment, userGroupId);
  return context.turns.take(spell(key), context.store, () => mergeInto(context, key, patch, ifVersion));
}

async function mergeInto(
  context: Context,
  key: UserGroupKey,
  patch: UserGroupFields,
  ifVersion: readonly string[] | undefined,
): Promise<OpenUserGroup> {
  const { store, clock } = context;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const stored = await store.read({ kind: 'findUserGroup', key });
    if (stored === null) throw userGroupNotFound();
    const version = versionTag(stored);
    if (ifVersion !== undefined && !ifVersion.includes(version)) throw versionMismatch();
    const fields = mergeFields(stored, patch);
    const patched = await store.write({
      kind: 'updateUserGroup',
      key,
      ...fields,
      ifVersion: [version],
      now: clock(),
    });
    if (typeof patched === 'object') return openToken(context, patched);
    // Another change came between; or the group was deleted, which the next read tells.
  }
  throw new Problem('overloaded', 'This user group is being changed too often. Try again shortly.', {
    retryAfterSeconds: 1,
  });
}
