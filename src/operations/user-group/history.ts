// Places of the events of a user group. Each event stays under the id that the group had then, and renames connect the parts.

import type { PositionRange, Tenant } from '../../domain/event/event.ts';
import type { Rename } from '../../domain/user-group/rename.ts';
import { userGroupKey } from '../../domain/user-group/user-group.ts';
import type { BatchingStore } from '../../store/batching-store.ts';

/** Parts that a request reads, and parts that it passes over to find its first one. */
export const MAX_PARTS = 50;

/** The end of a part of a history: its events have this id, and earlier positions. */
export interface PartEnd {
  id: string;
  before: number;
}

/** Events of one id. */
export interface HistoryPart {
  id: string;
  range: PositionRange;
  /** A walk that starts there continues with this part. */
  end: PartEnd;
  /** The rename of an earlier group that left the id, with which the history ends. */
  isDeparture: boolean;
}

/** The end of the newest part. */
export function newestEnd(id: string): PartEnd {
  return { id, before: Number.MAX_SAFE_INTEGER };
}

/**
 * The parts of the group that has the id, and of deleted groups with one of its ids; the newest first. One lookup for each
 * rename.
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

/** The id of the group at the position; null if another group had the id then, or it was renamed too often since. */
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

/** Positions of the events from the last rename of an id on. The event of a rename has the new id. */
export function newestRange(
  { position, direction }: Pick<Rename, 'position' | 'direction'>,
  upTo = Number.MAX_SAFE_INTEGER,
): PositionRange {
  return { after: direction === 'to' ? position : position - 1, upTo };
}

export function findLastRename(
  store: BatchingStore,
  tenant: Tenant,
  { id, before }: PartEnd,
): Promise<Rename | null> {
  return store.read({ kind: 'findLastRename', key: userGroupKey(tenant, id), before });
}
