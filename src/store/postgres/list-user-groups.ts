// Lists of user groups. Their mappings and properties may be large, so the sizes are asked for first: PostgreSQL
// tells them without reading the texts.

import { lastWith } from '../../domain/cursor.ts';
import { toUserGroup, USER_GROUP_COLUMNS } from '../rows.ts';
import type { QueryResult, UserGroupSearch } from '../store.ts';
import type { Session, Statement } from './pool.ts';

const SIZE = 'coalesce(octet_length(mapping), 0) + coalesce(octet_length(properties), 0)';
const FROM_ID = `from user_groups
  where workspace_id = $1 and environment = $2 and provided_id <= $3 and provided_id >= $4
  order by provided_id limit $5`;
const FROM_NAME = `from user_groups
  where workspace_id = $1 and environment = $2 and name <= $3 and (name, provided_id) >= ($4, $5)
  order by name, provided_id limit $6`;

export const SIZES_FROM_ID: Statement = {
  name: 'size_user_groups_by_id',
  sql: `select ${SIZE} ${FROM_ID}`,
};
export const LIST_FROM_ID: Statement = {
  name: 'list_user_groups_by_id',
  sql: `select ${USER_GROUP_COLUMNS} ${FROM_ID}`,
};
export const SIZES_FROM_NAME: Statement = {
  name: 'size_user_groups_by_name',
  sql: `select ${SIZE} ${FROM_NAME}`,
};
export const LIST_FROM_NAME: Statement = {
  name: 'list_user_groups_by_name',
  sql: `select ${USER_GROUP_COLUMNS} ${FROM_NAME}`,
};

export async function searchUserGroups(
  session: Session,
  { list, from, limit, maxBytes }: UserGroupSearch,
): Promise<QueryResult<'searchUserGroups'>> {
  const all = [list.workspaceId, list.environment, lastWith(list.search)];
  const [sizes, groups, bounds] =
    from.order === 'id'
      ? [SIZES_FROM_ID, LIST_FROM_ID, [...all, from.providedId]]
      : [SIZES_FROM_NAME, LIST_FROM_NAME, [...all, from.name, from.providedId]];
  const fitting = countFitting(await session.query(sizes, [...bounds, limit]), maxBytes) ?? limit;
  const rows = await session.query(groups, [...bounds, fitting]);
  // Not by the sizes: groups may have come or gone since they were asked for.
  return { userGroups: rows.map((row) => toUserGroup(row)!), isEnd: rows.length < fitting };
}

/** How many groups it takes to come to `maxBytes`; null where all of them do not. */
function countFitting(sizes: readonly unknown[][], maxBytes: number): number | null {
  let bytes = 0;
  const last = sizes.findIndex(([size]) => {
    bytes += size as number;
    return bytes >= maxBytes;
  });
  return last === -1 ? null : last + 1;
}
