// Events whose values the quota of their environment reduces.

import { Counter, type Registry } from 'prom-client';

export class EventMetrics {
  readonly #reduced: Counter;

  constructor(registry: Registry) {
    this.#reduced = new Counter({
      name: 'user_group_service_events_reduced_total',
      help: 'Events that were stored without their larger values, because the quota of their environment was used up.',
      registers: [registry],
    });
  }

  reduced(): void {
    this.#reduced.inc();
  }
}
