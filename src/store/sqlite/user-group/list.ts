// Pages of user groups (keyset pagination).

import { listedBytes, prefixUpperBound } from '../../../domain/user-group/cursor.ts';
import { TENANT, toUserGroupSummary, USER_GROUP, USER_GROUP_SUMMARY } from '../../entities.ts';
import type { UserGroupSearch } from '../../port.ts';
import type { Row } from '../../row-shape.ts';
import type { QueryExecutor } from '../executor.ts';
import type { Connection } from '../file/connection.ts';

const FROM_ID = `from user_groups
  where workspace_id = ? and environment = ? and provided_id >= ? and provided_id <= ?
  order by provided_id limit ?`;
const FROM_NAME = `from user_groups
  where workspace_id = ? and environment = ? and (name, provided_id) >= (?, ?) and name <= ?
  order by name, provided_id limit ?`;

export const listUserGroups: QueryExecutor<'listUserGroups'> = (connection, search) => {
  const read = (row: Row) => USER_GROUP.read(row);
  const [userGroups, isEnd] = readPage(connection, search, USER_GROUP.names, read, listedBytes);
  return { userGroups, isEnd };
};

export const listUserGroupSummaries: QueryExecutor<'listUserGroupSummaries'> = (connection, search) => {
  const mapping = search.withMappings ? 'mapping' : 'null';
  const properties = search.withProperties ? 'properties' : 'null';
  const columns = `${USER_GROUP_SUMMARY.names}, ${mapping}, ${properties}`;
  const [summaries, isEnd] = readPage(connection, search, columns, toUserGroupSummary, ({ bytes }) => bytes);
  return { summaries, isEnd };
};

/** Reads the columns of the groups of a list, up to the group at which they reach `maxBytes`. */
function readPage<Item>(
  connection: Connection,
  { list, from, limit, maxBytes }: UserGroupSearch,
  columns: string,
  read: (row: Row) => Item,
  measureBytes: (item: Item) => number,
): [items: Item[], isEnd: boolean] {
  const start = from.order === 'id' ? [from.providedId] : [from.name, from.providedId];
  const sql = `select ${columns} ${from.order === 'id' ? FROM_ID : FROM_NAME}`;
  const values = [...TENANT.cells(list), ...start, prefixUpperBound(list.search), limit];
  const items: Item[] = [];
  let bytes = 0;
  for (const row of connection.iterate(sql, values)) {
    const item = read(row);
    items.push(item);
    bytes += measureBytes(item);
    if (bytes >= maxBytes) return [items, false];
  }
  return [items, items.length < limit];
}
