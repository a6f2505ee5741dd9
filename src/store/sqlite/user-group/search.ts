// Finds groups that may have a text in their id or name, in the index of names, which has both: ten times
// faster than reading the groups.

import { LAST_NAME } from '../../../domain/user-group/cursor.ts';
import { toUserGroupSummary, USER_GROUP_SUMMARY } from '../../entities.ts';
import type { NamePosition } from '../../port.ts';
import type { Cell } from '../../row-shape.ts';
import type { QueryExecutor } from '../executor.ts';

const RANGE = 'from user_groups where workspace_id = ? and environment = ? and (name, provided_id) >= (?, ?)';
const UP_TO = 'and (name, provided_id) <= (?, ?)';
const FIND_END = `select name, provided_id ${RANGE} order by name, provided_id limit 1 offset ?`;
const COUNT = `select count(*) ${RANGE} ${UP_TO}`;
/** SQLite evaluates the conditions on the row of the index, and reads a group only if it meets them. */
const SEARCH = `select ${USER_GROUP_SUMMARY.names}, null, null ${RANGE} ${UP_TO}
  and (instr(lower(provided_id), ?) > 0 or instr(lower(name), ?) > 0
    or octet_length(provided_id) <> length(provided_id) or octet_length(name) <> length(name))
  order by name, provided_id limit ?`;

export const searchUserGroups: QueryExecutor<'searchUserGroups'> = (
  connection,
  { tenant, from, text, scanLimit, limit },
) => {
  const start: Cell[] = [tenant.workspaceId, tenant.environment, from.name, from.providedId];
  const row = connection.get(FIND_END, [...start, scanLimit - 1]);
  const end = row === undefined ? null : { name: row[0] as string, providedId: row[1] as string };
  const upTo = (position: NamePosition | null): Cell[] => [
    position?.name ?? LAST_NAME,
    position?.providedId ?? '',
  ];
  const rows = connection.all(SEARCH, [...start, ...upTo(end), text, text, limit]);
  const summaries = rows.map(toUserGroupSummary);
  const last = rows.length < limit ? end : summaries.at(-1)!;
  if (last !== null && last === end) return { summaries, scanned: scanLimit, last };
  const [scanned] = connection.get(COUNT, [...start, ...upTo(last)])!;
  return { summaries, scanned: scanned as number, last };
};
