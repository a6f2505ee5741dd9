// Pages of user groups (keyset pagination).

import { listedBytesOf, prefixUpperBound } from '../../domain/cursor.ts';
import type { UserGroup } from '../../domain/user-group.ts';
import type { QueryResult, UserGroupSearch } from '../port.ts';
import { toUserGroup, USER_GROUP_COLUMNS } from '../row-mapping.ts';
import type { Connection } from './connection.ts';

const FROM_ID = `select ${USER_GROUP_COLUMNS} from user_groups
  where workspace_id = ? and environment = ? and provided_id >= ? and provided_id <= ?
  order by provided_id limit ?`;
const FROM_NAME = `select ${USER_GROUP_COLUMNS} from user_groups
  where workspace_id = ? and environment = ? and (name, provided_id) >= (?, ?) and name <= ?
  order by name, provided_id limit ?`;

export function listUserGroups(
  connection: Connection,
  { list, from, limit, maxBytes }: UserGroupSearch,
): QueryResult<'listUserGroups'> {
  const { workspaceId, environment, search } = list;
  const last = prefixUpperBound(search);
  const rows =
    from.order === 'id'
      ? connection.iterate(FROM_ID, [workspaceId, environment, from.providedId, last, limit])
      : connection.iterate(FROM_NAME, [workspaceId, environment, from.name, from.providedId, last, limit]);
  const userGroups: UserGroup[] = [];
  let bytes = 0;
  for (const row of rows) {
    const userGroup = toUserGroup(row)!;
    userGroups.push(userGroup);
    bytes += listedBytesOf(userGroup);
    if (bytes >= maxBytes) return { userGroups, isEnd: false };
  }
  return { userGroups, isEnd: userGroups.length < limit };
}
