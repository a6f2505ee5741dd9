import type { ImportedUserGroup } from '../../port.ts';
import type { CommandExecutor } from '../executor.ts';
import type { Connection } from '../file/connection.ts';
import { workspaceExists } from '../steps.ts';
import { createUserGroup } from './create.ts';
import { addImportedToken, findImportedToken } from './imported-token.ts';
import { findByKey, findByToken } from './user-group.ts';

export const importUserGroup: CommandExecutor<'importUserGroup'> = (connection, command) => {
  const { key, tokenDigest } = command;
  const stored = findByKey(connection, key);
  if (stored !== null) return { created: false, userGroup: stored };
  if (!connection.read(workspaceExists(key.workspaceId))) return 'workspace_not_found';
  if (isTaken(connection, command)) return 'token_taken';
  addImportedToken(connection, key.bucket, tokenDigest);
  return createUserGroup(connection, command);
};

function isTaken(connection: Connection, { claim, issued }: ImportedUserGroup): boolean {
  if (claim !== null && findImportedToken(connection, claim) !== null) return true;
  return issued !== null && findByToken(connection, { address: issued, tenant: null }) !== null;
}
