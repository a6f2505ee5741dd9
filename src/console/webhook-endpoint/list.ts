import type { Document } from '../../domain/document.ts';
import { ALL_EVENTS, parseWebhookEndpoint } from '../../domain/webhook-endpoint/webhook-endpoint.ts';
import { findHealth } from '../../operations/webhook-endpoint/webhook-endpoint.ts';
import { type Html, idCell, pathTo, table } from '../html.ts';
import type { PageCall } from '../page.ts';
import { WEBHOOKS } from './delivery.ts';
import { webhookEndpointPages } from './endpoint.ts';
import { healthText, lastSuccess, pendingText } from './health.ts';

export const listWebhookEndpoints = webhookEndpointPages.list({
  title: 'Webhooks',
  hint: 'Where events are delivered as they happen.',
  table: endpointTable,
});

async function endpointTable(documents: readonly Document[], call: PageCall): Promise<Html> {
  const { context, caller } = call;
  const healths = await Promise.all(documents.map(({ id }) => findHealth(context, caller, id)));
  const statuses = await Promise.all(
    documents.map((document, index) => healthText(call, document, healths[index]!)),
  );
  return table(
    'Webhook endpoints',
    ['Id', 'URL', 'Events', 'Status', 'Last success', 'Pending'],
    documents.map((document, index) => {
      const { id, url, event_types } = parseWebhookEndpoint(document);
      const events = event_types.includes(ALL_EVENTS) ? 'all' : `${event_types.length}`;
      const health = healths[index]!;
      return [
        idCell(pathTo(...WEBHOOKS, id), id),
        url,
        events,
        statuses[index]!,
        lastSuccess(health),
        pendingText(health),
      ];
    }),
    'No webhook endpoints.',
  );
}
