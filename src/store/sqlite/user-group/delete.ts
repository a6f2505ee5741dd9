import { isMet } from '../../../domain/precondition.ts';
import { USER_GROUP_KEY } from '../../entities.ts';
import { eraseLastChanges } from '../event/delete.ts';
import { record } from '../event/record.ts';
import type { CommandExecutor } from '../executor.ts';
import { forgetImportedToken } from './imported-token.ts';
import { findByKey, HAS_KEY } from './user-group.ts';

export const DELETE = `delete from user_groups where ${HAS_KEY}`;

export const deleteUserGroup: CommandExecutor<'deleteUserGroup'> = (
  connection,
  { key, precondition, event, eraseAfter, expected },
) => {
  const stored = findByKey(connection, key);
  if (stored === null) return 'not_found';
  if (!isMet(precondition, stored)) return 'version_mismatch';
  if (stored.sealedToken.ciphertext !== expected.ciphertext) return 'stale';
  connection.run(DELETE, USER_GROUP_KEY.cells(key));
  forgetImportedToken(connection, stored.tokenDigest);
  forgetImportedToken(connection, stored.previousTokenDigest);
  eraseLastChanges(connection, key, eraseAfter);
  record(connection, event, null);
  return 'deleted';
};
