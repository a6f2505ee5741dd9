// Warns about webhook endpoints that have been failing for an hour, whose secret cannot be decrypted, or that were
// disabled, at most once an hour each: a tenant can enable an endpoint again and again.

import type { Logger } from 'pino';
import { HOUR_MS, timestamp } from '../domain/instant.ts';
import { endpointKeyToString, type WebhookEndpointKey } from '../domain/webhook-endpoint/delivery.ts';

/** Maximum failing endpoints logged in an interval; "webhook list" shows all. */
const MAX_ENDPOINTS = 100;
/** Maximum endpoints of one workspace for each kind of warning, so that it hides no others. */
const MAX_OF_WORKSPACE = 10;

export class WebhookEndpointLog {
  readonly #log: Logger;
  /** Endpoints logged in this interval, each with its kind of warning. */
  readonly #logged = new Set<string>();
  /** Number of endpoints logged in this interval, by kind of warning and workspace. */
  readonly #counts = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** An attempt has failed, as has every other one since `failingSince` (milliseconds since 1970). */
  failing(endpoint: WebhookEndpointKey, reason: string, failingSince: number, now: number): void {
    if (now - failingSince < HOUR_MS) return;
    if (!this.#isFirst('failing', endpoint)) return;
    this.#log.warn(
      { ...endpoint, reason, failingSince: timestamp(failingSince) },
      'webhooks: an endpoint has been failing for more than an hour',
    );
  }

  /** Nothing can be sent to an endpoint, because nothing can be signed for it. */
  unreadable(endpoint: WebhookEndpointKey, reason: string): void {
    if (!this.#isFirst('unreadable', endpoint)) return;
    this.#log.error({ ...endpoint, reason }, 'webhooks: the secret of an endpoint cannot be decrypted');
  }

  /** The service has disabled an endpoint because of this failure. */
  disabled(endpoint: WebhookEndpointKey, reason: string): void {
    if (!this.#isFirst('disabled', endpoint)) return;
    this.#log.warn({ ...endpoint, reason }, 'webhooks: an endpoint was disabled');
  }

  #isFirst(warning: string, endpoint: WebhookEndpointKey): boolean {
    const key = `${warning} ${endpointKeyToString(endpoint)}`;
    const workspace = `${warning} ${endpoint.workspaceId}`;
    const count = this.#counts.get(workspace) ?? 0;
    if (this.#logged.size >= MAX_ENDPOINTS || count >= MAX_OF_WORKSPACE || this.#logged.has(key))
      return false;
    this.#logged.add(key);
    this.#counts.set(workspace, count + 1);
    this.#timer ??= setTimeout(() => this.#startInterval(), HOUR_MS).unref();
    return true;
  }

  #startInterval(): void {
    this.#timer = null;
    this.#logged.clear();
    this.#counts.clear();
  }
}
