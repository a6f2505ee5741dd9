import { isMet } from '../../domain/precondition.ts';
import type { UserGroup } from '../../domain/user-group.ts';
import type { CommandResult, UserGroupUpdate } from '../port.ts';
import { toUserGroup, USER_GROUP_COLUMNS } from '../row-mapping.ts';
import type { Connection } from './connection.ts';
import { findByKey, partsOf } from './user-group.ts';

const UPDATE = `update user_groups set name = ?, mapping = ?, properties = ?, version = version + 1, updated_at = ?
  where bucket = ? and workspace_id = ? and environment = ? and provided_id = ?
  returning ${USER_GROUP_COLUMNS}`;

export function updateUserGroup(
  connection: Connection,
  command: UserGroupUpdate,
): CommandResult<'updateUserGroup'> {
  const { key, precondition, now } = command;
  const stored = findByKey(connection, key);
  if (stored === null) return 'not_found';
  if (!isMet(precondition, stored)) return 'version_mismatch';
  const { name, mapping, properties } = { ...stored, ...fieldsOf(command) };
  if (name === stored.name && mapping === stored.mapping && properties === stored.properties) return stored;
  return toUserGroup(connection.get(UPDATE, [name, mapping, properties, now, ...partsOf(key)]))!;
}

function fieldsOf({ name, mapping, properties }: UserGroupUpdate): Partial<UserGroup> {
  return {
    ...(name !== undefined && { name }),
    ...(mapping !== undefined && { mapping }),
    ...(properties !== undefined && { properties }),
  };
}
