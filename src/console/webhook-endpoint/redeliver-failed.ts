import { parseInstant } from '../../domain/instant.ts';
import { invalidField } from '../../domain/request-body.ts';
import { findFirstFailedAt, redeliverFailed } from '../../operations/webhook-endpoint/webhook-endpoint.ts';
import { textField } from '../form/fields.ts';
import { formPages } from '../form/form-pages.ts';
import { html, isolated } from '../markup/html.ts';
import { ADMINS } from '../page.ts';
import { webhookEndpointPages as pages } from './endpoint.ts';

export const redeliverFailedForm = formPages({
  path: '/webhooks/:webhook_endpoint_id/redeliver-failed',
  permissions: ADMINS,
  purpose: 'redeliver webhooks',
  /** Begins with the oldest failed delivery. */
  initial: async (call) => {
    const { context, caller } = call;
    const since = (await findFirstFailedAt(context, caller, pages.documentId(call))) ?? context.clock();
    return { since: new Date(since).toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length) };
  },
  act: async (call) => {
    const id = pages.documentId(call);
    const since = parseInstant(`${call.form.text('since')}:00Z`);
    if (since === null) throw invalidField('/since', 'must be a date and a time, such as 2026-03-02T09:30');
    const { redelivered, hasMore } = await redeliverFailed(call.context, call.caller, id, since);
    const notice = hasMore ? SOME : redelivered === 0 ? NONE : ALL;
    return { location: pages.documentPath(id), notice };
  },
  view: async (call, form) => {
    const { id } = await pages.read(call);
    return {
      title: `Deliver failed webhooks to ${isolated(id)} again`,
      text: html`<p>Every delivery that was given up becomes pending again, with all its retries. The receiver gets them as fast as it accepts them: one at a time while it fails.</p>`,
      fields: textField({ ...form.field('since'), type: 'datetime-local', isRequired: true }),
      button: 'Deliver again',
    };
  },
});

const ALL =
  'Failed deliveries of events since that time are delivered again, as fast as the receiver accepts them.';
const SOME =
  'The first failed deliveries of events since that time are delivered again. There may be more: repeat it when these have arrived.';
const NONE =
  'No delivery of an event since that time has failed for good. Pending ones are attempted again by themselves.';
