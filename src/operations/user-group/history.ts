// Places of the events of a user group. Each event stays under the id that the group had then, and renames connect the parts.

import type { PositionRange, Tenant } from '../../domain/event/event.ts';
import type { Rename } from '../../domain/user-group/rename.ts';
import { userGroupKey } from '../../domain/user-group/user-group.ts';
import type { BatchingStore } from '../../store/batching-store.ts';

/** Events of one id. */
export interface HistoryPart {
  id: string;
  range: PositionRange;
}

export interface History {
  /** The parts of the group that has the id, and of deleted groups with one of its ids; the newest first. */
  parts: HistoryPart[];
  /** The rename of an earlier group that left the id, with which the history ends; null if there was none. */
  departure: HistoryPart | null;
}

/** One lookup for each rename. */
export async function readHistory(
  store: BatchingStore,
  { workspaceId, environment }: Tenant,
  userGroupId: string,
): Promise<History> {
  const parts: HistoryPart[] = [];
  for (let [id, before] = [userGroupId, Number.MAX_SAFE_INTEGER]; ; ) {
    const key = userGroupKey(workspaceId, environment, id);
    const rename = await store.read({ kind: 'findLastRename', key, before });
    if (rename === null) {
      parts.push({ id, range: { after: 0, upTo: before - 1 } });
      return { parts, departure: null };
    }
    const { position, direction, otherId } = rename;
    parts.push({ id, range: newestRange(rename, before - 1) });
    if (direction === 'to')
      return { parts, departure: { id: otherId, range: { after: position - 1, upTo: position } } };
    [id, before] = [otherId, position];
  }
}

/** Positions of the events from the last rename of an id on. The event of a rename has the new id. */
export function newestRange(
  { position, direction }: Pick<Rename, 'position' | 'direction'>,
  upTo = Number.MAX_SAFE_INTEGER,
): PositionRange {
  return { after: direction === 'to' ? position : position - 1, upTo };
}
