// Sends the deliveries of one endpoint. Its concurrency grows with each success and halves with each failure,
// so that a receiver that hangs or fails occupies few of the connections that all endpoints share.

import { eventJson } from '../domain/event/json.ts';
import { TokenUnreadable } from '../domain/key-ring.ts';
import {
  type Delivery,
  dueAt,
  dueByClockAhead,
  type WebhookEndpointKey,
} from '../domain/webhook-endpoint/delivery.ts';
import { webhookHeaders } from '../domain/webhook-endpoint/webhook-signature.ts';
import {
  claimDue,
  type DeliveryContext,
  type DueDeliveries,
  disableEndpoint,
  finishedAttempt,
  hasFailedTooLong,
  isDisabling,
  isGone,
  type Outcome,
  sendsTo,
} from '../operations/webhook-endpoint/delivery.ts';
import { recordHealth } from '../operations/webhook-endpoint/webhook-endpoint.ts';
import type { WebhookEndpointLog } from './endpoint-log.ts';
import type { WebhookObserver } from './observer.ts';
import type { OutcomeWriter } from './outcome-writer.ts';
import { patiently } from './patiently.ts';
import type { WebhookSender } from './sender.ts';
import type { Slots } from './slots.ts';

const FIRST_CONCURRENCY = 4;
const MAX_CONCURRENCY = 32;
/** Maximum number of attempts that run, or whose outcome is not stored yet. */
const MAX_UNFINISHED = 128;
/**
 * Maximum wait of a claim's commands for the database: the claim expires a fixed time after it was submitted.
 */
const CLAIM_WAIT_MS = 2_000;
/** Maximum wait of the commands that react to an outcome. */
const REACTION_WAIT_MS = 5_000;

interface Claimed extends DueDeliveries {
  /** Time by which the attempts have to end, before the claim expires (`performance.now()`). */
  deadline: number;
}

/** Options that the lanes of a process share. */
export interface SharedOptions {
  sender: WebhookSender;
  outcomes: OutcomeWriter;
  /** Slots for attempts, each held until its outcome is stored. */
  slots: Slots;
  claims: Slots;
  observer: WebhookObserver | null;
  endpointLog: WebhookEndpointLog;
  onError: (error: unknown) => void;
  /** Aborts when the process claims no more deliveries. */
  stopping: AbortSignal;
}

interface LaneOptions extends SharedOptions {
  context: DeliveryContext;
  /** Called when nothing is due and no attempt runs. */
  onIdle: () => void;
  /** Called when a failed attempt is stored, with the time of the next one. */
  onRetry: (at: number) => void;
}

export class Lane {
  readonly #endpoint: WebhookEndpointKey;
  readonly #options: LaneOptions;
  #concurrency = FIRST_CONCURRENCY;
  #failingSince: number | null = null;
  #isClaiming = false;
  #claiming: Promise<void> = Promise.resolve();
  /** Whether something may have become due since the last claim began. */
  #isWoken = false;
  /** Whether a clock that was ahead may have scheduled deliveries. */
  #hasAhead = false;
  /** Number of requests in progress. */
  #running = 0;
  /** Resolves when the next attempt or request ends. */
  #nextEnd = Promise.withResolvers<void>();
  readonly #attempts = new Set<Promise<void>>();

  constructor(endpoint: WebhookEndpointKey, options: LaneOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
  }

