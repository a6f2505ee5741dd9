import type { Document } from '../../domain/document.ts';
import {
  ALL_EVENTS,
  parseWebhookEndpoint,
  webhookEndpointDefinition,
} from '../../domain/webhook-endpoint/webhook-endpoint.ts';
import { documentList } from '../document-pages.ts';
import { type Html, link, pathTo, table, time } from '../html.ts';
import { ADMINS } from '../page.ts';
import { enabledBadge, WEBHOOKS } from './endpoint.ts';

export const listWebhookEndpoints = documentList({
  definition: webhookEndpointDefinition,
  path: WEBHOOKS,
  readers: ADMINS,
  title: 'Webhooks',
  hint: 'Where events are delivered as they happen.',
  table: endpointTable,
});

function endpointTable(documents: readonly Document[]): Html {
  return table(
    'Webhook endpoints',
    ['Id', 'URL', 'Events', 'Status', 'Updated'],
    documents.map((document) => {
      const { id, url, event_types, enabled } = parseWebhookEndpoint(document);
      const events = event_types.includes(ALL_EVENTS) ? 'all' : `${event_types.length}`;
      return [
        link(pathTo(...WEBHOOKS, id), id),
        url,
        events,
        enabledBadge(enabled),
        time(document.updatedAt),
      ];
    }),
    'No webhook endpoints.',
  );
}
