// Metric of readiness, which makes an outage visible although no request arrives.

import { setImmediate } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { addGauge } from './gauge.ts';

export class Readiness {
  /** null while the process starts, for example because it waits for its database. */
  #check: (() => Promise<void>) | null = null;

  constructor(registry: Registry) {
    addGauge(registry, {
      name: 'user_group_service_ready',
      help: '1 if /readyz returns 200, otherwise 0.',
      read: async () => ((await this.#isReady()) ? 1 : 0),
    });
  }

  /** `check` rejects if the process is not ready. */
  watch(check: () => Promise<void>): void {
    this.#check = check;
  }

  async #isReady(): Promise<boolean> {
    if (this.#check === null) return false;
    // Waits, because the other metrics are collected in this turn: the queues must not contain the queries of
    // the check.
    await setImmediate();
    return this.#check().then(
      () => true,
      () => false,
    );
  }
}
