// Actions that deliver an event to an endpoint: a test event, or an earlier one again.

import { pathId } from '../../http/request/path-parameter.ts';
import { redeliver, testWebhookEndpoint } from '../../operations/webhook-endpoint/webhook-endpoint.ts';
import { ADMINS, type Page } from '../page.ts';
import { pageBefore } from '../request/browser.ts';
import { deliveryPath } from './delivery.ts';
import { webhookEndpointPages as pages } from './endpoint.ts';

const shared = {
  method: 'POST',
  permissions: ADMINS,
  onRejection: (call, problem) => pages.showView(call, problem),
} as const satisfies Partial<Page>;

export const testEndpoint: Page = {
  ...shared,
  path: '/webhooks/:webhook_endpoint_id/test',
  purpose: 'test webhook endpoints',
  handle: async (call) => {
    const id = pages.documentId(call);
    await testWebhookEndpoint(call.context, call.caller, id);
    return { location: pages.documentPath(id), notice: 'A test event is on its way: see the deliveries.' };
  },
};

export const redeliverEvent: Page = {
  ...shared,
  path: '/webhooks/:webhook_endpoint_id/deliveries/:event_id/redeliver',
  purpose: 'redeliver webhooks',
  handle: async (call) => {
    const id = pages.documentId(call);
    const eventId = pathId(call.request, 'event_id');
    await redeliver(call.context, call.caller, id, eventId);
    const list = pages.documentPath(id);
    // Keeps the page and the state of the list, on whose first page the delivery need not be.
    const before = pageBefore(call.request, list);
    const isShown = [list, deliveryPath(id, eventId)].includes(before.split('?', 1)[0]!);
    return {
      location: isShown ? before : list,
      notice: 'The event is delivered again: it is pending until the receiver accepts it.',
    };
  },
};
