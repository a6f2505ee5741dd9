// Finds groups that may have a text in their id or name, in the index of names, which has both: faster than
// reading the groups.

import { LAST_NAME } from '../../../domain/user-group/cursor.ts';
import { TENANT, toUserGroupSummary, USER_GROUP, USER_GROUP_SUMMARY } from '../../entities.ts';
import type { NamePosition } from '../../port.ts';
import { statement } from '../../statement.ts';
import type { QueryExecutor } from '../executor.ts';
import { numberedRows, toArrays } from '../sent-rows.ts';

const TENANT_GROUPS = 'from user_groups where workspace_id = $1 and environment = $2';
const RANGE = `${TENANT_GROUPS} and (name, provided_id) >= ($3, $4)`;
const UP_TO = 'and (name, provided_id) <= ($5, $6)';
export const FIND_END = statement('find_end_of_user_group_search')`
  select name, provided_id ${RANGE} order by name, provided_id limit 1 offset $5`;
export const COUNT = statement('count_searched_user_groups')`select count(*) ${RANGE} ${UP_TO}`;
/**
 * Reads only columns of the index, so that PostgreSQL needs no table rows. Both have the collation "C", so
 * `lower` changes ASCII characters only.
 */
export const SEARCH = statement('search_user_groups')`
  select name, provided_id ${RANGE} ${UP_TO}
  and (strpos(lower(provided_id), $7) > 0 or strpos(lower(name), $7) > 0
    or octet_length(provided_id) <> length(provided_id) or octet_length(name) <> length(name))
  order by name, provided_id limit $8`;
const PLACE = USER_GROUP.pick('workspaceId', 'environment', 'name', 'providedId');
// Joined with whole places: in an environment that is larger than most, PostgreSQL would read all groups to find some by
// their id. A group that has been deleted since, or has another name, and so another place in the list, is not found.
export const SUMMARIZE = statement('summarize_found_user_groups')`
  select ${USER_GROUP_SUMMARY.names}, null, null
  from user_groups join ${numberedRows(PLACE)} using (${PLACE.names})
  order by sent.ordinal`;

export const searchUserGroups: QueryExecutor<'searchUserGroups'> = async (
  session,
  { tenant, from, text, scanLimit, limit },
) => {
  const start = [...TENANT.cells(tenant), from.name, from.providedId];
  const [row] = await session.query(FIND_END, [...start, scanLimit - 1]);
  const end = row === undefined ? null : placeIn(row);
  const found = await session.query(SEARCH, [...start, ...bound(end), text, limit]);
  const places = found.map(placeIn);
  const sent = places.map((place) => ({ ...tenant, ...place }));
  const rows = sent.length === 0 ? [] : await session.query(SUMMARIZE, toArrays(PLACE, sent));
  const summaries = rows.map(toUserGroupSummary);
  const last = places.length < limit ? end : places.at(-1)!;
  if (last !== null && last === end) return { summaries, scanned: scanLimit, last };
  const [count] = await session.query(COUNT, [...start, ...bound(last)]);
  return { summaries, scanned: count![0] as number, last };
};

function placeIn([name, providedId]: readonly unknown[]): NamePosition {
  return { name: name as string, providedId: providedId as string };
}

function bound(position: NamePosition | null): [name: string, providedId: string] {
  return [position?.name ?? LAST_NAME, position?.providedId ?? ''];
}
