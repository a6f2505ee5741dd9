// Pages of user groups (keyset pagination). Mappings and properties may be large, so the sizes are queried first, which
// PostgreSQL knows without reading the texts.

import { prefixUpperBound } from '../../../domain/user-group/cursor.ts';
import {
  TENANT,
  toUserGroupSummary,
  USER_GROUP,
  USER_GROUP_BYTES,
  USER_GROUP_SUMMARY,
} from '../../entities.ts';
import type { UserGroupSearch } from '../../port.ts';
import { statement } from '../../statement.ts';
import type { Session } from '../client/session.ts';
import type { QueryExecutor } from '../executor.ts';

const FROM_ID = `from user_groups
  where workspace_id = $1 and environment = $2 and provided_id <= $3 and provided_id >= $4
  order by provided_id limit $5`;
const FROM_NAME = `from user_groups
  where workspace_id = $1 and environment = $2 and name <= $3 and (name, provided_id) >= ($4, $5)
  order by name, provided_id limit $6`;

export const SIZES_FROM_ID = statement('size_user_groups_by_id')`select ${USER_GROUP_BYTES} ${FROM_ID}`;
export const LIST_FROM_ID = statement('list_user_groups_by_id')`select ${USER_GROUP.names} ${FROM_ID}`;
export const SIZES_FROM_NAME = statement('size_user_groups_by_name')`select ${USER_GROUP_BYTES} ${FROM_NAME}`;
export const LIST_FROM_NAME = statement('list_user_groups_by_name')`select ${USER_GROUP.names} ${FROM_NAME}`;

export const SUMMARIZE_FROM_ID = statement('summarize_user_groups_by_id')`
  select ${USER_GROUP_SUMMARY.names}, case when $6 then mapping end, case when $7 then properties end ${FROM_ID}`;
export const SUMMARIZE_FROM_NAME = statement('summarize_user_groups_by_name')`
  select ${USER_GROUP_SUMMARY.names}, case when $7 then mapping end, case when $8 then properties end ${FROM_NAME}`;

export const listUserGroups: QueryExecutor<'listUserGroups'> = async (session, search) => {
  const groups = search.from.order === 'id' ? LIST_FROM_ID : LIST_FROM_NAME;
  const fitting = await countFitting(session, search);
  const rows = await session.query(groups, [...searchBounds(search), fitting]);
  // Not derived from the sizes: groups may have been created or deleted since.
  return { userGroups: USER_GROUP.readAll(rows), isEnd: rows.length < fitting };
};

export const listUserGroupSummaries: QueryExecutor<'listUserGroupSummaries'> = async (session, search) => {
  const statement = search.from.order === 'id' ? SUMMARIZE_FROM_ID : SUMMARIZE_FROM_NAME;
  const { withMappings, withProperties } = search;
  const limit = withMappings || withProperties ? await countFitting(session, search) : search.limit;
  const rows = await session.query(statement, [...searchBounds(search), limit, withMappings, withProperties]);
  return { summaries: rows.map(toUserGroupSummary), isEnd: rows.length < limit };
};

/** Returns the parameters of a list, without the limit. */
function searchBounds({ list, from }: UserGroupSearch): unknown[] {
  const all = [...TENANT.cells(list), prefixUpperBound(list.search)];
  return from.order === 'id' ? [...all, from.providedId] : [...all, from.name, from.providedId];
}

/** Counts the groups that it takes to reach `maxBytes`; returns the limit if that many do not. */
async function countFitting(session: Session, search: UserGroupSearch): Promise<number> {
  const statement = search.from.order === 'id' ? SIZES_FROM_ID : SIZES_FROM_NAME;
  const sizes = await session.query(statement, [...searchBounds(search), search.limit]);
  let bytes = 0;
  const last = sizes.findIndex(([size]) => {
    bytes += size as number;
    return bytes >= search.maxBytes;
  });
  return last === -1 ? search.limit : last + 1;
}
