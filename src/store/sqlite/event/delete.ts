// Deletes old events, and the changes of events whose user group is deleted.

import type { UserGroupKey } from '../../../domain/user-group/user-group.ts';
import { TENANT } from '../../entities.ts';
import { IS_ERASABLE } from '../../event-erasure.ts';
import { AHEAD_EVENTS } from '../../port.ts';
import type { CommandExecutor } from '../executor.ts';
import type { Connection } from '../file/connection.ts';
import { HAS_TARGET, userGroupCells } from './target.ts';

const DELETE_OLD = `delete from events where position in (
    select position from events where workspace_id = ? and environment = ? order by position limit ?)
  and occurred_at < ?`;
const OLDEST = `select position, occurred_at from events where workspace_id = ?1 and environment = ?2
    order by position limit ${AHEAD_EVENTS}`;
const DELETE_OLD_AND_AHEAD = `delete from events where position in (
    select position from (${OLDEST}) where (occurred_at < ?3 or occurred_at > ?4)
      and position <= (select max(position) from (${OLDEST}) where occurred_at < ?3)
    order by position limit ?5)`;
/** A rename only links earlier events to its own: it is deleted when they are. */
const DELETE_RENAMES = `delete from user_group_renames where workspace_id = ? and environment = ? and position < (
    select coalesce(min(position), ${Number.MAX_SAFE_INTEGER}) from events where workspace_id = ? and environment = ?)`;
const NEXT_OF_TARGET = `from events where ${HAS_TARGET} and position > ? and position <= ?
  order by position limit ?`;
const FIND_ERASABLE = `select count(*), max(position) from (
    select position from (select position, ${IS_ERASABLE} as is_erasable ${NEXT_OF_TARGET})
    where is_erasable limit ?)`;
const FIND_LAST_SCANNED = `select max(position) from (select position ${NEXT_OF_TARGET})`;
const ERASE_LAST = `update events set changes = null where ${HAS_TARGET} and position > ? and ${IS_ERASABLE}`;
const ERASE = `update events set changes = null
  where ${HAS_TARGET} and position > ? and position <= ? and ${IS_ERASABLE}`;

export const deleteOldEvents: CommandExecutor<'deleteOldEvents'> = (
  connection,
  { tenant, before, limit, now },
) => {
  const deleted =
    now === undefined
      ? connection.run(DELETE_OLD, [...TENANT.cells(tenant), limit, before])
      : connection.run(DELETE_OLD_AND_AHEAD, [...TENANT.cells(tenant), before, now, limit]);
  connection.run(DELETE_RENAMES, [...TENANT.cells(tenant), ...TENANT.cells(tenant)]);
  return { deleted, hasMore: deleted === limit };
};

export const eraseChanges: CommandExecutor<'eraseChanges'> = (
  connection,
  { key, range, limit, scanLimit },
) => {
  const place = [...userGroupCells(key), range.after];
  const next = [...place, range.upTo, scanLimit];
  const [found, lastFound] = connection.get(FIND_ERASABLE, [...next, limit]) as [number, number];
  const [last] = found === limit ? [lastFound] : (connection.get(FIND_LAST_SCANNED, next) as [number | null]);
  if (found > 0) connection.run(ERASE, [...place, last]);
  return last;
};

/** Erases the changes of the events after a position. */
export function eraseLastChanges(connection: Connection, key: UserGroupKey, after: number): void {
  connection.run(ERASE_LAST, [...userGroupCells(key), after]);
}
