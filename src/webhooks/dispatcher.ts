// Delivers webhooks. Events that this process recorded are sent immediately, and first retries by timers;
// polling finds later retries and the events of other processes. Any number of processes share the work,
// because each claims a delivery in the database first.

import type { Logger } from 'pino';
import {
  dueByClockAhead,
  endpointKeyToString,
  isIn,
  type WebhookEndpointKey,
} from '../domain/webhook-endpoint/delivery.ts';
import type { Context } from '../operations/context.ts';
import { readForScrape } from '../operations/machinery/read-for-scrape.ts';
import type { DeliveryContext } from '../operations/webhook-endpoint/delivery.ts';
import { withDeadline } from '../scheduling/timeout.ts';
import { WebhookEndpointLog } from './endpoint-log.ts';
import { Lane, type SharedOptions } from './lane.ts';
import type { WebhookObserver } from './observer.ts';
import { OutcomeWriter } from './outcome-writer.ts';
import { PendingEndpoints } from './pending-endpoints.ts';
import { RetryTimers } from './retry-timers.ts';
import { type SenderOptions, WebhookSender } from './sender.ts';
import { Slots } from './slots.ts';
import { onDueDeliveries } from './written-deliveries.ts';

/** Maximum number of webhooks that this process sends at the same time. */
const MAX_IN_FLIGHT = 256;
/**
 * Maximum number of endpoints whose deliveries this process claims at the same time. More would delay the
 * changes of callers.
 */
const MAX_CLAIMING = 16;
const FIRST_POLL_MS = 100;
const POLL_MS = 1_000;
/** Maximum poll interval while nothing is pending. */
const MAX_POLL_MS = 5_000;
const MAX_COUNTED = 10_000;

/** Time to store the outcomes of completed attempts after the others were aborted. */
const STORING_MS = 1_000;

interface DispatcherOptions extends SenderOptions {
  context: Context;
  observer: WebhookObserver | null;
  log: Logger;
  /** Called for a bug: failures of the database are reported elsewhere. */
  onError: (error: unknown) => void;
}

export class WebhookDispatcher {
  readonly #context: DeliveryContext;
  readonly #shared: SharedOptions;
  readonly #pending: PendingEndpoints;
  readonly #lanes = new Map<string, Lane>();
  readonly #retries = new RetryTimers((endpoint) => this.#wake(endpoint));
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #polled: Promise<void> = Promise.resolve();
  #pollMs = POLL_MS;

  constructor({ context, observer, log, onError, ...options }: DispatcherOptions) {
    this.#context = { ...context, origin: { via: 'service', requestId: null } };
    this.#shared = {
      sender: new WebhookSender(options),
      outcomes: new OutcomeWriter(context.store, onError),
      slots: new Slots(MAX_IN_FLIGHT),
      claims: new Slots(MAX_CLAIMING),
      observer,
      endpointLog: new WebhookEndpointLog(log),
      onError,
      stopping: this.#stopping.signal,
    };
    this.#pending = new PendingEndpoints(context.store);
  }

  start(): void {
    onDueDeliveries(this.#context.store, (endpoints) => this.wake(endpoints));
    this.#pollAfter(FIRST_POLL_MS);
  }

  /** Sends the due deliveries of the endpoints. */
  wake(endpoints: readonly WebhookEndpointKey[]): void {
    for (const endpoint of endpoints) this.#wake(endpoint);
  }

  #wake(endpoint: WebhookEndpointKey, hasAhead = false): void {
    if (this.#stopping.signal.aborted) return;
    const name = endpointKeyToString(endpoint);
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = this.#newLane(endpoint, name);
      this.#lanes.set(name, lane);
    }
    lane.wake(hasAhead);
  }

  #newLane(endpoint: WebhookEndpointKey, name: string): Lane {
    const { workspaceId } = endpoint;
    const { store, cpu, ...context } = this.#context;
    return new Lane(endpoint, {
      ...this.#shared,
      context: { ...context, store: store.forTenant(workspaceId), cpu: cpu.forTenant(workspaceId) },
      onIdle: () => this.#lanes.delete(name),
      onRetry: (at) => this.#retries.add(endpoint, at, context.clock()),
    });
  }

  /** Counts the pending deliveries of all processes, up to `MAX_COUNTED`; for metrics. */
  countPending(): Promise<number> {
    return readForScrape(this.#context.store, { kind: 'countPendingDeliveries', atMost: MAX_COUNTED });
  }

  /**
   * Waits for the running poll and attempts, and aborts the attempts after `timeoutMs`. Other processes take
   * over due deliveries, and those whose outcome cannot be stored.
   */
  async stop(timeoutMs: number): Promise<void> {
    const { sender, slots, claims } = this.#shared;
    this.#stopping.abort();
    clearTimeout(this.#timer);
    this.#retries.clear();
    for (const each of [slots, claims]) each.close();
    const idle = Promise.all([this.#polled, ...[...this.#lanes.values()].map((lane) => lane.idle())]);
    await endedWithin(timeoutMs, idle);
    sender.abort();
    await endedWithin(STORING_MS, idle);
    sender.close();
  }

  #pollAfter(delayMs: number): void {
    if (this.#stopping.signal.aborted) return;
    const jittered = delayMs * (0.8 + 0.4 * Math.random());
    const poll = async () => {
      const nextMs = await this.poll().catch((error: unknown) => {
        this.#shared.onError(error);
        return Math.max(delayMs, POLL_MS);
      });
      this.#pollAfter(nextMs);
    };
    this.#timer = setTimeout(() => {
      this.#polled = poll();
    }, jittered).unref();
  }

  /** Sends the due deliveries. Returns the delay until the next poll, in milliseconds. */
  async poll(): Promise<number> {
    const isAnyPending = await this.#pending.visit(({ endpoint, dueAt }) => {
      const now = this.#context.clock();
      const isAhead = isIn(dueByClockAhead(now), dueAt);
      if (dueAt <= now || isAhead) this.#wake(endpoint, isAhead);
    });
    this.#pollMs = isAnyPending ? POLL_MS : Math.min(2 * this.#pollMs, MAX_POLL_MS);
    return this.#pollMs;
  }
}

async function endedWithin(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  const timedOut = () => new Error('timed out');
  await withDeadline(performance.now() + timeoutMs, work, timedOut).catch(() => {});
}
