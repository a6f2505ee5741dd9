// Removes the values from the long history of a user group before it is deleted. That can take longer than a
// request may, so it continues after the request, and a repeated request finds it done.

import { setNewest } from '../../domain/bounded-map.ts';
import type { PositionRange } from '../../domain/event/event.ts';
import { keyToString, type UserGroupKey, userGroupKey } from '../../domain/user-group/user-group.ts';
import type { Problem } from '../../problem.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import { StartedTooLate } from '../../store/port.ts';
import { tooBusy } from '../refusals.ts';
import { earlierParts, newestEnd } from './history.ts';

/** Number of events whose values one transaction removes, and number that it scans for them. */
const ERASED = 500;
const SCANNED = 20_000;
/** Maximum number of erasures that a process remembers, including finished ones. */
const MAX_REMEMBERED = 256;

export class HistoryErasures {
  /**
   * Erasures in the order of their starts; each resolves to the position of the last event that it has seen.
   */
  readonly #erasures = new Map<string, Promise<number>>();

  /**
   * Returns a position up to which no event of the newest part, which follows `after`, has values; earlier
   * parts have none either. Throws `overloaded` if that is not reached when the request has to end.
   */
  async run(store: BatchingStore, key: UserGroupKey, after: number): Promise<number> {
    // The name includes `after`, because another group with the id has another history.
    const name = `${keyToString(key)} ${after}`;
    const erasure = this.#erasures.get(name) ?? this.#start(store, key, name);
    try {
      const erasedTo = await store.inTime(erasure);
      // Later changes need another erasure.
      this.#erasures.delete(name);
      return erasedTo;
    } catch (error) {
      throw error instanceof StartedTooLate ? historyTooLong() : error;
    }
  }

  #start(store: BatchingStore, key: UserGroupKey, name: string): Promise<number> {
    const erasure = erase(store.until(Number.POSITIVE_INFINITY), key);
    setNewest(this.#erasures, name, erasure, MAX_REMEMBERED);
    // After a failure, the next request starts another erasure.
    erasure.catch(() => this.#erasures.delete(name));
    return erasure;
  }
}

/** Erases the parts, the newest one last; returns the position reached in it. */
async function erase(store: BatchingStore, key: UserGroupKey): Promise<number> {
  const parts = earlierParts(store, key, newestEnd(key.providedId));
  const newest = (await parts.next()).value!;
  for await (const { id, range, isDeparture } of parts)
    if (!isDeparture) await erasePart(store, userGroupKey(key, id), range);
  return erasePart(store, key, newest.range);
}

async function erasePart(store: BatchingStore, key: UserGroupKey, { after, upTo }: PositionRange) {
  const limits = { limit: ERASED, scanLimit: SCANNED };
  for (let erasedTo = after; ; ) {
    const range = { after: erasedTo, upTo };
    const last = await store.write({ kind: 'eraseChanges', key, range, ...limits });
    if (last === null) return erasedTo;
    erasedTo = last;
  }
}

function historyTooLong(): Problem {
  return tooBusy(
    'The user group has a long history, whose values are being removed before the group is. Repeat the request.',
  );
}
