import { rotateWebhookSecret } from '../../operations/webhook-endpoint/webhook-endpoint.ts';
import type { Problem } from '../../problem.ts';
import { confirmationProblem, preconditionOf, versionField } from '../document-version.ts';
import { actionForm, cancel, submit } from '../fields.ts';
import { html } from '../html.ts';
import { ADMINS, type Page, type PageCall, type View } from '../page.ts';
import { webhookEndpointPages as pages } from './endpoint.ts';

const shared = {
  path: '/webhooks/:webhook_endpoint_id/rotate',
  permissions: ADMINS,
  purpose: 'rotate the secrets of webhook endpoints',
} as const;

export const confirmSecretRotation: Page = {
  ...shared,
  method: 'GET',
  access: 'read',
  handle: (call) => rotationView(call),
};

export const rotateSecret: Page = {
  ...shared,
  method: 'POST',
  access: 'write',
  handle: async (call) => {
    const { context, caller, form } = call;
    const id = pages.idOf(call);
    const { secrets } = await rotateWebhookSecret(context, caller, id, preconditionOf(form));
    return pages.secretView(id, secrets.current, 'Rotated.');
  },
  retry: (call, problem) => rotationView(call, problem),
};

async function rotationView(call: PageCall, problem?: Problem): Promise<View> {
  const document = await pages.read(call);
  const { id } = document;
  const title = `Rotate the secret of webhook endpoint ${id}?`;
  const content = html`${versionField(document, call.form, problem)}
<div class="actions">${submit('Rotate', 'danger')} ${cancel(pages.pathOf(id))}</div>`;
  return {
    title,
    main: html`<h1>${title}</h1>
${confirmationProblem('webhook endpoint', problem)}
<p>For a day, webhooks carry two signatures, of the new secret and of the replaced one: give the receiver the new one within that time. If the secret was rotated within the last day, the one that was replaced then ends now.</p>
${actionForm(call.session, pages.pathOf(id, 'rotate'), content)}`,
  };
}
