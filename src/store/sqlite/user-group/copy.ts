import type { Command } from '../../port.ts';
import { fromUserGroup, USER_GROUP_COLUMNS } from '../../row-mapping.ts';
import type { Connection } from '../file/connection.ts';
import { addImportedToken } from './imported-token.ts';

const COPY = `insert into user_groups (${USER_GROUP_COLUMNS})
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (workspace_id, environment, provided_id) do nothing`;

export function copyUserGroups(connection: Connection, { userGroups }: Command<'copyUserGroups'>): null {
  for (const userGroup of userGroups) {
    const { bucket, tokenDigest, previousTokenDigest } = userGroup;
    connection.run(COPY, fromUserGroup(userGroup));
    addImportedToken(connection, bucket, tokenDigest);
    addImportedToken(connection, bucket, previousTokenDigest);
  }
  return null;
}
