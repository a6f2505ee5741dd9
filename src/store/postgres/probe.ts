// Asks a server that has fallen silent whether it is back. One asks for all: of the many who want something of the
// server meanwhile nobody waits as long as a connection may take.

import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 400;

export class Probe {
  readonly #connect: () => Promise<void>;
  #running: { startedAt: number; connected: Promise<void> } | null = null;

  /** `connect` rejects where no connection can be had, in its own time. */
  constructor(connect: () => Promise<void>) {
    this.#connect = connect;
  }

  /** Resolves when a connection has come. Rejects as `connect` does, or where there has been none for a while. */
  async wait(): Promise<void> {
    this.#running ??= this.#start();
    const { startedAt, connected } = this.#running;
    const timer = new AbortController();
    const patienceMs = Math.max(0, startedAt + PATIENCE_MS - performance.now());
    const late = sleep(patienceMs, null, { signal: timer.signal }).then(() => {
      throw new Error('the server has not answered for a while');
    });
    late.catch(() => {});
    await Promise.race([connected, late]).finally(() => timer.abort());
  }

  #start(): { startedAt: number; connected: Promise<void> } {
    const connected = this.#connect().finally(() => {
      this.#running = null;
    });
    connected.catch(() => {});
    return { startedAt: performance.now(), connected };
  }
}
