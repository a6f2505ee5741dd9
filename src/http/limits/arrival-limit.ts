// Bounds the requests that start in one turn of the event loop: hundreds of connections may each send one at
// the same time, and a request uses about a tenth of a millisecond before it waits for the database or is
// refused. Tenants whose requests wait take turns, and among callers without a tenant, client addresses.
//
// While several tenants are active, each may start a few requests per period, and a period ends once the
// event loop has been idle for a part of it. Otherwise the connections of one busy tenant would keep the
// event loop occupied, and every step of another tenant's request would wait. If the event loop stays busy, a tenant
// with few requests waits for a fraction of the time.

import type { FastifyRequest } from 'fastify';
import { FairQueue, HEALTH_CHECKS_TENANT, UNKNOWN_TENANT } from '../../scheduling/fair-queue.ts';
import type { TenantActivity } from '../../scheduling/tenant-activity.ts';
import { hasSmallBody, postponeBody } from '../request/body.ts';

export const MAX_PER_TURN = 64;
/** Requests that each tenant may start in a period while several are active. */
export const MAX_PER_PERIOD = 16;
/** Idle time of a period relative to its busy time: busy tenants together use two thirds of the event loop. */
const IDLE_PER_BUSY = 0.5;
/**
 * Maximum number of waiting requests for which time is kept idle; they take a quarter of a second. Beyond it
 * the service is overloaded, and requests must be refused soon.
 */
const MAX_PACED = 1_024;
/** Minimum idle time to wait for: timers count whole milliseconds. */
const MIN_IDLE_MS = 0.5;
/** Maximum period of a tenant with so few waiting requests that the next period starts them all. */
const MAX_LIGHT_PERIOD_MS = 50;
/**
 * Maximum period of the others: work that has started before or without a request may keep the event loop busy, and if
 * the process was paused, that time looks busy.
 */
const MAX_PERIOD_MS = 250;
/**
 * Maximum wait for these periods, which are shorter while many requests wait, so that responses arrive in five seconds: the
 * steps of a request take up to four.
 */
const MAX_WAIT_MS = 1_000;

type Start = () => void;

export interface ArrivalOptions {
  /** Returns the tenant (a workspace id) that a request is probably from: it is not authenticated yet. */
  guessTenant: (request: FastifyRequest) => number;
  activity: TenantActivity;
  /** Returns what tells apart clients without a tenant. */
  findClient: (request: FastifyRequest) => string;
}

