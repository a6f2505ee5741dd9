import type { Document } from '../../domain/document.ts';
import {
  ALL_EVENTS,
  webhookEndpointDefinition,
  webhookEndpointOf,
} from '../../domain/webhook-endpoint/webhook-endpoint.ts';
import { listDocuments } from '../../operations/document/document.ts';
import { newPath } from '../document-pages.ts';
import { type Html, html, link, pathTo, table, time } from '../html.ts';
import { notice } from '../notice.ts';
import { ADMINS, type Page } from '../page.ts';
import { nextPage, pageOf } from '../pagination.ts';
import { enabledBadge, WEBHOOKS } from './endpoint.ts';

export const listWebhookEndpoints: Page = {
  method: 'GET',
  path: '/webhooks',
  permissions: ADMINS,
  purpose: 'list webhook endpoints',
  access: 'read',
  handle: async ({ context, caller, query }) => {
    const page = pageOf(query);
    const { documents, nextCursor } = await listDocuments(context, caller, webhookEndpointDefinition, page);
    return {
      title: 'Webhooks',
      main: html`<h1>Webhooks</h1>
${notice(query, { deleted: 'Deleted.' })}
<p class="hint">Where events are delivered as they happen.</p>
<div class="actions"><a class="button" href="${newPath(WEBHOOKS)}">New webhook endpoint</a></div>
${endpointTable(documents)}
${nextPage(pathTo(...WEBHOOKS), nextCursor)}`,
    };
  },
};

function endpointTable(documents: readonly Document[]): Html {
  if (documents.length === 0) return html`<p class="none">No webhook endpoints.</p>`;
  return table(
    'Webhook endpoints',
    ['Id', 'URL', 'Events', 'Status', 'Updated'],
    documents.map((document) => {
      const { id, url, event_types, enabled } = webhookEndpointOf(document);
      const events = event_types.includes(ALL_EVENTS) ? 'all' : `${event_types.length}`;
      return [
        link(pathTo(...WEBHOOKS, id), id),
        url,
        events,
        enabledBadge(enabled),
        time(document.updatedAt),
      ];
    }),
  );
}
