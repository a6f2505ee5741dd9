// Batching: items submitted in the same turn of the event loop run together, as one statement or one transaction.
// A lone item is a batch of one and is sent in the same turn. While more items wait than fit into a batch, tenants take
// turns by what their items cost. What an item means, and whether to accept it (admission.ts), is decided elsewhere.

import { UNKNOWN_TENANT } from '../scheduling/fair-queue.ts';
import { FairTurns } from '../scheduling/fair-turns.ts';
import type { TenantActivity } from '../scheduling/tenant-activity.ts';
import type { ThreadSum } from '../scheduling/thread-sum.ts';
import { StartedTooLate, StoreUnavailable, WaitedTooLong } from './port.ts';

export interface BatchLimits {
  /** Items per batch. */
  maxBatch: number;
  /** Batches in flight at the same time. */
  maxInFlight: number;
  /**
   * While another batch is in flight, how long a new one waits for more items. A larger batch costs less per item, so
   * a second batch is only worthwhile when the first one takes longer than this.
   */
  maxLingerMs: number;
  /** Items that may wait for a batch; beyond this, new work is rejected. */
  maxQueued: number;
  /** Whether all items of a batch must be of the same kind. */
  isOfOneKind?: boolean;
}

/** Pauses between batches of one item that must not starve other work (admission.ts). */
export interface Cooldown {
  /** Returns the milliseconds until the next batch of the tenant, a workspace id, may start. */
  remainingMs(tenant: number): number;
  /** Called when a batch starts. The returned function is called when it ends, and later calls `resume`. */
  start(tenant: number): (resume: () => void) => void;
}

/** Part of the queue that an item waits for. */
export interface QueuePart {
  queued: number;
  /** How long the first item has waited; 0 if there is none. */
  oldestWaitMs: number;
  /** Expected duration of the batches of these items as far as they are cut; 0 if the last ones were not. */
  cutMs: number;
}

/** Called when a batch is done, or has failed. */
export type BatchObserver = (items: number, durationMs: number) => void;

interface BatcherOptions<Item, Result> {
  activity?: TenantActivity | undefined;
  /** Queue length of each thread of the process. */
  queueLengths?: ThreadSum | undefined;
  cooldown?: Cooldown;
  /** Returns the characters of JSON in an item; absent if no item has many. */
  countCharacters?: (item: Item) => number;
  /** Returns the characters of JSON in a result. A tenant's results predict the size of its next ones. */
  countInResult?: (result: Result) => number;
  /** Names what an item changes: items with the same name never run in two batches at the same time. */
  changedBy?: (item: Item) => string | undefined;
  observer?: BatchObserver | undefined;
  /** Called with the cause when a batch is split; its items, repeated one at a time, may all succeed. */
  onSplit?: ((error: unknown) => void) | undefined;
}

interface SubmitOptions {
  /** `performance.now()` */
  startBy: number;
  isUrgent?: boolean;
  /** A workspace id. */
  tenant?: number;
}

