// Pages of user groups (keyset pagination).

import { listedBytes, prefixUpperBound } from '../../../domain/user-group/cursor.ts';
import type { UserGroup } from '../../../domain/user-group/user-group.ts';
import { toUserGroup, USER_GROUP } from '../../entities.ts';
import type { UserGroupSearch } from '../../port.ts';
import type { Cell, Row } from '../../row-shape.ts';
import type { QueryExecutor } from '../executor.ts';
import type { Connection } from '../file/connection.ts';

const FROM_ID = `from user_groups
  where workspace_id = ? and environment = ? and provided_id >= ? and provided_id <= ?
  order by provided_id limit ?`;
const FROM_NAME = `from user_groups
  where workspace_id = ? and environment = ? and (name, provided_id) >= (?, ?) and name <= ?
  order by name, provided_id limit ?`;

export const listUserGroups: QueryExecutor<'listUserGroups'> = (connection, search) => {
  const userGroups: UserGroup[] = [];
  let bytes = 0;
  for (const row of searchRows(connection, search, USER_GROUP.names)) {
    const userGroup = toUserGroup(row)!;
    userGroups.push(userGroup);
    bytes += listedBytes(userGroup);
    if (bytes >= search.maxBytes) return { userGroups, isEnd: false };
  }
  return { userGroups, isEnd: userGroups.length < search.limit };
};

/** The columns of the groups of a list, read as they are iterated. */
export function searchRows(
  connection: Connection,
  { list, from, limit }: UserGroupSearch,
  columns: string,
): Iterable<Row> {
  const all: Cell[] = [list.workspaceId, list.environment];
  const last = prefixUpperBound(list.search);
  return from.order === 'id'
    ? connection.iterate(`select ${columns} ${FROM_ID}`, [...all, from.providedId, last, limit])
    : connection.iterate(`select ${columns} ${FROM_NAME}`, [...all, from.name, from.providedId, last, limit]);
}
