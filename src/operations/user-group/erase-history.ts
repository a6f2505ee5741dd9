// Removes the values from the long history of a user group before it is deleted. That can take longer than a
// request may, so it continues after the request, and a repeated request finds it done.

import { setNewest } from '../../domain/bounded-map.ts';
import type { PositionRange } from '../../domain/event/event.ts';
import { tenantOf } from '../../domain/tenant.ts';
import {
  keyToString,
  type UserGroup,
  type UserGroupKey,
  userGroupKey,
} from '../../domain/user-group/user-group.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import { findNewestEvent } from '../event/newest.ts';
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
   * Returns a position up to which no event of the newest part has values; earlier parts have none either, unless the
   * group has changed its id or token since it was read. Throws `overloaded` if that is not reached when the request has
   * to end.
   */
  async run(store: BatchingStore, userGroup: UserGroup): Promise<number> {
    // Another group with the id, or this one after a rename, has another text.
    const name = `${keyToString(userGroup)} ${userGroup.sealedToken.ciphertext}`;
    const erasure = this.#erasures.get(name) ?? this.#start(store, userGroup, name);
    const erasedTo = await store.inTime(erasure, () =>
      tooBusy(
        'The user group has a long history, whose values are being removed before the group is. Repeat the request.',
      ),
    );
    // Later changes need another erasure.
    this.#erasures.delete(name);
    return erasedTo;
  }

  #start(store: BatchingStore, userGroup: UserGroup, name: string): Promise<number> {
    const erasure = erase(store.until(Number.POSITIVE_INFINITY), userGroup);
    setNewest(this.#erasures, name, erasure, MAX_REMEMBERED);
    // After a failure, the next request starts another erasure.
    erasure.catch(() => this.#erasures.delete(name));
    return erasure;
  }
}

/**
 * Erases the parts, the newest one last, up to its last event now: a later event may be of another group, to which a
 * rename has given the id. Returns the position reached in it.
 */
async function erase(store: BatchingStore, userGroup: UserGroup): Promise<number> {
  const key = userGroupKey(userGroup, userGroup.providedId);
  const parts = earlierParts(store, key, newestEnd(key.providedId));
  const { after } = (await parts.next()).value!.range;
  const newest = await findNewestEvent(store, tenantOf(key), { type: 'user_group', id: key.providedId });
  const current = await store.read({ kind: 'findUserGroup', key });
  // The parts that were found may be those of another group.
  if (current?.sealedToken.ciphertext !== userGroup.sealedToken.ciphertext) return after;
  for await (const { id, range, isDeparture } of parts)
    if (!isDeparture) await erasePart(store, userGroupKey(key, id), range);
  return erasePart(store, key, { after, upTo: newest?.position ?? 0 });
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
