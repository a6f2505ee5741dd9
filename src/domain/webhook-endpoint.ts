// A webhook endpoint: where events are delivered. Stored as a document.

import type { Document } from './document.ts';
import type { EventType } from './event.ts';

/** Subscribes to every type. */
export const ALL_EVENTS = '*';

export interface WebhookEndpointBody {
  url: string;
  event_types: readonly (EventType | typeof ALL_EVENTS)[];
  enabled: boolean;
}

export interface WebhookEndpoint extends WebhookEndpointBody {
  id: string;
  receives(type: EventType): boolean;
}

export function webhookEndpointOf({ id, body }: Document): WebhookEndpoint {
  const fields = JSON.parse(body) as WebhookEndpointBody;
  const types = new Set<string>(fields.event_types);
  const receives = (type: EventType) => fields.enabled && (types.has(ALL_EVENTS) || types.has(type));
  return { id, ...fields, receives };
}
