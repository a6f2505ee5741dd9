import type { DeliveryState, WebhookEndpointKey } from '../domain/webhook-endpoint/delivery.ts';

/** Observes deliveries, for metrics. */
export interface WebhookObserver {
  /** An attempt has ended; `pending`: it will be retried. */
  attempted(state: DeliveryState, durationMs: number): void;
  /** The service has disabled an endpoint. */
  disabled(): void;
}

/** Observes endpoints that need attention, for the log. Instants are milliseconds since 1970. */
export interface EndpointObserver {
  /** An attempt has failed, as has every other one since `failingSince`. */
  failing(endpoint: WebhookEndpointKey, reason: string, failingSince: number, now: number): void;
  /** The service has disabled an endpoint because of this failure. */
  disabled(endpoint: WebhookEndpointKey, reason: string): void;
}
