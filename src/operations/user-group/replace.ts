import type { Caller } from '../../domain/api-token.ts';
import { isMet, type Precondition } from '../../domain/precondition.ts';
import type { SettableFields } from '../../domain/user-group/user-group.ts';
import type { UserGroupFields } from '../../domain/user-group/user-group-body.ts';
import { type Context, type OpenUserGroup, openToken } from '../context.ts';
import { changedTooOften, MAX_ATTEMPTS, overloaded, versionMismatch } from '../refusals.ts';
import { createUserGroup } from './get-or-create.ts';
import { writeUpdate } from './update.ts';
import { checkPolicies } from './violations.ts';

/**
 * Replaces all fields of the group, or creates it; an existing group keeps its token. Throws
 * `version_mismatch` if the precondition is not met.
 */
export async function replaceUserGroup(
  context: Context,
  caller: Caller,
  userGroupId: string,
  { name, mapping = null, properties = null }: UserGroupFields & { name: string },
  precondition: Precondition | undefined,
): Promise<OpenUserGroup & { created: boolean }> {
  const key = context.store.userGroupKey(caller, userGroupId);
  const fields: SettableFields = { name, mapping, properties };
  await checkPolicies(context, caller, userGroupId, fields);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const updated = await writeUpdate(context, caller, key, { ...fields, precondition });
    if (typeof updated === 'object') return { ...openToken(context, updated), created: false };
    if (updated === 'version_mismatch' || !isMet(precondition, null)) throw versionMismatch();
    if (!context.store.admitsWrite()) throw overloaded;
    const group = await createUserGroup(context, caller, key, fields);
    if (group.created) return group;
    // A concurrent call created the group, so update it.
  }
  throw changedTooOften();
}