interface Entry<Item, Result> {
  item: Item;
  /** See `changedBy`. */
  changed: string | undefined;
  /** See `countCharacters`. */
  characters: number;
  tenant: number;
  /** Share of a batch that the item takes, in characters: a small one takes time too. */
  cost: number;
  /** See `FairTurns`. */
  start: number;
  submittedAt: number;
  startBy: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** A batch in flight. */
interface Run {
  startedAt: number;
  coolDown: ReturnType<Cooldown['start']> | undefined;
  changed: readonly string[];
  /** Whether the batch took fewer items than were waiting, because the items or their results are large. */
  isCut: boolean;
}

/** Timers count whole milliseconds. */
const MIN_TIMER_MS = 1;
/** How often expired items are removed from the queue. */
const SWEEP_INTERVAL_MS = 100;
/** Average duration of a batch below which a request, which may wait ten times as long, waits for many others. */
const FAST_RUN_MS = 150;
/** Time without an answer after which the database is not fast, whatever the average: it may hang. */
const MAX_SILENCE_MS = 300;
/** Weight of the newest batch in the average. */
const NEWEST_WEIGHT = 1 / 4;
/**
 * Items per batch while several tenants are active. With 256, PostgreSQL completes no more requests of a busy tenant with a
 * thousand connections, and the others wait a third longer.
 */
const MAX_SHARED_BATCH = 64;
/** Characters of JSON in one batch: more would keep the event loop and the database busy for too long. */
const MAX_BATCH_CHARACTERS = 1_048_576;
/**
 * The same while several tenants are active: an item waits for the batch before its own, and for the other
 * items of its own.
 */
const MAX_SHARED_BATCH_CHARACTERS = 131_072;
/**
 * Weight of the newest result in the average of its tenant. With less, the first batches with large results are too
 * large; with more, a tenant could alternate between a few small results and many large ones.
 */
const NEWEST_RESULT_WEIGHT = 1 / 64;
/** Average that needs no tracking: 256 results of this size are not too large for a batch. */
const SMALL_RESULT_CHARACTERS = 512;

export class Batcher<Item extends { kind: unknown }, Result> implements QueuePart {
  readonly limits: BatchLimits;
  readonly #run: (items: Item[]) => Promise<Result[]> | Result[];
  readonly #options: BatcherOptions<Item, Result>;
  /** Average size of a tenant's results as `countInResult` returns it; absent if it is small. */
  readonly #resultCharacters = new Map<number, number>();
  #queue: Entry<Item, Result>[] = [];
  readonly #turns = new FairTurns();
  #inFlight = 0;
  /** Names of what the batches in flight are changing. */
  readonly #changing = new Set<string>();
  #averageRunMs = 0;
  /**
   * Duration of batches that were cut, per cost: an exponentially weighted average in which other batches count as
   * 0. Reset to 0 when the queue is empty.
   */
  #averageCutMs = 0;
  #scheduledFlush: NodeJS.Immediate | NodeJS.Timeout | null = null;
  #isYielding = false;
  /** Whether every waiting item changes something that a batch in flight is changing. */
  #isBlocked = false;
  /** When the database answered (`performance.now()`); -Infinity once it has failed. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** Since when batches have been in flight without a break; the same clock. */
  #busySince = Number.NEGATIVE_INFINITY;
  /** Whether the last batch was cut. */
  #isCut = false;
  #sweeper: NodeJS.Timeout | null = null;

  /** `run` may return results for only the first items; the others join the next batch, a turn later. */
  constructor(
    run: (items: Item[]) => Promise<Result[]> | Result[],
    limits: BatchLimits,
    options: BatcherOptions<Item, Result> = {},
  ) {
    this.#run = run;
    this.limits = limits;
    this.#options = options;
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** Items per batch at present. */
  get maxBatch(): number {
    const { maxBatch } = this.limits;
    return this.#isShared ? Math.min(maxBatch, MAX_SHARED_BATCH) : maxBatch;
  }

  get #isShared(): boolean {
    return this.#options.activity?.isShared ?? false;
  }

  /** Queue length in all threads of the process, which `maxQueued` limits. */
  get queuedInProcess(): number {
    return this.#options.queueLengths?.total ?? this.#queue.length;
  }

