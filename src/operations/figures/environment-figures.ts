// Keeps figures about environments in the database, so that no page scans user groups. They are counted in
// the background when a page needs them and they are old: an environment without visitors costs nothing.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../domain/api-token.ts';
import { type CountedFigures, type Figures, UserGroupTally } from '../../domain/figures.ts';
import { jsonText } from '../../domain/json/json-tree.ts';
import { type Tenant, tenantName, tenantOf } from '../../domain/tenant.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import { type NewFigures, type StoredFigures, StoreUnavailable } from '../../store/port.ts';
import type { Context } from '../context.ts';
import type { EnvironmentConfig } from '../document/environment-config.ts';
import { OVERLOADED } from '../property-schema/validator/validator.ts';
import { summaryPages } from '../user-group/summaries.ts';
import { violationsOfProperties } from '../user-group/violations.ts';
import { countChanges, countResolves } from './day-counts.ts';

/**
 * Figures are old after this many times the time that counting them took: counting takes at most a hundredth
 * of the time.
 */
const AGE_FACTOR = 100;
/** Same factor if the configuration, on which figures depend, has changed. */
const CHANGED_AGE_FACTOR = 10;
const MIN_AGE_MS = 5_000;
const MAX_AGE_MS = 3_600_000;
/** Maximum time that a page waits for a count. */
const MAX_WAIT_MS = 150;
/**
 * Another process may take over a count after this time, for example from a killed process. Extended while
 * counting.
 */
const CLAIM_MS = 60_000;
const MAX_PAUSE_MS = 100;
/**
 * Maximum wait of the next environment for the current one: a property schema may make a count take hours.
 */
const MAX_TURN_MS = 5_000;
/** Maximum number of environments that wait in this process. */
const MAX_WAITING = 100;
/** Maximum number of data sources of user groups added up in one turn of the event loop. */
const MAX_ADDED = 100_000;

type FiguresContext = Pick<Context, 'clock' | 'configs' | 'propertyValidator'>;

export class EnvironmentFigures {
  readonly #store: BatchingStore;
  readonly #context: FiguresContext;
  readonly #onError: (error: unknown) => void;
  readonly #stopped = new AbortController();
  /** Counts in progress by environment; one at a time, unless one takes long. */
  readonly #counting = new Map<string, Promise<void>>();
  #lastTurn: Promise<void> = Promise.resolve();

  constructor(store: BatchingStore, context: FiguresContext, onError: (error: unknown) => void) {
    this.#store = store;
    this.#context = context;
    this.#onError = onError;
  }

