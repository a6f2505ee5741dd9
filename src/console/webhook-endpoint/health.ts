// Health of a webhook endpoint, derived from its last deliveries.

import type { Document } from '../../domain/document.ts';
import { parseWebhookEndpoint } from '../../domain/webhook-endpoint/webhook-endpoint.ts';
import { listEvents } from '../../operations/event/list.ts';
import { findHealth, MAX_COUNTED } from '../../operations/webhook-endpoint/webhook-endpoint.ts';
import { type EndpointHealth, NEWEST_DELIVERIES } from '../../store/port.ts';
import { absent, badge, type Html, html, time } from '../markup/html.ts';
import { type PageCall, unlessBusy } from '../page.ts';

export const NO_DELIVERIES = badge('bad', 'no deliveries');
export const NO_EVENTS = 'this service records no events (UGS_EVENT_RETENTION_DAYS is 0)';

/** Returns the status, the last success and the number of pending deliveries. */
export async function healthCells(
  document: Document,
  call: PageCall,
): Promise<[status: Html, lastSuccess: Html, pending: string]> {
  const health = await findHealth(call.context, call.caller, document.id);
  return [await healthText(call, document, health), lastSuccess(health), pendingText(health)];
}

/** An endpoint that is enabled is not healthy while its receiver fails. */
async function healthText(
  call: PageCall,
  document: Document,
  { failingSince, lastDeliveredAt }: EndpointHealth,
): Promise<Html> {
  if (!parseWebhookEndpoint(document).enabled) return disabledText(call, document);
  if (call.context.eventRetentionDays === 0) return html`${NO_DELIVERIES}: ${NO_EVENTS}`;
  if (failingSince !== null) return html`${badge('bad', 'failing')} since ${time(failingSince)}`;
  return lastDeliveredAt === null ? badge('neutral', 'enabled, nothing delivered') : badge('good', 'healthy');
}

async function disabledText(call: PageCall, document: Document): Promise<Html> {
  const isByService = await unlessBusy(isDisabledByService(call, document));
  if (isByService === null)
    return html`${badge('warning', 'disabled')} The service is too busy to look up why.`;
  return isByService
    ? html`${badge('bad', 'disabled')} by the service, because it failed`
    : badge('neutral', 'disabled');
}

/** Whether the last change of the endpoint is that the service disabled it. */
export async function isDisabledByService(
  { context, caller }: PageCall,
  document: Document,
): Promise<boolean> {
  if (parseWebhookEndpoint(document).enabled) return false;
  const target = { type: 'webhook_endpoint', id: document.id } as const;
  const query = { order: 'newest', limit: 1, type: 'webhook_endpoint.disabled', target } as const;
  const { events } = await listEvents(context, caller, query);
  return events[0]?.version === document.version;
}

function lastSuccess({ lastDeliveredAt }: EndpointHealth): Html {
  return lastDeliveredAt === null
    ? absent(`none of the last ${NEWEST_DELIVERIES} deliveries`)
    : time(lastDeliveredAt);
}

function pendingText({ pendingDeliveries }: EndpointHealth): string {
  return pendingDeliveries === MAX_COUNTED ? `${MAX_COUNTED} or more` : String(pendingDeliveries);
}
