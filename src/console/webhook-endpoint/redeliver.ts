import { pathIdOf } from '../../http/request/path-parameter.ts';
import { redeliver } from '../../operations/webhook-endpoint/webhook-endpoint.ts';
import { withNotice } from '../notice.ts';
import { ADMINS, type Page } from '../page.ts';
import { webhookEndpointPages as pages } from './endpoint.ts';

export const redeliverEvent: Page = {
  method: 'POST',
  path: '/webhooks/:webhook_endpoint_id/deliveries/:event_id/redeliver',
  permissions: ADMINS,
  purpose: 'redeliver webhooks',
  access: 'write',
  handle: async (call) => {
    const id = pages.idOf(call);
    await redeliver(call.context, call.caller, id, pathIdOf(call.request, 'event_id'));
    return { location: withNotice(pages.pathOf(id), 'redelivered') };
  },
  retry: (call, problem) => pages.showView(call, problem),
};
