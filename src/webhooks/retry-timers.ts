// Timers for the first retries of failed attempts. Polls find retries too, but up to more than a second after they are
// due.

import { endpointKeyToString, type WebhookEndpointKey } from '../domain/webhook-endpoint/delivery.ts';

/** Polls find later retries, which are minutes away. */
const SOON_MS = 10_000;
/** Retries to one endpoint within this time share a timer. */
const SLOT_MS = 100;
/** Polls find later retries. */
const MAX_TIMERS = 10_000;

export class RetryTimers {
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #wake: (endpoint: WebhookEndpointKey) => void;

  constructor(wake: (endpoint: WebhookEndpointKey) => void) {
    this.#wake = wake;
  }

  /** Wakes the endpoint at the time, if that is soon. */
  add(endpoint: WebhookEndpointKey, at: number, now: number): void {
    const slot = Math.ceil(at / SLOT_MS);
    const name = `${endpointKeyToString(endpoint)}/${slot}`;
    const delayMs = Math.max(0, slot * SLOT_MS - now);
    if (delayMs > SOON_MS || this.#timers.size >= MAX_TIMERS || this.#timers.has(name)) return;
    const wake = () => {
      this.#timers.delete(name);
      this.#wake(endpoint);
    };
    this.#timers.set(name, setTimeout(wake, delayMs).unref());
  }

  clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