  wake(hasAhead = false): void {
    this.#isWoken = true;
    this.#hasAhead ||= hasAhead;
    if (!this.#isClaiming) this.#claiming = this.#claimAll();
  }

  /** Resolves when all attempts have ended; only for a dispatcher that is stopping. */
  async idle(): Promise<void> {
    await this.#claiming;
    while (this.#attempts.size > 0) await Promise.all(this.#attempts);
  }

  async #claimAll(): Promise<void> {
    this.#isClaiming = true;
    try {
      while (this.#isWoken && !this.#options.stopping.aborted) {
        this.#isWoken = false;
        while (await this.#claimPatiently(dueAt));
        if (!this.#hasAhead) continue;
        this.#hasAhead = false;
        while (await this.#claimPatiently(dueByClockAhead));
      }
    } catch (error) {
      this.#claimFailed(error);
    }
    this.#isClaiming = false;
    this.#checkIdle();
  }

  #claimFailed(error: unknown): void {
    const { endpointLog, onError } = this.#options;
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof TokenUnreadable) endpointLog.unreadable(this.#endpoint, cause.message);
    else onError(error);
  }

  #checkIdle(): void {
    if (!this.#isClaiming && this.#attempts.size === 0) this.#options.onIdle();
  }

  /** Repeats a claim that the database fails. A pause holds no slots. */
  #claimPatiently(rangeAt: typeof dueAt): Promise<boolean> {
    return patiently(() => this.#claim(rangeAt), { signal: this.#options.stopping });
  }

  /** Claims due deliveries and starts their attempts. Returns whether more may be due. */
  async #claim(rangeAt: typeof dueAt): Promise<boolean> {
    const { slots } = this.#options;
    const { workspaceId } = this.#endpoint;
    while (this.#running >= this.#concurrency || this.#attempts.size >= MAX_UNFINISHED)
      await this.#nextEnd.promise;
    const taken = await slots.take(workspaceId, Math.max(1, this.#concurrency - this.#running));
    const failingSince = this.#failingSince;
    let due: Claimed | null = null;
    try {
      due = await this.#claimDue(taken, rangeAt);
    } finally {
      slots.release(workspaceId, taken - (due?.deliveries.length ?? 0));
    }
    if (due === null) return false;
    // An outcome that was recorded meanwhile is newer than what the claim has read.
    if (this.#failingSince === failingSince) this.#failingSince = due.failingSince;
    if (due.failingSince !== null) this.#concurrency = 1;
    for (const delivery of due.deliveries) this.#start(delivery, due);
    return due.deliveries.length === taken;
  }

  async #claimDue(limit: number, rangeAt: typeof dueAt): Promise<Claimed | null> {
    const { claims, stopping, sender } = this.#options;
    const { workspaceId } = this.#endpoint;
    const claiming = await claims.take(workspaceId, 1);
    try {
      if (stopping.aborted) return null;
      // Starts before the claim: after a pause of the process, the claim may have expired, and the endpoint have another URL.
      const deadline = sender.deadline();
      const due = await claimDue(this.#contextFor(CLAIM_WAIT_MS), this.#endpoint, limit, rangeAt);
      return due && { ...due, deadline };
    } finally {
      claims.release(workspaceId, claiming);
    }
  }

  /** Returns a context whose queries and commands fail if they wait longer. */
  #contextFor(waitMs: number): DeliveryContext {
    const { context } = this.#options;
    return { ...context, store: context.store.until(performance.now() + waitMs) };
  }

  #start(delivery: Delivery, due: Claimed): void {
    this.#running++;
    const attempt = this.#attempt(delivery, due)
      .catch(this.#options.onError)
      .finally(() => {
        this.#attempts.delete(attempt);
        this.#options.slots.release(this.#endpoint.workspaceId, 1);
        this.#ended();
        this.#checkIdle();
      });
    this.#attempts.add(attempt);
  }

  /** Lets the loop of claims continue. */
  #ended(): void {
    this.#nextEnd.resolve();
    this.#nextEnd = Promise.withResolvers();
  }

  async #attempt(delivery: Delivery, claimed: Claimed): Promise<void> {
    const { context, sender, outcomes, observer } = this.#options;
    const startedAt = performance.now();
    const outcome = await this.#send(delivery, claimed).finally(() => {
      // The next request may start while the outcome of this one is being stored.
      this.#running--;
      this.#ended();
    });
    // The claim of an aborted attempt expires, and another process takes over.
    if (sender.isAborted && outcome?.status == null) return;
    const now = context.clock();
    const isFinal = outcome === null || isGone(outcome);
    const durationMs = Math.round(performance.now() - startedAt);
    const finished = finishedAttempt(delivery, outcome ?? EVENT_DELETED, { at: now, durationMs, isFinal });
    await outcomes.write(finished);
    if (outcome === null) return;
    if (finished.nextAttemptAt !== null) this.#options.onRetry(finished.nextAttemptAt);
    observer?.attempted(finished.state, durationMs);
    await this.#react(outcome, claimed, now, delivery);
  }

  /** Returns null if retention has deleted the event. */
  async #send(delivery: Delivery, { url, secrets, deadline }: Claimed): Promise<Outcome | null> {
    const { context, sender, stopping } = this.#options;
    const store = context.store.until(deadline);
    // Not left to the end of the claim: nothing else would send the webhook until then.
    const find = () => store.inTime(store.read({ kind: 'findEvent', key: delivery }));
    const event = await patiently(find, { deadline, signal: stopping });
    if (event === null) return null;
    await context.cpu.turn(event.changes?.length ?? 0);
    const body = eventJson(event);
    const headers = webhookHeaders(secrets, { id: event.eventId, now: context.clock(), body });
    return sender.send({ workspaceId: this.#endpoint.workspaceId, url, headers, body }, deadline);
  }

  async #react(outcome: Outcome, { url, tag }: Claimed, now: number, delivery: Delivery): Promise<void> {
    const { endpointLog, observer } = this.#options;
    const context = this.#contextFor(REACTION_WAIT_MS);
    if (outcome.error === null) {
      this.#concurrency = Math.min(MAX_CONCURRENCY, this.#concurrency + 1);
      if (this.#failingSince === null) return;
      this.#failingSince = null;
      await recordHealth(context, this.#endpoint, null);
      return;
    }
    this.#concurrency = Math.max(1, this.#concurrency >> 1);
    if (!(await sendsTo(context, this.#endpoint, url))) return;
    // A success elsewhere, or a change of the endpoint, may have ended the count of failures.
    if (this.#failingSince === null || hasFailedTooLong(this.#failingSince, now))
      this.#failingSince = await recordHealth(context, this.#endpoint, now);
    endpointLog.failing(this.#endpoint, outcome.error, this.#failingSince ?? now, now);
    if (!isDisabling(outcome, delivery, this.#failingSince, now)) return;
    if (await disableEndpoint(context, this.#endpoint, tag)) {
      observer?.disabled();
      endpointLog.disabled(this.#endpoint, outcome.error);
    }
    this.wake();
  }
}

const EVENT_DELETED: Outcome = { status: null, error: 'the event is no longer kept' };
