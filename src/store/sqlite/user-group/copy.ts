import { USER_GROUP } from '../../entities.ts';
import type { Command } from '../../port.ts';
import type { Connection } from '../file/connection.ts';
import { CREATE } from './create.ts';
import { addImportedToken } from './imported-token.ts';

export function copyUserGroups(connection: Connection, { userGroups }: Command<'copyUserGroups'>): null {
  for (const userGroup of userGroups) {
    const { bucket, tokenDigest, previousTokenDigest } = userGroup;
    connection.run(CREATE, USER_GROUP.cells(userGroup));
    addImportedToken(connection, bucket, tokenDigest);
    addImportedToken(connection, bucket, previousTokenDigest);
  }
  return null;
}
