// Updates user groups with one statement, which touches only rows that change. The groups are read in the same round
// trip, for the events of those that changed and to explain the others.

import { userGroupChanges } from '../../../domain/event/changes.ts';
import { isMet } from '../../../domain/precondition.ts';
import { clearableFields, keyToString, type UserGroup } from '../../../domain/user-group/user-group.ts';
import { USER_GROUP, USER_GROUP_KEY } from '../../entities.ts';
import type { CommandResult, UserGroupUpdate } from '../../port.ts';
import { RowShape, text } from '../../row-shape.ts';
import { statement } from '../../statement.ts';
import { isUnchanged } from '../../user-group-update.ts';
import type { Session } from '../client/session.ts';
import type { Transaction } from '../executor.ts';
import { MEETS_PRECONDITION, PRECONDITION } from '../precondition.ts';
import { isSent, optional, sentRows, toArrays } from '../sent-rows.ts';
import { applyOrConflict, findByKey } from './user-group.ts';

const { mapping, properties, suspendedAt, updatedAt } = USER_GROUP.fields;
const SENT = new RowShape<Omit<UserGroupUpdate, 'event'>>({
  key: USER_GROUP_KEY,
  name: text('name'),
  mapping: optional('sets_mapping', mapping),
  properties: optional('sets_properties', properties),
  suspendedAt: optional('sets_suspended', suspendedAt),
  precondition: PRECONDITION,
  now: updatedAt,
});

const SET_FIELDS = clearableFields
  .map((field) => `${field} = case when sent.sets_${field} then sent.${field} else stored.${field} end,`)
  .join('\n    ');
const OR_DIFFERS = clearableFields
  .map((field) => `or sent.sets_${field} and stored.${field} is distinct from sent.${field}`)
  .join('\n      ');

// A stored name is never null, so null means "not sent".
export const UPDATE = statement('update_user_groups')`
  update user_groups as stored set
    name = coalesce(sent.name, stored.name),
    ${SET_FIELDS}
    suspended_at = case when sent.sets_suspended then
        case when sent.suspended_at is null then null else coalesce(stored.suspended_at, sent.suspended_at) end
      else stored.suspended_at end,
    version = stored.version + 1,
    updated_at = sent.updated_at
  from ${sentRows(SENT)}
  where ${isSent(USER_GROUP_KEY)}
    and ${MEETS_PRECONDITION}
    and (stored.name <> sent.name
      ${OR_DIFFERS}
      or sent.sets_suspended and (stored.suspended_at is null) <> (sent.suspended_at is null))
  returning ${USER_GROUP.namesIn('stored')}`;

type Result = CommandResult<'updateUserGroup'>;

/**
 * Keys must be distinct. `transaction.locked` has the groups that this transaction has changed, by key: if many updates
 * have the same If-Match, the first one decides the others without a query.
 */
export async function updateUserGroups(
  session: Session,
  commands: readonly UserGroupUpdate[],
  transaction: Transaction,
): Promise<Result[]> {
  const results = new Map<string, Result>();
  for (const command of commands) {
    const group = transaction.locked.get(keyToString(command.key));
    const result = group && reasonNotUpdated(command, group);
    if (result) results.set(keyToString(command.key), result);
  }
  const unsettled = commands.filter(({ key }) => !results.has(keyToString(key)));
  await applyOrConflict(unsettled, (rest) => update(session, rest, results, transaction));
  return commands.map(({ key }) => results.get(keyToString(key))!);
}

/**
 * Returns the commands whose group changed between the two statements: their events would lack what the
 * change replaced. The next attempt locks them first.
 */
async function update(
  session: Session,
  commands: readonly UserGroupUpdate[],
  results: Map<string, Result>,
  { locked, recordings }: Transaction,
): Promise<UserGroupUpdate[]> {
  const [before, rows] = await session.pipelined(() => [
    findByKey(session, commands),
    session.query(UPDATE, toArrays(SENT, commands)),
  ]);
  const updated = new Map(USER_GROUP.readAll(rows).map((group) => [keyToString(group), group]));
  return commands.filter((command, index) => {
    const key = keyToString(command.key);
    const [old, group] = [before[index]!, updated.get(key)];
    const result = group ?? reasonNotUpdated(command, old);
    if (result === null || (group !== undefined && !isNextVersion(old, group))) return true;
    results.set(key, result);
    if (group === undefined) return false;
    locked.set(key, group);
    const { event } = command;
    if (event) recordings.push({ event, version: group.version, changes: userGroupChanges(old, group) });
    return false;
  });
}

/** Whether no other change came between the two. A group that was created again has another `teamId`. */
function isNextVersion(before: UserGroup | null, after: UserGroup): boolean {
  return before?.teamId === after.teamId && before.version + 1 === after.version;
}

/** Returns why the group was not updated; null if the stored group does not explain it. */
function reasonNotUpdated(command: UserGroupUpdate, stored: UserGroup | null): Result | null {
  if (stored === null) return 'not_found';
  if (!isMet(command.precondition, stored)) return 'version_mismatch';
  return isUnchanged(command, stored) ? stored : null;
}
