import type { Caller } from '../../domain/api-token.ts';
import { mergeFields } from '../../domain/json/merge-patch.ts';
import { isMet, type Precondition } from '../../domain/precondition.ts';
import { keyToString, valuesLength, versionTag } from '../../domain/user-group/user-group.ts';
import type { UserGroupFields } from '../../domain/user-group/user-group-body.ts';
import { type Context, type OpenUserGroup, openToken } from '../context.ts';
import { changedTooOften, MAX_ATTEMPTS, userGroupNotFound, versionMismatch } from '../refusals.ts';
import { writeUpdate } from './update.ts';
import { checkPolicies } from './violations.ts';

/**
 * Merges the patch into the current version of the group: concurrent changes are not lost. Throws
 * `user_group_not_found`, `version_mismatch` if the precondition is not met, and `invalid_request` if the result exceeds
 * a limit.
 */
export async function patchUserGroup(
  context: Context,
  caller: Caller,
  userGroupId: string,
  patch: UserGroupFields,
  precondition: Precondition | undefined,
): Promise<OpenUserGroup> {
  const { store, cpu, groupMutex } = context;
  const key = store.userGroupKey(caller, userGroupId);
  return groupMutex.runExclusive(keyToString(key), store, async () => {
    // Patches of one group are serialized in this process; updates, rotations and other processes can interfere.
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const stored = await store.read({ kind: 'findUserGroup', key });
      if (stored === null) throw userGroupNotFound();
      if (!isMet(precondition, stored)) throw versionMismatch();
      const { token } = openToken(context, stored);
      await cpu.turn(valuesLength(stored) + valuesLength(patch));
      const fields = mergeFields(stored, patch);
      await checkPolicies(context, caller, userGroupId, fields);
      const change = { ...fields, precondition: { ifMatch: [versionTag(stored)] } };
      const patched = await writeUpdate(context, caller, key, change);
      if (typeof patched === 'object') return { userGroup: patched, token };
      // The group was changed or deleted concurrently; the next read shows which.
    }
    throw changedTooOften();
  });
}