export class ArrivalLimit {
  readonly #waiting = new FairQueue<{ tenant: number; start: Start }>();
  /** Queues by client address: supervisors, verifiers and people who sign in do not wait for a flood from elsewhere. */
  readonly #byClient = new Map(
    [UNKNOWN_TENANT, HEALTH_CHECKS_TENANT].map((tenant) => [tenant, new FairQueue<Start, string>()]),
  );
  readonly #options: ArrivalOptions;
  /** Requests started since the last reset; a reset in every turn of the event loop would cost more. */
  #started = 0;
  /** Requests started by each tenant, while several are active. */
  readonly #startedByTenant = new Map<number, number>();
  #isResetScheduled = false;
  /** When the period ends even if the event loop was not idle for long enough; `performance.now()`. */
  #endsBy = 0;
  /** The same for tenants with few waiting requests. */
  #endsForLightBy = 0;
  /** Maximum number of waiting requests since there were none. */
  #mostWaiting = 0;
  #lastReset = performance.eventLoopUtilization();

  constructor(options: ArrivalOptions) {
    this.#options = options;
  }

  /** Runs `start` in this turn or in a later one. */
  admit(request: FastifyRequest, start: Start): void {
    const { activity, guessTenant } = this.#options;
    const tenant = activity.isShared ? guessTenant(request) : null;
    if (this.#started < MAX_PER_TURN && (tenant === null || this.#mayStart(tenant))) {
      this.#start(tenant, start);
      return;
    }
    if (!hasSmallBody(request.raw)) postponeBody(request.raw);
    this.#wait(tenant ?? guessTenant(request), request, start);
    this.#scheduleReset();
  }

  #wait(tenant: number, request: FastifyRequest, start: Start): void {
    const clients = this.#byClient.get(tenant);
    clients?.push(this.#options.findClient(request), start);
    this.#waiting.push(tenant, { tenant, start: clients === undefined ? start : () => clients.shift()!() });
  }

  #mayStart(tenant: number): boolean {
    return (this.#startedByTenant.get(tenant) ?? 0) < MAX_PER_PERIOD;
  }

  #start(tenant: number | null, start: Start): void {
    this.#started++;
    if (tenant !== null) this.#startedByTenant.set(tenant, (this.#startedByTenant.get(tenant) ?? 0) + 1);
    if (this.#started === MAX_PER_TURN) this.#scheduleReset();
    start();
  }

  #scheduleReset(): void {
    if (this.#isResetScheduled) return;
    this.#isResetScheduled = true;
    const now = performance.now();
    this.#endsForLightBy = now + MAX_LIGHT_PERIOD_MS;
    this.#endsBy = now + this.#maxPeriodMs();
    setImmediate(() => this.#resetAfterIdle());
  }

  /**
   * Resets if the event loop was idle for long enough. Otherwise pauses and checks again, because the
   * requests of this period may have kept the event loop busy meanwhile.
   */
  #resetAfterIdle(): void {
    const isPaced = this.#options.activity.isShared && this.#waiting.length <= MAX_PACED;
    const idleMs = isPaced ? this.#owedIdleMs() : 0;
    if (idleMs < MIN_IDLE_MS) {
      this.#reset();
      return;
    }
    if (performance.now() >= this.#endsForLightBy) this.#resetLight();
    const forLightMs = Math.max(MIN_IDLE_MS, this.#endsForLightBy - performance.now());
    setTimeout(() => this.#resetAfterIdle(), Math.min(idleMs, forLightMs));
  }

  #maxPeriodMs(): number {
    this.#mostWaiting = Math.max(this.#mostWaiting, this.#waiting.length);
    const periods = this.#mostWaiting / MAX_PER_PERIOD;
    return Math.max(MAX_LIGHT_PERIOD_MS, Math.min(MAX_PERIOD_MS, MAX_WAIT_MS / periods));
  }

  #owedIdleMs(): number {
    const { active, idle } = performance.eventLoopUtilization(this.#lastReset);
    return Math.min(active * IDLE_PER_BUSY - idle, this.#endsBy - performance.now());
  }

  #reset(): void {
    this.#isResetScheduled = false;
    this.#started = 0;
    this.#startedByTenant.clear();
    const { isShared } = this.#options.activity;
    if (isShared) this.#lastReset = performance.eventLoopUtilization();
    const limit = isShared ? MAX_PER_PERIOD * this.#waiting.tenants : MAX_PER_TURN;
    this.#startWaiting(Math.min(limit, MAX_PER_TURN));
    if (this.#waiting.length > 0) this.#scheduleReset();
    else this.#mostWaiting = 0;
  }

  /** Ends the period of tenants with few waiting requests, so that they wait less for the others. */
  #resetLight(): void {
    this.#endsForLightBy = performance.now() + MAX_LIGHT_PERIOD_MS;
    this.#started = 0;
    // Health checks and unknown callers are many tenants: a few of them must not wait because others are many.
    const isLight = (tenant: number) =>
      this.#byClient.has(tenant) || this.#waiting.lengthOf(tenant) <= MAX_PER_PERIOD;
    for (const tenant of this.#startedByTenant.keys())
      if (isLight(tenant)) this.#startedByTenant.delete(tenant);
    this.#startWaiting(MAX_PER_TURN, (tenant) => isLight(tenant) && this.#mayStart(tenant));
  }

  #startWaiting(limit: number, mayStart?: (tenant: number) => boolean): void {
    while (this.#started < limit) {
      const next = this.#waiting.shift(mayStart);
      if (next === undefined) return;
      this.#start(next.tenant, next.start);
    }
  }
}
