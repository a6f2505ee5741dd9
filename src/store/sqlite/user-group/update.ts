import { userGroupChanges } from '../../../domain/event/changes.ts';
import { isMet } from '../../../domain/precondition.ts';
import { clearableFields } from '../../../domain/user-group/user-group.ts';
import { USER_GROUP, USER_GROUP_KEY } from '../../entities.ts';
import { fieldsAfter, isUnchanged, suspensionAfter } from '../../user-group-update.ts';
import { record } from '../event/record.ts';
import type { CommandExecutor } from '../executor.ts';
import { findByKey, HAS_KEY } from './user-group.ts';

const CHANGED = USER_GROUP.pick(...clearableFields, 'suspendedAt', 'version', 'updatedAt');
const SET = CHANGED.columns.map(({ name }) => `${name} = ?`).join(', ');
const UPDATE = `update user_groups set ${SET} where ${HAS_KEY}`;
// Sets the name only if it changes: SQLite would write its index in any case, half as many pages again.
const UPDATE_WITH_NAME = `update user_groups set name = ?, ${SET} where ${HAS_KEY}`;

export const updateUserGroup: CommandExecutor<'updateUserGroup'> = (connection, command) => {
  const { key, precondition, now } = command;
  const stored = findByKey(connection, key);
  if (stored === null) return 'not_found';
  if (!isMet(precondition, stored)) return 'version_mismatch';
  if (isUnchanged(command, stored)) return stored;
  // Not `returning`, which would copy the row to a temporary table.
  const updated = {
    ...stored,
    ...fieldsAfter(command, stored),
    suspendedAt: suspensionAfter(command, stored),
    version: stored.version + 1,
    updatedAt: now,
  };
  const cells = [...CHANGED.cells(updated), ...USER_GROUP_KEY.cells(key)];
  if (updated.name === stored.name) connection.run(UPDATE, cells);
  else connection.run(UPDATE_WITH_NAME, [updated.name, ...cells]);
  record(connection, command.event, updated.version, () => userGroupChanges(stored, updated));
  return updated;
};
