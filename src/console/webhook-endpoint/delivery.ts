// One delivery: its attempts, and what the receiver gets.

import { type Delivery, type DeliveryState, parseAttempts } from '../../domain/webhook-endpoint/delivery.ts';
import { pathId } from '../../http/request/path-parameter.ts';
import { readDelivery } from '../../operations/webhook-endpoint/webhook-endpoint.ts';
import { pathOfTarget } from '../event/paths.ts';
import { actionForm, submit, wordsOf } from '../form/fields.ts';
import {
  absent,
  badge,
  copyButton,
  definitions,
  type Html,
  html,
  type Insertion,
  idCell,
  none,
  pathTo,
  table,
  time,
} from '../markup/html.ts';
import { jsonBlock } from '../markup/json.ts';
import { ADMINS, type Page } from '../page.ts';
import type { Session } from '../session/session.ts';

export const WEBHOOKS = ['webhooks'] as const;

export const stateBadges: Readonly<Record<DeliveryState, Html>> = {
  pending: badge('warning', 'pending'),
  delivered: badge('good', 'delivered'),
  failed: badge('bad', 'failed'),
};

export const showDelivery: Page = {
  method: 'GET',
  path: '/webhooks/:webhook_endpoint_id/deliveries/:event_id',
  permissions: ADMINS,
  purpose: 'read webhook endpoints',
  handle: async ({ context, caller, request, session }) => {
    const id = pathId(request, 'webhook_endpoint_id');
    const eventId = pathId(request, 'event_id');
    const { delivery, payload } = await readDelivery(context, caller, id, eventId);
    return {
      title: `Delivery of ${eventId} to ${id}`,
      heading: `Delivery: ${wordsOf(delivery.eventType)}`,
      actions: redeliverForm(session, id, delivery),
      main: html`${definitions([
        ['Event', html`<code>${eventId}</code>${copyButton(eventId, 'id of the event')}`],
        ['About', idCell(pathOfTarget(caller, delivery.target), delivery.target.id)],
        ['State', stateBadges[delivery.state]],
        ['Created', time(delivery.createdAt)],
        ['Next attempt', time(delivery.nextAttemptAt, 'none')],
      ])}
<h2>Attempts</h2>
${attemptTable(delivery)}
<h2>Payload</h2>
${payload === null ? none('The event is no longer kept.') : jsonBlock(payload)}`,
    };
  },
};

/** Lists attempts, the newest first. */
function attemptTable({ attemptLog, attempts, state }: Delivery): Html {
  const rows = parseAttempts(attemptLog)
    .toReversed()
    .map((attempt) => [time(attempt.at), responseText(attempt), html`${attempt.durationMs} ms`]);
  return table('Attempts', ['Ended', 'Response', 'Duration'], rows, noAttempts(state, attempts));
}

function noAttempts(state: DeliveryState, attempts: number): string {
  if (attempts > 0) return 'Not logged: they were made by an earlier version.';
  return state === 'failed' ? 'None: it was given up when the endpoint was disabled.' : 'None yet.';
}

export function responseText({
  responseStatus,
  error,
}: Pick<Delivery, 'responseStatus' | 'error'>): Insertion {
  if (error !== null) return error;
  return responseStatus ?? absent('none');
}

export function deliveryPath(id: string, eventId: string): string {
  return pathTo(...WEBHOOKS, id, 'deliveries', eventId);
}

export function redeliverForm(session: Session, id: string, { eventId }: Delivery): Html {
  const button = submit('Deliver again', 'plain', eventId);
  return actionForm(session, `${deliveryPath(id, eventId)}/redeliver`, button);
}
