// A delivery: one event on its way to one webhook endpoint.

import type { Bucket } from '../bucket.ts';
import type { EventTarget, EventType } from '../event/event.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../instant.ts';
import type { Environment, Tenant } from '../tenant.ts';

export const deliveryStates = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export interface WebhookEndpointKey extends Tenant {
  readonly endpointId: string;
}

/** A place in the order of the endpoints: an endpoint, or the start of a workspace. */
export interface EndpointPosition {
  readonly workspaceId: number;
  readonly environment: Environment | '';
  readonly endpointId: string;
}

/** Returns the position before the first endpoint of the workspace. */
export function startOfWorkspace(workspaceId: number): EndpointPosition {
  return { workspaceId, environment: '', endpointId: '' };
}

export interface DeliveryKey extends WebhookEndpointKey {
  bucket: Bucket;
  eventId: string;
}

/** Instants are milliseconds since 1970. */
export interface Delivery extends DeliveryKey {
  /** Position of the event. */
  position: number;
  eventType: EventType;
  target: EventTarget;
  state: DeliveryState;
  attempts: number;
  /** null unless pending. While an attempt runs: when another process may take over. */
  nextAttemptAt: number | null;
  lastAttemptAt: number | null;
  responseStatus: number | null;
  /** Reason for the failure of the last attempt; null after a success. */
  error: string | null;
  createdAt: number;
  /** Written by `addAttempt`. */
  attemptLog: string | null;
}

/** One attempt of a delivery. */
export interface Attempt {
  /** Instant at which it ended. */
  at: number;
  durationMs: number;
  responseStatus: number | null;
  /** null after a success. */
  error: string | null;
}

/** More than a delivery has before it is given up: the log also has attempts from before a redelivery. */
export const MAX_LOGGED_ATTEMPTS = 10;

/** Returns the log with this attempt, without the oldest one if there are too many. */
export function addAttempt(log: string | null, attempt: Attempt): string {
  return JSON.stringify([...parseAttempts(log), attempt].slice(-MAX_LOGGED_ATTEMPTS));
}

/** Returns the oldest first. Attempts of processes of an earlier version are missing. */
export function parseAttempts(log: string | null): Attempt[] {
  return log === null ? [] : (JSON.parse(log) as Attempt[]);
}

/** Changes that an attempt makes to its delivery. */
export interface FinishedAttempt
  extends Pick<Delivery, 'state' | 'nextAttemptAt' | 'responseStatus' | 'error'> {
  key: DeliveryKey;
  /**
   * `nextAttemptAt` while the attempt ran. If another process has claimed the delivery since, or given it up, only a
   * success is stored; if the delivery was requested again and is due earlier, nothing is.
   */
  claimedUntil: number;
  attemptedAt: number;
  attemptLog: string;
}

/** Delays after the first attempt, the second, and so on. After the last attempt the delivery has failed. */
const RETRY_DELAYS_MS = [
  5_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  DAY_MS,
] as const;
/** A delay is up to this part longer, so that the deliveries of an outage do not return all at once. */
const JITTER = 0.2;

/** Longer than any delay and the difference between the clocks of processes. */
export const MAX_DELAY_MS = 2 * DAY_MS;

/** Instants, both included. */
export interface DueRange {
  from: number;
  to: number;
}

export function dueAt(now: number): DueRange {
  return { from: 0, to: now };
}

/** Range of the deliveries that a clock that was ahead has scheduled: they may be due only after years. */
export function dueByClockAhead(now: number): DueRange {
  return { from: now + MAX_DELAY_MS, to: Number.MAX_SAFE_INTEGER };
}

export function isIn({ from, to }: DueRange, instant: number): boolean {
  return from <= instant && instant <= to;
}

/** An endpoint that has failed for so long is disabled. */
export const MAX_FAILING_MS = 5 * DAY_MS;
/**
 * Number of failed attempts of the delivery that disables an endpoint: after days without events, a single
 * failure does not show that the receiver is down.
 */
export const DISABLING_ATTEMPTS = 3;

/** Returns when to retry after `attempts` attempts; null if the delivery is given up. */
export function retryAt(attempts: number, now: number, random = Math.random()): number | null {
  const delayMs = RETRY_DELAYS_MS[attempts - 1];
  return delayMs === undefined ? null : Math.round(now + delayMs * (1 + JITTER * random));
}

export function endpointKeyToString({ workspaceId, environment, endpointId }: WebhookEndpointKey): string {
  return `${workspaceId}/${environment}/${endpointId}`;
}
