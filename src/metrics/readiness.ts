// Whether the process is ready: an outage is visible although no request arrives.

import { setImmediate } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';

export class Readiness {
  /** null while the process starts, for example because it waits for its database. */
  #check: (() => Promise<void>) | null = null;

  constructor(registry: Registry) {
    const isReady = () => this.#isReady();
    new Gauge({
      name: 'user_group_service_ready',
      help: '1 if /readyz returns 200, otherwise 0.',
      registers: [registry],
      async collect() {
        this.set((await isReady()) ? 1 : 0);
      },
    });
  }

  /** `check` rejects if the process is not ready. */
  watch(check: () => Promise<void>): void {
    this.#check = check;
  }

  async #isReady(): Promise<boolean> {
    if (this.#check === null) return false;
    // The other metrics are collected in this turn: the queues must not contain the queries of the check.
    await setImmediate();
    return this.#check().then(
      () => true,
      () => false,
    );
  }
}
