import { userGroupChanges } from '../../../domain/event/changes.ts';
import { isMet } from '../../../domain/precondition.ts';
import { USER_GROUP_KEY } from '../../entities.ts';
import { isUnchanged, suspensionAfter } from '../../user-group-update.ts';
import { record } from '../event/record.ts';
import type { CommandExecutor } from '../executor.ts';
import { findByKey, HAS_KEY } from './user-group.ts';

const SET = 'mapping = ?, properties = ?, suspended_at = ?, version = version + 1, updated_at = ?';
const UPDATE = `update user_groups set ${SET} where ${HAS_KEY}`;
// Sets the name only if it changes: SQLite would write its index in any case, half as many pages again.
const UPDATE_WITH_NAME = `update user_groups set name = ?, ${SET} where ${HAS_KEY}`;

export const updateUserGroup: CommandExecutor<'updateUserGroup'> = (connection, command) => {
  const { key, precondition, now } = command;
  const stored = findByKey(connection, key);
  if (stored === null) return 'not_found';
  if (!isMet(precondition, stored)) return 'version_mismatch';
  if (isUnchanged(command, stored)) return stored;
  const { name = stored.name, mapping = stored.mapping, properties = stored.properties } = command;
  const suspendedAt = suspensionAfter(command, stored);
  const cells = [mapping, properties, suspendedAt, now, ...USER_GROUP_KEY.cells(key)];
  if (name === stored.name) connection.run(UPDATE, cells);
  else connection.run(UPDATE_WITH_NAME, [name, ...cells]);
  // Not `returning`, which would copy the row to a temporary table.
  const version = stored.version + 1;
  const updated = { ...stored, name, mapping, properties, suspendedAt, version, updatedAt: now };
  record(connection, command.event, updated.version, () => userGroupChanges(stored, updated));
  return updated;
};
