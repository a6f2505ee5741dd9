// Asks a server that could not be reached whether it is back. One asks for all: of the many who want something of the
// server meanwhile nobody waits as long as a connection may take, and the server is not stormed when it comes back.

import { settledBy } from '../deadline.ts';

const PATIENCE_MS = 400;
/** How long a failure is the answer to everybody, before the server is asked again. */
const REST_MS = 100;

export class Probe {
  readonly #connect: () => Promise<void>;
  #running: { startedAt: number; connected: Promise<void> } | null = null;
  #failure: { error: unknown; until: number } | null = null;

  /** `connect` rejects where no connection can be had, in its own time. */
  constructor(connect: () => Promise<void>) {
    this.#connect = connect;
  }

  /** Resolves when a connection has come. Rejects as `connect` does, or where there has been none for a while. */
  async wait(): Promise<void> {
    if (this.#failure !== null && performance.now() < this.#failure.until) throw this.#failure.error;
    this.#running ??= this.#start();
    const { startedAt, connected } = this.#running;
    const late = (): Error => new Error('the server has not answered for a while');
    await settledBy(startedAt + PATIENCE_MS, connected, late);
  }

  #start(): { startedAt: number; connected: Promise<void> } {
    const connected = this.#connect().finally(() => {
      this.#running = null;
    });
    connected.catch((error) => {
      this.#failure = { error, until: performance.now() + REST_MS };
    });
    return { startedAt: performance.now(), connected };
  }
}
