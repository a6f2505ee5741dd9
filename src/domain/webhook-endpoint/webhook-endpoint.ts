// A webhook endpoint: where events are delivered. Stored as a document; its secrets are encrypted.

import type { Document, DocumentDefinition, DocumentKey } from '../document.ts';
import { type EventType, eventTypes } from '../event/event.ts';
import type { JsonText } from '../json/strict-json.ts';
import { bodyType } from '../request-body.ts';
import type { DeliveryKey, WebhookEndpointKey } from './delivery.ts';
import { MAX_URL_LENGTH } from './webhook-address.ts';

/** Subscribes to every type. */
export const ALL_EVENTS = '*';

export const webhookEndpointDefinition = {
  kind: 'webhook_endpoint',
  noun: 'webhook endpoint',
  limit: { documents: 100, bytes: 1024 * 1024 },
} as const satisfies DocumentDefinition;

export interface WebhookEndpointBody {
  url: string;
  event_types: readonly (EventType | typeof ALL_EVENTS)[];
  enabled: boolean;
}

/** The JSON Schemas of the fields. */
export const webhookEndpointFields = {
  url: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_URL_LENGTH,
    description:
      'Where events are sent by POST: an https or http URL without credentials or fragment. Do not put a secret into it: ' +
      'unlike the signing secret, it is shown in reads and events.',
  },
  event_types: {
    type: 'array',
    minItems: 1,
    uniqueItems: true,
    items: { title: 'SubscribedEventType', type: 'string', enum: [ALL_EVENTS, ...eventTypes] },
    description: `The types of event to deliver; \`${ALL_EVENTS}\` for all, including types that later versions add.`,
  },
  enabled: {
    type: 'boolean',
    default: true,
    description:
      'Whether events are delivered. The service sets it to false when the receiver returns 410, or has failed for five ' +
      'days.',
  },
} as const;

export const webhookEndpointBody = bodyType({
  name: 'WebhookEndpoint',
  fields: webhookEndpointFields,
  required: ['url', 'event_types'],
  convert: ({ value }): WebhookEndpointBody => ({ enabled: true, ...value }),
});

export interface WebhookEndpoint extends WebhookEndpointBody {
  id: string;
  receives(type: EventType): boolean;
}

export function parseWebhookEndpoint({ id, body }: Pick<Document, 'id' | 'body'>): WebhookEndpoint {
  const fields = JSON.parse(body) as WebhookEndpointBody;
  const types = new Set<string>(fields.event_types);
  const receives = (type: EventType) => fields.enabled && (types.has(ALL_EVENTS) || types.has(type));
  return { id, ...fields, receives };
}

export function webhookEndpointText({ url, event_types, enabled }: WebhookEndpointBody): JsonText {
  return JSON.stringify({ url, event_types, enabled }) as JsonText;
}

export function endpointDocumentKey({
  workspaceId,
  environment,
  endpointId,
}: WebhookEndpointKey | DeliveryKey): DocumentKey {
  return { workspaceId, environment, kind: 'webhook_endpoint', id: endpointId };
}
