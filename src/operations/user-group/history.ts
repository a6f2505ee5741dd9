// Locates the events of a user group. Each event stays under the id that the group had then, and renames
// connect these parts.

import type { PositionRange } from '../../domain/event/event.ts';
import type { Tenant } from '../../domain/tenant.ts';
import type { Rename } from '../../domain/user-group/rename.ts';
import { userGroupKey } from '../../domain/user-group/user-group.ts';
import type { BatchingStore } from '../../store/batching-store.ts';

/** Maximum number of parts that a request reads, and maximum number that it skips to find its first one. */
export const MAX_PARTS = 50;

/** End of a part of a history: its events have this id and positions before `before`. */
export interface PartEnd {
  id: string;
  before: number;
}

/** Events of one id in a range of positions. */
export interface HistoryPart {
  id: string;
  range: PositionRange;
  /** End at which a walk continues with this part. */
  end: PartEnd;
  /**
   * Whether the part is the rename with which an earlier group left the id, and with which the history ends.
   */
  isDeparture: boolean;
}

export function newestEnd(id: string): PartEnd {
  return { id, before: Number.MAX_SAFE_INTEGER };
}

/**
 * Yields the parts of the group that has the id, and of deleted groups with one of its ids, newest first.
 * Takes one lookup per rename.
 */
export async function* earlierParts(
  store: BatchingStore,
  tenant: Tenant,
  end: PartEnd,
): AsyncGenerator<HistoryPart, void> {
  for (let at = end; ; ) {
    const upTo = at.before - 1;
    const rename = await findLastRename(store, tenant, at);
    const range = rename === null ? { after: 0, upTo } : newestRange(rename, upTo);
    yield { id: at.id, range, end: at, isDeparture: false };
    if (rename === null) return;
    const { position, direction, otherId } = rename;
    if (direction === 'to') {
      yield {
        id: otherId,
        range: { after: position - 1, upTo: position },
        end: at,
        isDeparture: true,
      };
      return;
    }
    at = { id: otherId, before: position };
  }
}

/**
 * Returns the id that the group had at the position; null if another group had the id then, or the group has
 * been renamed too often since.
 */
export async function findIdAt(
  store: BatchingStore,
  tenant: Tenant,
  id: string,
  position: number,
): Promise<string | null> {
  let passed = 0;
  for await (const { id: idThen, range, isDeparture } of earlierParts(store, tenant, newestEnd(id))) {
    if (position > range.after) return isDeparture ? null : idThen;
    if (++passed === MAX_PARTS) return null;
  }
  return null;
}

/** Returns the positions of events from the last rename of an id. The event of a rename has the new id. */
export function newestRange(
  { position, direction }: Pick<Rename, 'position' | 'direction'>,
  upTo = Number.MAX_SAFE_INTEGER,
): PositionRange {
  return { after: direction === 'to' ? position : position - 1, upTo };
}

/** Returns the new id of the group that gave up this id, if that was the last rename of the id; otherwise null. */
export async function findNewId(store: BatchingStore, tenant: Tenant, id: string): Promise<string | null> {
  const rename = await findLastRename(store, tenant, newestEnd(id));
  return rename?.direction === 'to' ? rename.otherId : null;
}

export function findLastRename(
  store: BatchingStore,
  tenant: Tenant,
  { id, before }: PartEnd,
): Promise<Rename | null> {
  return store.read({ kind: 'findLastRename', key: userGroupKey(tenant, id), before });
}
