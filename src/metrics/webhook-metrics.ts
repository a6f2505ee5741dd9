// Metrics of deliveries to webhook endpoints.

import { Counter, type Registry } from 'prom-client';
import type { DeliveryState } from '../domain/webhook-endpoint/delivery.ts';
import type { WebhookObserver } from '../webhooks/observer.ts';
import { Histogram, type Series } from './histogram.ts';

const SECONDS = [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 15];
/** Label of an attempt by the state of the delivery after it. */
const OUTCOMES = { delivered: 'delivered', pending: 'retried', failed: 'failed' } as const satisfies Record<
  DeliveryState,
  string
>;

export class WebhookMetrics implements WebhookObserver {
  readonly #attempts: Counter<'outcome'>;
  readonly #disabled: Counter;
  readonly #durations: Series;

  constructor(registry: Registry) {
    this.#attempts = new Counter({
      name: 'webhook_deliveries_total',
      help: 'Attempts to deliver a webhook: delivered, retried (failed for now) or failed (given up).',
      labelNames: ['outcome'],
      registers: [registry],
    });
    for (const outcome of Object.values(OUTCOMES)) this.#attempts.inc({ outcome }, 0);
    this.#disabled = new Counter({
      name: 'webhook_endpoints_disabled_total',
      help: 'Webhook endpoints that the service has disabled, because they are gone or have failed for five days.',
      registers: [registry],
    });
    this.#durations = new Histogram<never>(registry, {
      name: 'webhook_attempt_duration_seconds',
      help: 'Duration of an attempt to deliver a webhook.',
      buckets: SECONDS,
    }).series({});
  }

  attempted(state: DeliveryState, durationMs: number): void {
    this.#attempts.inc({ outcome: OUTCOMES[state] });
    this.#durations.observe(durationMs / 1_000);
  }

  disabled(): void {
    this.#disabled.inc();
  }
}
