// Timers for the first retries of failed attempts, which a poll would find up to more than a second late.

import { endpointKeyToString, type WebhookEndpointKey } from '../domain/webhook-endpoint/delivery.ts';
import { FairShare } from '../scheduling/fair-share.ts';

/** Maximum delay of a timer. Later retries are minutes away, and polls find them. */
const SOON_MS = 10_000;
/** Width of a time slot: retries to one endpoint in the same slot share a timer. */
const SLOT_MS = 100;
/** Maximum number of timers, which workspaces share fairly; polls find the other retries. */
const MAX_TIMERS = 10_000;

export class RetryTimers {
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #share = new FairShare(MAX_TIMERS);
  readonly #wake: (endpoint: WebhookEndpointKey) => void;

  constructor(wake: (endpoint: WebhookEndpointKey) => void) {
    this.#wake = wake;
  }

  /** Wakes the endpoint at time `at`, if that is soon. */
  add(endpoint: WebhookEndpointKey, at: number, now: number): void {
    const slot = Math.ceil(at / SLOT_MS);
    const name = `${endpointKeyToString(endpoint)}/${slot}`;
    const delayMs = Math.max(0, slot * SLOT_MS - now);
    const { workspaceId } = endpoint;
    if (delayMs > SOON_MS || this.#timers.has(name) || !this.#share.admits(workspaceId)) return;
    this.#share.take(workspaceId, 1);
    const wake = () => {
      this.#timers.delete(name);
      this.#share.release(workspaceId, 1);
      this.#wake(endpoint);
    };
    this.#timers.set(name, setTimeout(wake, delayMs).unref());
  }

  clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