  /**
   * Returns stored figures, which may be old, or counts them now if that is fast; null if none are known yet.
   */
  async find(store: BatchingStore, caller: Caller): Promise<CountedFigures | null> {
    const tenant = tenantOf(caller);
    const stored = await store.read({ kind: 'findFigures', tenant });
    const figures = figuresIn(stored);
    if (!this.#isOld(figures, caller)) return figures;
    const counting = this.#count(caller);
    if (counting === null || (figures?.tookMs ?? 0) > MAX_WAIT_MS) return figures;
    const late = sleep(MAX_WAIT_MS, false, { ref: false });
    const isCounted = await Promise.race([counting.then(() => true), late]);
    return isCounted ? (figuresIn(await store.read({ kind: 'findFigures', tenant })) ?? figures) : figures;
  }

  /** Resolves when counting has stopped. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#counting.values());
  }

  #isOld(figures: CountedFigures | null, { configVersion }: Caller): boolean {
    if (figures === null) return true;
    const isChanged = configVersion !== null && configVersion !== figures.configVersion;
    const factor = isChanged ? CHANGED_AGE_FACTOR : AGE_FACTOR;
    const minAgeMs = isChanged ? 0 : MIN_AGE_MS;
    const maxAgeMs = Math.min(Math.max(figures.tookMs * factor, minAgeMs), MAX_AGE_MS);
    const ageMs = this.#context.clock() - figures.countedAt;
    return ageMs < 0 || ageMs > maxAgeMs;
  }

  /** Starts a count, or joins one in progress. Returns null if too many environments wait. */
  #count(caller: Caller): Promise<void> | null {
    const name = tenantName(caller);
    const known = this.#counting.get(name);
    if (known !== undefined) return known;
    if (this.#counting.size === MAX_WAITING || this.#stopped.signal.aborted) return null;
    const turn = this.#lastTurn;
    const counting = turn
      .then(() => this.#countClaimed(caller))
      .catch((error: unknown) => {
        // The next page that needs the figures tries again.
        if (!isExpected(error)) this.#onError(error);
      })
      .finally(() => this.#counting.delete(name));
    const maxTurn = turn.then(() => sleep(MAX_TURN_MS, undefined, { ref: false }));
    this.#lastTurn = Promise.race([counting, maxTurn]);
    this.#counting.set(name, counting);
    return counting;
  }

  async #countClaimed(caller: Caller): Promise<void> {
    const tenant = tenantOf(caller);
    const store = this.#store.forTenant(caller.workspaceId);
    const stored = await store.read({ kind: 'findFigures', tenant });
    const now = this.#context.clock();
    if (stored !== null && stored.countingUntil > now && stored.countingUntil <= now + CLAIM_MS) return;
    const claim = new Claim(store, tenant, this.#context.clock);
    if (!(await claim.take(stored))) return;
    const figures = await this.#figures(store, caller, stored, claim);
    await claim.end({ countedAt: now, figures: jsonText(figures) });
  }

  async #figures(
    store: BatchingStore,
    caller: Caller,
    stored: StoredFigures | null,
    claim: Claim,
  ): Promise<Figures> {
    const startedAt = performance.now();
    const tenant = tenantOf(caller);
    const now = this.#context.clock();
    const config = await this.#context.configs.of(store, { ...caller, configVersion: null });
    let resumedAt = startedAt;
    // Pauses as long as the work took: half of the time is left for other work, including work that the store does
    // not know of.
    const pause = async () => {
      const { signal } = this.#stopped;
      signal.throwIfAborted();
      const workedMs = performance.now() - resumedAt;
      await claim.extend();
      await sleep(Math.min(workedMs, MAX_PAUSE_MS), undefined, { signal });
      resumedAt = performance.now();
    };
    const userGroups = await this.#tally(store, tenant, config, { now, pause });
    const days = { store, tenant, now, pause, before: figuresIn(stored) };
    const resolves = await countResolves(days);
    const changes = await countChanges(days);
    const tookMs = Math.round(performance.now() - startedAt);
    return { ...userGroups, configVersion: config.version, tookMs, resolves, changes };
  }

  async #tally(
    store: BatchingStore,
    tenant: Tenant,
    config: EnvironmentConfig,
    { now, pause }: { now: number; pause: () => Promise<void> },
  ): Promise<UserGroupTally['figures']> {
    const { catalogue, propertySchema } = config;
    const tally = new UserGroupTally(catalogue, now);
    const reading = {
      withMappings: !catalogue.isEmpty,
      withProperties: propertySchema !== null,
      limit: Math.ceil(MAX_ADDED / (1 + catalogue.defaultCount)),
    };
    const { signal } = this.#stopped;
    for await (const { summaries } of summaryPages(store, tenant, reading)) {
      const violations = await violationsOfProperties(this.#context, tenant, config, summaries, signal);
      for (const [index, summary] of summaries.entries()) tally.add(summary, violations[index]!.length > 0);
      await pause();
    }
    return tally.figures;
  }
}

/** Exclusive right to count an environment; one process holds it at a time. */
class Claim {
  readonly #store: BatchingStore;
  readonly #tenant: Tenant;
  readonly #clock: () => number;
  #until: number | null = null;

  constructor(store: BatchingStore, tenant: Tenant, clock: () => number) {
    this.#store = store;
    this.#tenant = tenant;
    this.#clock = clock;
  }

  /** Returns false if another process was faster. */
  async take(stored: StoredFigures | null): Promise<boolean> {
    return this.#put(stored?.countingUntil ?? null, this.#clock() + CLAIM_MS, null);
  }

  /** Throws if another process has taken over. */
  async extend(): Promise<void> {
    const until = this.#clock() + CLAIM_MS;
    if (this.#until === null || until - this.#until < CLAIM_MS / 2) return;
    if (!(await this.#put(this.#until, until, null))) throw new TakenOver();
  }

  async end(counted: NewFigures): Promise<void> {
    await this.#put(this.#until, 0, counted);
  }

  async #put(expected: number | null, countingUntil: number, counted: NewFigures | null): Promise<boolean> {
    const isPut = await this.#store.write({
      kind: 'putFigures',
      tenant: this.#tenant,
      expected,
      countingUntil,
      counted,
    });
    if (isPut) this.#until = countingUntil;
    return isPut;
  }
}

class TakenOver extends Error {
  override readonly name = 'TakenOver';
}

function figuresIn(stored: StoredFigures | null): CountedFigures | null {
  if (stored === null || stored.countedAt === null || stored.figures === null) return null;
  return { ...(JSON.parse(stored.figures) as Figures), countedAt: stored.countedAt };
}

function isExpected(error: unknown): boolean {
  return (
    error instanceof StoreUnavailable ||
    error instanceof TakenOver ||
    error === OVERLOADED ||
    (error instanceof Error && error.name === 'AbortError')
  );
}
