import type { DeliveryState } from '../domain/webhook-endpoint/delivery.ts';

/** Observes deliveries, for metrics. */
export interface WebhookObserver {
  /** An attempt has ended; `pending`: it will be retried. */
  attempted(state: DeliveryState, durationMs: number): void;
  /** The service has disabled an endpoint. */
  disabled(): void;
}
