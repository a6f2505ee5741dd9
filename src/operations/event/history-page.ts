// Reads a page of the history of a user group, which continues under its earlier ids. A group may have been
// renamed thousands of times, so the cost of a page is bounded, and its cursor contains the id with which the
// next page continues.

import { type ListPosition, START } from '../../domain/event/cursor.ts';
import type { EventTarget, StoredEvent } from '../../domain/event/event.ts';
import type { Rename } from '../../domain/user-group/rename.ts';
import { userGroupKey } from '../../domain/user-group/user-group.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { EventSearch } from '../../store/port.ts';
import { changedTooOften, MAX_ATTEMPTS } from '../refusals.ts';
import {
  earlierParts,
  findLastRename,
  type HistoryPart,
  MAX_PARTS,
  newestEnd,
  newestRange,
  type PartEnd,
} from '../user-group/history.ts';

export interface ListedEvents {
  /** Events, with a place in the history if the cursor needs one. */
  events: (StoredEvent & ListPosition)[];
  last: ListPosition | null;
  isEnd: boolean;
  /** Whether the page ended early because it reached its maximum cost. */
  isCut?: boolean;
  /** Whether the list was to continue after a position that the database has not reached. */
  isAhead?: boolean;
}

export type ListSearch = EventSearch & { after: ListPosition | null };

/**
 * The walk ends here. The next page continues at the end of this part; with null, it searches the part again,
 * starting from the newest.
 */
interface Interruption {
  continueAt: PartEnd | null;
}

/** Time after which a page ends early: each part takes several reads, which a slow database delays. */
const MAX_WALK_MS = 500;
/** The same while the page is empty. */
const MAX_EMPTY_WALK_MS = 1_000;

export async function readHistoryPage(
  store: BatchingStore,
  target: EventTarget,
  search: ListSearch,
): Promise<ListedEvents> {
  const find = () => findLastRename(store, search.tenant, newestEnd(target.id));
  let rename = await find();
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const page = await readPage(store, target, search, rename);
    const last = await find();
    if (last?.position === rename?.position) return page;
    // The page may have events of two groups.
    rename = last;
  }
  throw changedTooOften();
}

async function readPage(
  store: BatchingStore,
  target: EventTarget,
  search: ListSearch,
  rename: Rename | null,
): Promise<ListedEvents> {
  const { tenant, order, after } = search;
  const lastRename = rename?.direction === 'from' ? rename.position : null;
  // If the last rename of the id differs, the id has another history.
  const isSame = after?.place !== undefined && after.place.lastRename === lastRename;
  const end = isSame ? after.place! : newestEnd(target.id);
  const placeOf = (end: PartEnd | null) =>
    end === null || lastRename === null ? {} : { place: { id: end.id, before: end.before, lastRename } };
  const newestAfter = rename === null ? 0 : newestRange(rename).after;
  const parts =
    order === 'newest' ? earlierParts(store, tenant, end) : laterParts(store, search, end, newestAfter);
  const page: ListedEvents = { events: [], last: after, isEnd: true };
  const interrupted = (at: PartEnd | null): ListedEvents => {
    const { position, eventId } =
      page.last ?? (order === 'newest' ? { position: at!.before, eventId: '' } : START);
    return { ...page, last: { position, eventId, ...placeOf(at) }, isEnd: false, isCut: true };
  };
  const startedAt = performance.now();
  let count = 0;
  for await (const part of parts) {
    if ('continueAt' in part) return interrupted(part.continueAt);
    const limit = search.limit - page.events.length;
    if (limit === 0) return { ...page, isEnd: false };
    const maxMs = page.events.length > 0 ? MAX_WALK_MS : MAX_EMPTY_WALK_MS;
    const isLong = count > 0 && performance.now() - startedAt >= maxMs;
    if (count === MAX_PARTS || isLong) return interrupted(part.end);
    count++;
    const { id, range } = part;
    const { events, last, isEnd } = await store.read({
      kind: 'listEvents',
      ...search,
      target: { ...target, id },
      range,
      after: page.last,
      limit,
    });
    const place = placeOf(part.end);
    page.events.push(...events.map((event) => ({ ...event, ...place })));
    if (last !== null) page.last = { ...last, ...place };
    if (!isEnd) return { ...page, isEnd };
  }
  return page;
}

/** Yields the parts from the one with the position `after`, or from the oldest. */
async function* laterParts(
  store: BatchingStore,
  { tenant, after }: ListSearch,
  end: PartEnd,
  newestAfter: number,
): AsyncGenerator<HistoryPart | Interruption, void> {
  const position = after?.position ?? 0;
  const passed: HistoryPart[] = [];
  const endBy = performance.now() + MAX_WALK_MS;
  for await (const part of earlierParts(store, tenant, end)) {
    const count = passed.push(part);
    if (count > MAX_PARTS || (count > 1 && performance.now() >= endBy)) return yield { continueAt: part.end };
    if (part.range.after <= position) break;
  }
  let part = passed.pop()!;
  if (part.isDeparture) {
    yield part;
    part = passed.pop()!;
  }
  while (part.range.after !== newestAfter) {
    const { id, range } = part;
    const key = userGroupKey(tenant, id);
    const rename = await store.read({ kind: 'findNextRename', key, from: part.end.before });
    // Retention has deleted the rename's event and all events before it.
    if (rename === null) return yield { continueAt: null };
    const { position: before, otherId } = rename;
    yield { ...part, range: { after: range.after, upTo: before - 1 }, end: { id, before } };
    part = {
      ...part,
      id: otherId,
      range: { after: before - 1, upTo: before },
      end: { id: otherId, before: before + 1 },
    };
  }
  const { id, before } = newestEnd(part.id);
  yield { ...part, range: { after: newestAfter, upTo: before }, end: { id, before } };
}
