// A webhook endpoint: where events are delivered. Stored as a document; its secrets are encrypted.

import type { Document, DocumentDefinition, DocumentKey } from '../document.ts';
import type { EventType } from '../event/event.ts';
import { jsonText } from '../json/json-tree.ts';
import type { JsonText } from '../json/strict-json.ts';
import type { WebhookEndpointKey } from './delivery.ts';

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
  return jsonText({ url, event_types, enabled } satisfies WebhookEndpointBody);
}

export function endpointDocumentKey({
  workspaceId,
  environment,
  endpointId,
}: WebhookEndpointKey): DocumentKey {
  return { workspaceId, environment, kind: 'webhook_endpoint', id: endpointId };
}
