// The half-open state of the circuit breaker: one connection attempt at a time probes an unreachable server, on behalf
// of all callers. So callers fail fast, and the server is not flooded when it comes back.

import { withDeadline } from '../../../scheduling/timeout.ts';
import { connectError } from './errors.ts';

const TOTAL_TIMEOUT_MS = 400;
/** How long a failure is reported to all callers before the server is probed again. */
const BACKOFF_MS = 100;
/** The same for a rejected login: many of them lock the user out, or alarm those who watch for guessed passwords. */
const REJECTED_BACKOFF_MS = 1_000;

export class ReconnectProbe {
  readonly #connect: () => Promise<void>;
  #running: { startedAt: number; connected: Promise<void> } | null = null;
  #failure: { error: unknown; until: number } | null = null;

  /** `connect` has its own timeout and rejects if the server is unreachable. */
  constructor(connect: () => Promise<void>) {
    this.#connect = connect;
  }

  /** Resolves once connected. Rejects as `connect` does, or when the probe has taken too long. */
  async wait(): Promise<void> {
    if (this.#failure !== null && performance.now() < this.#failure.until) throw this.#failure.error;
    this.#running ??= this.#start();
    const { startedAt, connected } = this.#running;
    const late = (): Error => new Error('timed out waiting for the server to respond');
    await withDeadline(startedAt + TOTAL_TIMEOUT_MS, connected, late);
  }

  #start(): { startedAt: number; connected: Promise<void> } {
    const connected = this.#connect().finally(() => {
      this.#running = null;
    });
    connected.catch((error) => {
      const backoffMs = connectError(error).isTransient ? BACKOFF_MS : REJECTED_BACKOFF_MS;
      this.#failure = { error, until: performance.now() + backoffMs };
    });
    return { startedAt: performance.now(), connected };
  }
}
