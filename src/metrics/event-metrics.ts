// Metrics of events: those reduced because of the quota of their environment, the deletion of old ones, and the feed.

import { Counter, type Registry } from 'prom-client';
import { addGauge, orNaN } from './gauge.ts';

interface RetentionState {
  isFailing: boolean;
  lagMs: number;
}

export class EventMetrics {
  readonly #registry: Registry;
  readonly #reduced: Counter;
  readonly #retentionFailures: Counter;

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#reduced = new Counter({
      name: 'user_group_service_events_reduced_total',
      help: 'Events that were stored without their larger values, because the quota of their environment was used up.',
      registers: [registry],
    });
    this.#retentionFailures = new Counter({
      name: 'user_group_service_event_retention_failures_total',
      help: 'Failed runs of the deletion of old events.',
      registers: [registry],
    });
  }

  reduced(): void {
    this.#reduced.inc();
  }

  retentionFailed(): void {
    this.#retentionFailures.inc();
  }

  /** `measure` returns milliseconds. */
  watchFeed(measure: () => Promise<number>): void {
    addGauge(this.#registry, {
      name: 'user_group_service_event_feed_delay_seconds',
      help: 'For how long a transaction of PostgreSQL has held up the feed of events, since a scrape first saw it.',
      read: orNaN(async () => (await measure()) / 1_000),
    });
  }

  watchRetention(state: () => RetentionState): void {
    addGauge(this.#registry, {
      name: 'user_group_service_event_retention_failing',
      help: '1 if the last deletion of old events failed, otherwise 0.',
      read: () => (state().isFailing ? 1 : 0),
    });
    addGauge(this.#registry, {
      name: 'user_group_service_event_retention_lag_seconds',
      help: 'For how long the oldest event should have been deleted; NaN in the first minute of a process.',
      read: () => state().lagMs / 1_000,
    });
  }
}
