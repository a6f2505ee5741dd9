import type { Document } from '../../domain/document.ts';
import { eventTypes } from '../../domain/event/event.ts';
import { type Delivery, type DeliveryState, deliveryStates } from '../../domain/webhook-endpoint/delivery.ts';
import { ALL_EVENTS, parseWebhookEndpoint } from '../../domain/webhook-endpoint/webhook-endpoint.ts';
import { webhookEndpoints } from '../../http/endpoints/webhook-endpoint/endpoint.ts';
import { listDeliveries } from '../../operations/webhook-endpoint/webhook-endpoint.ts';
import { DocumentPages } from '../document-pages.ts';
import { actionForm, checkField, choiceField, choicesField, submit, textField } from '../form/fields.ts';
import type { Form } from '../form/form.ts';
import { bdi, buttonTo, type Html, html, idCell, link, none, pathTo, table, time } from '../markup/html.ts';
import { nextPage, pageQuery } from '../markup/pagination.ts';
import type { PageCall } from '../page.ts';
import { deliveryPath, redeliverForm, responseText, stateBadges, WEBHOOKS } from './delivery.ts';
import { healthCells } from './health.ts';

const EVENT_TYPES = 'event_types';
const choices = [
  [ALL_EVENTS, 'all, including types that later versions add'] as const,
  ...eventTypes.map((type) => [type, type] as const),
];

export const webhookEndpointPages = new DocumentPages({
  api: webhookEndpoints.kind,
  path: WEBHOOKS,
  listHint: 'Where events are delivered as they happen.',
  columns: ['URL', 'Events', 'Status', 'Last success', 'Pending'],
  cells: async (document, call) => {
    const { url, event_types } = parseWebhookEndpoint(document);
    const count = event_types.includes(ALL_EVENTS) ? 'all' : event_types.length;
    return [url, count, ...(await healthCells(document, call))];
  },
  idHint: 'Your own id.',
  members: (form) => ({ event_types: checkedTypes(form) }),
  typed: (document) => {
    const { event_types } = parseWebhookEndpoint(document);
    return Object.fromEntries(event_types.map((type) => [`${EVENT_TYPES}.${type}`, 'on']));
  },
  initial: () => ({ enabled: 'on' }),
  fields: (form) => html`${textField({
    ...form.field('url'),
    type: 'url',
    size: 'large',
    hint: 'Where events are sent by POST. It must not contain a secret.',
    isRequired: true,
  })}
${choicesField(form, EVENT_TYPES, choices)}
${checkField(form.field('enabled'))}`,
  rows: async (document, call) => {
    const { url, event_types } = parseWebhookEndpoint(document);
    const [status, success, pending] = await healthCells(document, call);
    return [
      ['URL', url],
      ['Events', event_types.map((type) => (type === ALL_EVENTS ? 'all' : type)).join(', ')],
      ['Status', status],
      ['Last success', success],
      ['Pending', pending],
    ];
  },
  actions: ({ id }, { session }) => html`${buttonTo(pathTo(...WEBHOOKS, id, 'rotate'), 'Rotate the secret')}
${actionForm(session, pathTo(...WEBHOOKS, id, 'test'), submit('Send a test', 'plain'))}`,
  more: deliveries,
  consequences: async (document) => {
    const { url } = parseWebhookEndpoint(document);
    return html`<p>Events are no longer delivered to ${bdi(url)}. Its secret and its deliveries are deleted, including those that are still pending.</p>`;
  },
});

function checkedTypes(form: Form): string {
  return JSON.stringify(choices.map(([type]) => type).filter((type) => form.has(`${EVENT_TYPES}.${type}`)));
}

async function deliveries({ id }: Document, call: PageCall): Promise<Html> {
  const { context, caller, session, query } = call;
  const state = deliveryStates.find((each) => each === query.get('state'));
  const page = await listDeliveries(context, caller, id, { ...pageQuery(query), ...(state && { state }) });
  const rows = page.deliveries.map((delivery) => [
    deliveryLink(id, delivery),
    stateBadges[delivery.state],
    delivery.attempts,
    time(delivery.lastAttemptAt, 'none'),
    time(delivery.nextAttemptAt, 'none'),
    responseText(delivery),
    redeliverForm(session, id, delivery),
  ]);
  const columns = ['Event', 'State', 'Attempts', 'Last attempt', 'Next attempt', 'Response', 'Action'];
  const isFiltered = state !== undefined || query.has('cursor');
  return html`<h2 id="deliveries">Deliveries</h2>
${rows.length === 0 && !isFiltered ? '' : stateFilter(id, state)}
${rows.length === 0 ? noDeliveries(id, state, page.nextCursor) : table('Deliveries', columns, rows)}
${nextPage(pathTo(...WEBHOOKS, id), page.nextCursor, Object.fromEntries(query))}`;
}

function stateFilter(id: string, state: DeliveryState | undefined): Html {
  return html`<form class="filters" role="search" method="get" action="${pathTo(...WEBHOOKS, id)}" autocomplete="off">
${choiceField({
  name: 'state',
  value: state ?? '',
  choices: [['', 'any'], ...deliveryStates.map((each) => [each, each] as const)],
})}
<div class="actions"><button type="submit">Filter</button>
${buttonTo(pathTo(...WEBHOOKS, id, 'redeliver-failed'), 'Deliver failed ones again')}</div>
</form>`;
}

/** Text for a page without deliveries. With a state, more may follow. */
function noDeliveries(id: string, state: DeliveryState | undefined, nextCursor: string | null): Html {
  if (state === undefined) return none('None yet.');
  return html`${none(
    nextCursor === null
      ? `No delivery has the state ${state}.`
      : `None of the deliveries searched so far has the state ${state}; continue on the next page.`,
  )}<p>${link(pathTo(...WEBHOOKS, id), 'Show all deliveries')}</p>`;
}

function deliveryLink(id: string, { eventId, eventType }: Delivery): Html {
  return html`${link(deliveryPath(id, eventId), eventType, eventId)}<p class="hint">${idCell(null, eventId)}</p>`;
}