  /** Estimated items of a tenant (a workspace id) in all threads: as if each had as many as this one. */
  queuedOfTenant(tenant: number): number {
    let own = 0;
    for (const entry of this.#queue) if (entry.tenant === tenant) own++;
    return own * (this.#options.queueLengths?.threads ?? 1);
  }

  get oldestWaitMs(): number {
    const [first] = this.#queue;
    return first === undefined ? 0 : performance.now() - first.submittedAt;
  }

  /** Exponentially weighted average of the duration of a batch. */
  get averageRunMs(): number {
    return this.#averageRunMs;
  }

  get cutMs(): number {
    return this.#averageCutMs === 0 ? 0 : this.#averageCutMs * costOf(this.#queue);
  }

  /** Part of the queue that one more item of the tenant would wait for, given that tenants take turns. */
  tenantQueue(tenant: number): QueuePart {
    const ofTenants = Map.groupBy(this.#queue, (entry) => entry.tenant);
    const ownItems = ofTenants.get(tenant) ?? [];
    const own = ownItems.length;
    const ownCost = costOf(ownItems);
    let queued = 0;
    let cost = 0;
    let costAhead = 0;
    for (const items of ofTenants.values()) {
      const each = costOf(items);
      queued += Math.min(items.length, own + 1);
      cost += each;
      costAhead += Math.min(each, ownCost);
    }
    // A tenant whose items cost less than average does not cause batches to be cut.
    const isSmall = ownCost * ofTenants.size < cost;
    return {
      queued,
      oldestWaitMs: own === 0 ? 0 : performance.now() - ownItems[0]!.submittedAt,
      cutMs: isSmall ? 0 : this.#averageCutMs * costAhead,
    };
  }

  /** Rejects with `StoreUnavailable` if the item has not started by `startBy`. */
  submit(item: Item, { startBy, isUrgent = false, tenant = UNKNOWN_TENANT }: SubmitOptions): Promise<Result> {
    return new Promise((resolve, reject) => {
      const changed = this.#changedBy?.(item);
      const characters = this.#options.countCharacters?.(item) ?? 0;
      const submittedAt = performance.now();
      if (this.#queue.length + this.#inFlight === 0) this.#turns.reset();
      const cost = SMALL_RESULT_CHARACTERS + this.#estimateCharacters({ characters, tenant });
      const start = isUrgent ? 0 : this.#turns.add(tenant, cost);
      const entry = {
        item,
        changed,
        characters,
        tenant,
        cost,
        start,
        submittedAt,
        startBy,
        resolve,
        reject,
      };
      if (isUrgent) this.#queue.unshift(entry);
      else this.#queue.push(entry);
      this.#publishLength();
      // The flush may wait for the pause of another tenant.
      if (this.#options.cooldown) this.#cancelFlush();
      this.#schedule();
      this.#sweeper ??= setTimeout(() => this.#sweep(), SWEEP_INTERVAL_MS).unref();
    });
  }

  /** undefined if only one batch runs at a time. */
  get #changedBy(): BatcherOptions<Item, Result>['changedBy'] {
    return this.limits.maxInFlight > 1 ? this.#options.changedBy : undefined;
  }

  #publishLength(): void {
    const { queueLengths } = this.#options;
    if (queueLengths !== undefined) queueLengths.own = this.#queue.length;
  }

  #sweep(): void {
    this.#queue = this.#rejectExpired(this.#queue);
    this.#publishLength();
    this.#sweeper =
      this.#queue.length === 0 ? null : setTimeout(() => this.#sweep(), SWEEP_INTERVAL_MS).unref();
  }

  #schedule(): void {
    if (this.#isYielding) return;
    const { maxInFlight, maxLingerMs } = this.limits;
    const { cooldown } = this.#options;
    // A turn that brings thousands of items is long; a full batch does not wait for its end.
    const isFull = !cooldown && this.#queue.length >= this.maxBatch;
    if (isFull && !this.#isBlocked && this.#inFlight < maxInFlight) this.#flush();
    if (this.#queue.length === 0 || this.#scheduledFlush !== null || this.#inFlight === maxInFlight) return;
    const delayMs = Math.max(this.#cooldownMs, this.#inFlight === 0 ? 0 : maxLingerMs);
    this.#scheduledFlush =
      delayMs < MIN_TIMER_MS
        ? // Runs after the sockets of this turn have been read, before the loop polls again.
          setImmediate(() => this.#flush())
        : setTimeout(() => this.#flush(), delayMs);
  }

  /** Milliseconds until the first batch of a waiting tenant may start. */
  get #cooldownMs(): number {
    const { cooldown } = this.#options;
    if (cooldown === undefined) return 0;
    return Math.min(...this.#queue.map(({ tenant }) => cooldown.remainingMs(tenant)));
  }

  #isPaused(tenant: number): boolean {
    const { cooldown } = this.#options;
    return cooldown !== undefined && cooldown.remainingMs(tenant) >= MIN_TIMER_MS;
  }

  #cancelFlush(): void {
    clearImmediate(this.#scheduledFlush as NodeJS.Immediate);
    clearTimeout(this.#scheduledFlush as NodeJS.Timeout);
    this.#scheduledFlush = null;
  }

  #flush(): void {
    this.#cancelFlush();
    const { taken, isCut } = this.#dequeue();
    this.#isBlocked = taken.length === 0 && this.#queue.length > 0;
    const batch = this.#rejectExpired(taken);
    if (batch.length > 0) void this.#runBatch(batch, isCut);
    this.#schedule();
  }

  /** Rejects entries that are too late to start; returns the others. */
  #rejectExpired(entries: Entry<Item, Result>[]): Entry<Item, Result>[] {
    const now = performance.now();
    return entries.filter(({ startBy, submittedAt, reject }) => {
      if (startBy >= now) return true;
      reject(waitedTooLong(this.isBusySince(submittedAt)));
      return false;
    });
  }

  /** Whether what has waited since this time (`performance.now()`) waits for other items, and not for a slow database. */
  isBusySince(since: number): boolean {
    if (this.#answeredAt < since) return false;
    return this.#options.cooldown !== undefined || (this.#averageRunMs < FAST_RUN_MS && !this.isSilent);
  }

  /** Whether the database has not answered for so long that it may hang. */
  get isSilent(): boolean {
    const silentSince = Math.max(this.#answeredAt, this.#busySince);
    return this.#inFlight > 0 && performance.now() - silentSince >= MAX_SILENCE_MS;
  }

  /** Takes the next items that may run, tenants in turn; with `isOfOneKind`, all of the first one's kind. */
  #dequeue(): { taken: Entry<Item, Result>[]; isCut: boolean } {
    const { isOfOneKind } = this.limits;
    const { maxBatch } = this;
    if (isOfOneKind || this.#isCut || !this.#isOneBatch())
      this.#queue.sort((entry, other) => entry.start - other.start);
    const taken: Entry<Item, Result>[] = [];
    const skipped: Entry<Item, Result>[] = [];
    const maxCharacters = this.#maxCharacters;
    let characters = 0;
    for (const entry of this.#queue) {
      if (taken.length === maxBatch || characters >= maxCharacters) break;
      const { item, changed } = entry;
      const first = taken[0] ?? entry;
      const isBeingChanged = changed !== undefined && this.#changing.has(changed);
      const isOtherKind = isOfOneKind && item.kind !== first.item.kind;
      if (isBeingChanged || isOtherKind || this.#isPaused(entry.tenant)) {
        skipped.push(entry);
        continue;
      }
      const added = this.#estimateCharacters(entry);
      // An item that is too large for a batch gets one of its own: no other item has to wait for it to end.
      if (taken.length > 0 && added >= maxCharacters) {
        characters = maxCharacters;
        break;
      }
      characters += added;
      taken.push(entry);
    }
    const rest = this.#queue.slice(taken.length + skipped.length);
    this.#queue = skipped.concat(rest);
    this.#publishLength();
    return { taken, isCut: characters >= maxCharacters && rest.length > 0 };
  }

  /** Whether all waiting items fit into one batch. */
  #isOneBatch(): boolean {
    if (this.#queue.length > this.maxBatch) return false;
    let characters = 0;
    for (const entry of this.#queue) characters += this.#estimateCharacters(entry);
    return characters < this.#maxCharacters;
  }

  #estimateCharacters({ characters, tenant }: Pick<Entry<Item, Result>, 'characters' | 'tenant'>): number {
    return Math.max(characters, this.#resultCharacters.get(tenant) ?? 0);
  }

  get #maxCharacters(): number {
    return this.#isShared ? MAX_SHARED_BATCH_CHARACTERS : MAX_BATCH_CHARACTERS;
  }

  async #runBatch(batch: Entry<Item, Result>[], isCut: boolean): Promise<void> {
    const startedAt = performance.now();
    if (this.#inFlight++ === 0) this.#busySince = startedAt;
    const run: Run = {
      startedAt,
      coolDown: this.#options.cooldown?.start(batch[0]!.tenant),
      changed: this.#changedBy ? batch.flatMap(({ changed }) => changed ?? []) : [],
      isCut,
    };
    for (const name of run.changed) this.#changing.add(name);
    let results: Result[];
    try {
      const running = this.#run(batch.map(({ item }) => item));
      // No `await` for an adapter that answers synchronously: saves a trip through the microtask queue.
      results = running instanceof Promise ? await running : running;
    } catch (error) {
      if (error instanceof StoreUnavailable) this.#answeredAt = Number.NEGATIVE_INFINITY;
      await this.#runIndividually(batch, error);
      this.#batchDone(batch, run);
      return;
    }
    this.#answeredAt = performance.now();
    const unanswered = batch.splice(results.length);
    this.#learnCharacters(batch, results);
    this.#queue.unshift(...unanswered);
    this.#publishLength();
    const isPartial = unanswered.length > 0;
    run.isCut ||= isPartial;
    this.#batchDone(batch, run, isPartial);
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
  }

  #learnCharacters(batch: Entry<Item, Result>[], results: Result[]): void {
    const { countInResult } = this.#options;
    if (countInResult === undefined) return;
    const averages = this.#resultCharacters;
    for (const [index, { tenant }] of batch.entries()) {
      const characters = countInResult(results[index] as Result);
      const before = averages.get(tenant) ?? SMALL_RESULT_CHARACTERS;
      const average = before + (characters - before) * NEWEST_RESULT_WEIGHT;
      if (average > SMALL_RESULT_CHARACTERS) averages.set(tenant, average);
      else if (before > SMALL_RESULT_CHARACTERS) averages.delete(tenant);
    }
  }

  #batchDone(
    batch: readonly Entry<Item, Result>[],
    { startedAt, coolDown, changed, isCut }: Run,
    isPartial = false,
  ): void {
    this.#inFlight--;
    // Not earlier: items of others that arrive meanwhile go before those that have to join another batch.
    for (const { start } of batch) this.#turns.serve(start);
    for (const name of changed) this.#changing.delete(name);
    this.#isCut = isCut;
    const durationMs = performance.now() - startedAt;
    this.#averageRunMs += (durationMs - this.#averageRunMs) * NEWEST_WEIGHT;
    const cutMs = isCut ? durationMs / costOf(batch) : 0;
    if (this.#queue.length === 0) this.#averageCutMs = 0;
    else this.#averageCutMs += (cutMs - this.#averageCutMs) * NEWEST_WEIGHT;
    this.#options.observer?.(batch.length, durationMs);
    if (coolDown) {
      coolDown(() => {
        this.#cancelFlush();
        this.#schedule();
      });
    } else if (isPartial) {
      this.#yield();
    } else if (this.#queue.length > 0) {
      // The next batch runs while the responses of this one are written.
      this.#flush();
    }
  }

  /** Starts no batch in the rest of this turn. */
  #yield(): void {
    this.#isYielding = true;
    setImmediate(() => {
      this.#isYielding = false;
      this.#flush();
    });
  }

  /** Isolates failures: one bad item must not fail the other items of its batch. */
  async #runIndividually(batch: Entry<Item, Result>[], error: unknown): Promise<void> {
    if (batch.length === 1 || error instanceof StoreUnavailable) {
      for (const { reject } of batch) reject(error);
      return;
    }
    this.#options.onSplit?.(error);
    for (const { item, startBy, resolve, reject } of batch) {
      try {
        if (startBy < performance.now()) throw waitedTooLong(false);
        const [result] = await this.#run([item]);
        resolve(result as Result);
      } catch (itemError) {
        reject(itemError);
      }
    }
  }
}

function costOf(entries: readonly { cost: number }[]): number {
  return entries.reduce((sum, { cost }) => sum + cost, 0);
}

/** Error for a wait until the deadline of a request: for other requests (`isBusy`), or for the database. */
export function waitedTooLong(isBusy: boolean): StartedTooLate {
  return isBusy
    ? new WaitedTooLong('waited too long for other requests')
    : new StartedTooLate('timed out in the queue for the database');
}
