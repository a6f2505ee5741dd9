import type { Command } from '../../port.ts';
import { fromUserGroup, USER_GROUP_COLUMNS } from '../../row-mapping.ts';
import type { Session, Statement } from '../client/pool.ts';
import { addImportedTokens, importedTokensOf } from './imported-token.ts';

export const COPY: Statement = {
  name: 'copy_user_groups',
  sql: `insert into user_groups (${USER_GROUP_COLUMNS})
    select ${USER_GROUP_COLUMNS}
    from unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[],
        $8::text[], $9::bigint[], $10::text[], $11::text[], $12::text[], $13::text[], $14::bigint[], $15::bigint[],
        $16::bigint[], $17::bigint[], $18::bigint[])
      as sent (${USER_GROUP_COLUMNS})
    on conflict (bucket, workspace_id, environment, provided_id) do nothing`,
};

export async function copyUserGroups(
  session: Session,
  { userGroups }: Command<'copyUserGroups'>,
): Promise<null> {
  const rows = userGroups.map(fromUserGroup);
  const columns = USER_GROUP_COLUMNS.split(', ').map((_, column) => rows.map((row) => row[column]));
  await session.query(COPY, columns);
  await addImportedTokens(session, userGroups.flatMap(importedTokensOf));
  return null;
}
