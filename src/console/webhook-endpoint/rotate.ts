import { rotateWebhookSecret } from '../../operations/webhook-endpoint/webhook-endpoint.ts';
import { formPages } from '../form/form-pages.ts';
import { confirmation, documentVersion, preconditionIn } from '../form/version.ts';
import { html, isolated } from '../markup/html.ts';
import { ADMINS } from '../page.ts';
import { webhookEndpointPages as pages } from './endpoint.ts';

export const secretRotation = formPages({
  path: '/webhooks/:webhook_endpoint_id/rotate',
  permissions: ADMINS,
  purpose: 'rotate the secrets of webhook endpoints',
  act: async (call) => {
    const { context, caller, form } = call;
    const id = pages.documentId(call);
    const { secrets } = await rotateWebhookSecret(context, caller, id, preconditionIn(form));
    return pages.secretView(id, secrets.current, 'Rotated.');
  },
  view: async (call, form) => {
    const document = await pages.read(call);
    return confirmation(form, 'webhook endpoint', documentVersion(document), {
      title: `Rotate the secret of webhook endpoint ${isolated(document.id)}?`,
      text: html`<p>For a day, webhooks carry two signatures, of the new secret and of the replaced one: give the receiver the new one within that time. If the replaced one has leaked, let the receiver accept only the new one at once. If the secret was already rotated within the last day, the one that was replaced then stops working now.</p>`,
      button: 'Rotate',
    });
  },
});
