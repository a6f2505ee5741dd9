import { testWebhookEndpoint } from '../../operations/webhook-endpoint/webhook-endpoint.ts';
import { withNotice } from '../notice.ts';
import { ADMINS, type Page } from '../page.ts';
import { webhookEndpointPages as pages } from './endpoint.ts';

export const testEndpoint: Page = {
  method: 'POST',
  path: '/webhooks/:webhook_endpoint_id/test',
  permissions: ADMINS,
  purpose: 'test webhook endpoints',
  access: 'write',
  handle: async (call) => {
    const id = pages.idOf(call);
    await testWebhookEndpoint(call.context, call.caller, id);
    return { location: withNotice(pages.pathOf(id), 'tested') };
  },
  retry: (call, problem) => pages.showView(call, problem),
};
