import { isMet } from '../../domain/precondition.ts';
import type { CommandResult, UserGroupDeletion } from '../port.ts';
import type { Connection } from './connection.ts';
import { eraseChanges, record } from './event.ts';
import { forgetImportedToken } from './imported-token.ts';
import { findByKey, partsOf } from './user-group.ts';

const DELETE = `delete from user_groups
  where bucket = ? and workspace_id = ? and environment = ? and provided_id = ?`;

/** SQLite's notation for no limit. */
const ALL = -1;

export function deleteUserGroup(
  connection: Connection,
  { key, precondition, event }: UserGroupDeletion,
): CommandResult<'deleteUserGroup'> {
  const stored = findByKey(connection, key);
  if (stored === null) return 'not_found';
  if (!isMet(precondition, stored)) return 'version_mismatch';
  connection.run(DELETE, partsOf(key));
  forgetImportedToken(connection, stored.tokenDigest);
  forgetImportedToken(connection, stored.previousTokenDigest);
  const target = { type: 'user_group', id: key.providedId } as const;
  eraseChanges(connection, { ...key, target, after: 0, limit: ALL });
  record(connection, event, null);
  return 'deleted';
}
