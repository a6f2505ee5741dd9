// Types of webhook endpoints and deliveries as transmitted.

import type { PageRequest } from './page.ts';
import type { Schemas } from './schemas.ts';
import type { Event } from './wire.ts';

export type EventType = Exclude<Schemas['SubscribedEventType'], '*'>;

export interface WebhookEndpointRequest extends Omit<Schemas['WebhookEndpoint'], 'event_types'> {
  /**
   * Types of the events to send, or `*` for all. Accepts types that are newer than this version of the
   * client.
   */
  event_types: readonly (EventType | '*' | (string & {}))[];
}

export interface WebhookEndpoint extends Omit<Schemas['WebhookEndpointDocument'], 'event_types'> {
  event_types: string[];
}

export interface PutWebhookEndpointResult {
  webhook_endpoint: WebhookEndpoint;
  /** Secret that signs the webhooks; present only if the call created the endpoint. */
  secret?: string;
  etag: string;
}

/** Until `previous_secret_expires_at` webhooks also carry a signature of the replaced secret. */
export interface RotatedWebhookEndpoint
  extends Omit<Schemas['RotatedWebhookEndpoint'], 'success' | 'webhook_endpoint'> {
  webhook_endpoint: WebhookEndpoint;
  etag: string;
}

export interface WebhookDelivery extends Omit<Schemas['WebhookDelivery'], 'event_type'> {
  event_type: string;
}

export interface WebhookDeliveryRequest extends PageRequest {
  /** Only deliveries in this state. */
  state?: WebhookDelivery['state'] | undefined;
}

/** Delivery with its last attempts, and with the event as the receiver gets it if it is still kept. */
export interface StoredWebhookDelivery {
  delivery: WebhookDelivery & { recent_attempts: Schemas['WebhookAttempt'][] };
  event?: Event;
}

export type WebhookEndpointHealth = Schemas['WebhookEndpointHealth'];

/** Result of a redelivery; call again while `has_more` is true. */
export type FailedWebhooksRedelivered = Omit<Schemas['FailedWebhooksRedelivered'], 'success'>;
