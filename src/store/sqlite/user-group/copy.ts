import { USER_GROUP } from '../../entities.ts';
import type { CommandExecutor } from '../executor.ts';
import { CREATE } from './create.ts';
import { addImportedToken } from './imported-token.ts';

export const copyUserGroups: CommandExecutor<'copyUserGroups'> = (connection, { userGroups }) => {
  for (const userGroup of userGroups) {
    const { bucket, tokenDigest, previousTokenDigest } = userGroup;
    connection.run(CREATE, USER_GROUP.cells(userGroup));
    addImportedToken(connection, bucket, tokenDigest);
    addImportedToken(connection, bucket, previousTokenDigest);
  }
};
