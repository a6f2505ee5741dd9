// Counts per day for charts: resolved tokens and changes. Days that were counted before are not read again,
// so the first count of an environment takes longest.

import type { EventPosition } from '../../domain/event/event.ts';
import { CHART_DAYS, type CountedFigures, type DayCounts } from '../../domain/figures.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { type Day, toDay } from '../../domain/usage.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { QueryResult } from '../../store/port.ts';

/** Maximum delay with which usage is written after it was counted. */
const LATE_MS = 3_600_000;
/** Bounds of one query, which keep concurrent lookups fast. */
const USAGE_PER_READ = 4_000;
const EVENTS_PER_READ = 500;
const EVENT_BYTES = 256 * 1024;
/** Bounds of one count, which leaves older days uncounted. */
const MAX_USAGE_READS = 1_000;
const MAX_EVENT_READS = 100;

interface CountingDays {
  store: BatchingStore;
  tenant: Tenant;
  now: number;
  /** null before the first count. */
  before: CountedFigures | null;
  /** Called between queries; throws to stop. */
  pause(): Promise<void>;
}

export async function countResolves({ store, tenant, now, before, pause }: CountingDays): Promise<DayCounts> {
  const days = new Days(now, before, 'resolves');
  let reads = 0;
  for (let day = toDay(now); day >= days.first; day--) {
    let after = '';
    for (let isEnd = false; !isEnd; ) {
      if (++reads > MAX_USAGE_READS) return days.countedSince(day + 1);
      const counts = await store.read({ kind: 'listUsageOfDay', tenant, day, after, limit: USAGE_PER_READ });
      for (const { kind, count, providedId } of counts) {
        // A user group can have several counts on a day, so the last group of a full page is read again.
        const isRepeated = counts.length === USAGE_PER_READ && providedId === counts.at(-1)!.providedId;
        if (kind === 'resolves' && !isRepeated) days.add(day, count);
      }
      isEnd = counts.length < USAGE_PER_READ;
      if (!isEnd) after = lastBefore(counts.map(({ providedId }) => providedId));
      await pause();
    }
  }
  return days.countedSince(days.first);
}

export async function countChanges({ store, tenant, now, before, pause }: CountingDays): Promise<DayCounts> {
  const days = new Days(now, before, 'changes');
  let after: EventPosition | null = null;
  let day = toDay(now);
  for (let reads = 0; reads < MAX_EVENT_READS; reads++) {
    const { events, last, isEnd }: QueryResult<'listEvents'> = await store.read({
      kind: 'listEvents',
      tenant,
      target: null,
      type: null,
      order: 'newest',
      after,
      limit: EVENTS_PER_READ,
      scanLimit: EVENTS_PER_READ,
      maxBytes: EVENT_BYTES,
    });
    for (const { occurredAt } of events) {
      day = Math.min(day, toDay(occurredAt));
      days.add(toDay(occurredAt), 1);
    }
    if (isEnd || day < days.first) return days.countedSince(days.first);
    after = last;
    await pause();
  }
  return days.countedSince(day + 1);
}

/** Returns the last id that differs from the final one. */
function lastBefore(ids: readonly string[]): string {
  const last = ids.at(-1);
  return ids.findLast((id) => id !== last) ?? last!;
}

class Days {
  /** First day that is counted again; earlier counts are kept. */
  readonly first: Day;
  readonly #oldest: Day;
  readonly #before: DayCounts | null;
  readonly #counts = new Map<Day, number>();

  constructor(now: number, before: CountedFigures | null, counted: 'resolves' | 'changes') {
    this.#oldest = toDay(now) - CHART_DAYS + 1;
    this.#before = before?.[counted] ?? null;
    this.first = before === null ? this.#oldest : Math.max(this.#oldest, toDay(before.countedAt - LATE_MS));
  }

  add(day: Day, count: number): void {
    if (day >= this.first) this.#counts.set(day, (this.#counts.get(day) ?? 0) + count);
  }

  /**
   * Returns the counts together with those kept from before; `day` is the first day that this count covered
   * completely.
   */
  countedSince(day: Day): DayCounts {
    const known = Object.entries(this.#before?.counts ?? {}).filter(
      ([each]) => Number(each) >= this.#oldest && Number(each) < this.first,
    );
    const counted = [...this.#counts].filter(([each]) => each >= day);
    const isContinued = this.#before !== null && day === this.first;
    const since = isContinued ? Math.max(this.#oldest, Math.min(this.#before!.since, day)) : day;
    return { counts: Object.fromEntries([...known, ...counted]), since };
  }
}
