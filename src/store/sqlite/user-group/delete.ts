import { isMet } from '../../../domain/precondition.ts';
import { USER_GROUP_KEY } from '../../entities.ts';
import { IS_ERASABLE } from '../../event-deletion.ts';
import { HAS_TARGET, userGroupCells } from '../../event-target.ts';
import { record } from '../event/record.ts';
import type { CommandExecutor } from '../executor.ts';
import { forgetImportedToken } from './imported-token.ts';
import { findByKey, HAS_KEY } from './user-group.ts';

export const DELETE = `delete from user_groups where ${HAS_KEY}`;
const ERASE = `update events set changes = null where ${HAS_TARGET} and position > $6 and ${IS_ERASABLE}`;

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
  connection.run(ERASE, [...userGroupCells(key), eraseAfter]);
  record(connection, event, null);
  return 'deleted';
};
