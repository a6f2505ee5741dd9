import type { Document } from '../../domain/document.ts';
import { eventTypes } from '../../domain/event/event.ts';
import type { Delivery, DeliveryState } from '../../domain/webhook-endpoint/delivery.ts';
import {
  ALL_EVENTS,
  parseWebhookEndpoint,
  type WebhookEndpointBody,
  webhookEndpointBody,
  webhookEndpointDefinition,
} from '../../domain/webhook-endpoint/webhook-endpoint.ts';
import {
  deleteWebhookEndpoint,
  listDeliveries,
  putWebhookEndpoint as put,
} from '../../operations/webhook-endpoint/webhook-endpoint.ts';
import { DocumentPages } from '../document-pages.ts';
import { actionForm, checkField, choicesField, submit, textField } from '../fields.ts';
import { type Form, textMember } from '../form.ts';
import { badge, buttonTo, type Html, html, type Insertion, pathTo, table, time } from '../html.ts';
import { ADMINS, type PageCall } from '../page.ts';
import { nextPage, pageQuery } from '../pagination.ts';

export const WEBHOOKS = ['webhooks'] as const;

const EVENT_TYPES = 'event_types';
const choices = [
  [ALL_EVENTS, 'all, including types that later versions add'] as const,
  ...eventTypes.map((type) => [type, type] as const),
];

export const webhookEndpointPages = new DocumentPages<WebhookEndpointBody>({
  definition: webhookEndpointDefinition,
  path: WEBHOOKS,
  idParameter: 'webhook_endpoint_id',
  idHint: 'Your own id.',
  readers: ADMINS,
  body: webhookEndpointBody,
  members: (form) => ({
    url: textMember(form, 'url'),
    event_types: checkedTypes(form),
    enabled: String(form.has('enabled')),
  }),
  typed: (document) => {
    const { url, event_types, enabled } = parseWebhookEndpoint(document);
    return {
      url,
      ...Object.fromEntries(event_types.map((type) => [`${EVENT_TYPES}.${type}`, 'on'])),
      ...(enabled && { enabled: 'on' }),
    };
  },
  initial: () => ({ enabled: 'on' }),
  fields: (form, problem) => html`${textField({
    ...form.field('url'),
    label: 'URL',
    type: 'url',
    hint: 'Where events are sent by POST. It must not contain a secret.',
    isRequired: true,
  })}
${choicesField({
  name: EVENT_TYPES,
  label: 'Events',
  choices,
  isChecked: (field) => form.has(field),
  problem,
})}
${checkField({ name: 'enabled', label: 'Enabled', isChecked: form.has('enabled'), problem })}`,
  put,
  remove: deleteWebhookEndpoint,
  rows: (document) => {
    const { url, event_types, enabled } = parseWebhookEndpoint(document);
    return [
      ['URL', url],
      ['Events', event_types.map((type) => (type === ALL_EVENTS ? 'all' : type)).join(', ')],
      ['Status', enabledBadge(enabled)],
    ];
  },
  actions: ({ id }, { session }) => html`${buttonTo(pathTo(...WEBHOOKS, id, 'rotate'), 'Rotate the secret')}
${actionForm(session, pathTo(...WEBHOOKS, id, 'test'), submit('Send a test', 'plain'))}`,
  more: deliveries,
  notices: {
    tested: 'A test event is on its way: see the deliveries.',
    redelivered: 'The event is delivered again: see the deliveries.',
  },
  consequences: async (document) => {
    const { url } = parseWebhookEndpoint(document);
    return html`<p>Events are no longer delivered to ${url}. Its secret and its deliveries are deleted, including those that are still pending.</p>`;
  },
});

export function enabledBadge(isEnabled: boolean): Html {
  return isEnabled ? badge('good', 'enabled') : badge('bad', 'disabled');
}

function checkedTypes(form: Form): string {
  return JSON.stringify(choices.map(([type]) => type).filter((type) => form.has(`${EVENT_TYPES}.${type}`)));
}

const stateBadges = {
  pending: badge('neutral', 'pending'),
  delivered: badge('good', 'delivered'),
  failed: badge('bad', 'failed'),
} as const satisfies Record<DeliveryState, Html>;

async function deliveries({ id }: Document, call: PageCall): Promise<Html> {
  const { context, caller, session, query } = call;
  const { deliveries, nextCursor } = await listDeliveries(context, caller, id, pageQuery(query));
  const redelivery = ({ eventId }: Delivery) =>
    actionForm(
      session,
      pathTo(...WEBHOOKS, id, 'deliveries', eventId, 'redeliver'),
      html`<button type="submit">Deliver again<span class="hidden"> ${eventId}</span></button>`,
    );
  const rows = deliveries.map((delivery) => [
    html`${delivery.eventType} <code>${delivery.eventId}</code>`,
    stateBadges[delivery.state],
    delivery.attempts,
    time(delivery.lastAttemptAt, 'none'),
    time(delivery.nextAttemptAt, 'none'),
    deliveryResponse(delivery),
    redelivery(delivery),
  ]);
  const columns = ['Event', 'State', 'Attempts', 'Last attempt', 'Next attempt', 'Response', 'Action'];
  return html`<h2>Deliveries</h2>
${table('Deliveries', columns, rows, 'None yet.')}
${nextPage(pathTo(...WEBHOOKS, id), nextCursor)}`;
}

function deliveryResponse({ responseStatus, error }: Delivery): Insertion {
  if (error !== null) return error;
  return responseStatus === null ? html`<span class="none">none</span>` : responseStatus;
}
