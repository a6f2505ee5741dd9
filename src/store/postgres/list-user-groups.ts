// Pages of user groups (keyset pagination). Mappings and properties may be large, so the sizes are queried first, which
// PostgreSQL knows without reading the texts.

import { prefixUpperBound } from '../../domain/cursor.ts';
import type { QueryResult, UserGroupSearch } from '../port.ts';
import { toUserGroup, USER_GROUP_COLUMNS } from '../row-mapping.ts';
import type { Session, Statement } from './client/pool.ts';

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

export async function listUserGroups(
  session: Session,
  { list, from, limit, maxBytes }: UserGroupSearch,
): Promise<QueryResult<'listUserGroups'>> {
  const all = [list.workspaceId, list.environment, prefixUpperBound(list.search)];
  const [sizes, groups, bounds] =
    from.order === 'id'
      ? [SIZES_FROM_ID, LIST_FROM_ID, [...all, from.providedId]]
      : [SIZES_FROM_NAME, LIST_FROM_NAME, [...all, from.name, from.providedId]];
  const fitting = countFitting(await session.query(sizes, [...bounds, limit]), maxBytes) ?? limit;
  const rows = await session.query(groups, [...bounds, fitting]);
  // Not judged by the sizes: groups may have been created or deleted since.
  return { userGroups: rows.map((row) => toUserGroup(row)!), isEnd: rows.length < fitting };
}

/** How many groups it takes to reach `maxBytes`; null if all together do not. */
function countFitting(sizes: readonly unknown[][], maxBytes: number): number | null {
  let bytes = 0;
  const last = sizes.findIndex(([size]) => {
    bytes += size as number;
    return bytes >= maxBytes;
  });
  return last === -1 ? null : last + 1;
}
