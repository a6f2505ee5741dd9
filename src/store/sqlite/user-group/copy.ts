import { USER_GROUP } from '../../entities.ts';
import type { Command } from '../../port.ts';
import type { Connection } from '../file/connection.ts';
import { placeholders } from '../placeholders.ts';
import { addImportedToken } from './imported-token.ts';

const COPY = `insert into user_groups (${USER_GROUP.names})
  values (${placeholders(USER_GROUP)})
  on conflict (workspace_id, environment, provided_id) do nothing`;

export function copyUserGroups(connection: Connection, { userGroups }: Command<'copyUserGroups'>): null {
  for (const userGroup of userGroups) {
    const { bucket, tokenDigest, previousTokenDigest } = userGroup;
    connection.run(COPY, USER_GROUP.cells(userGroup));
    addImportedToken(connection, bucket, tokenDigest);
    addImportedToken(connection, bucket, previousTokenDigest);
  }
  return null;
}
