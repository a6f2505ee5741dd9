// The health of a webhook endpoint, as its last deliveries tell it.

import { MAX_COUNTED } from '../../operations/webhook-endpoint/webhook-endpoint.ts';
import { type EndpointHealth, NEWEST_DELIVERIES } from '../../store/port.ts';
import { absent, badge, type Html, html, time } from '../html.ts';

/** An endpoint that is enabled is not healthy while its receiver fails. */
export function healthText(isEnabled: boolean, { failingSince, lastDeliveredAt }: EndpointHealth): Html {
  if (!isEnabled) return badge('neutral', 'disabled');
  if (failingSince !== null) return html`${badge('bad', 'failing')} since ${time(failingSince)}`;
  return lastDeliveredAt === null ? badge('neutral', 'enabled, nothing delivered') : badge('good', 'healthy');
}

export function lastSuccess({ lastDeliveredAt }: EndpointHealth): Html {
  return lastDeliveredAt === null
    ? absent(`none of the last ${NEWEST_DELIVERIES} deliveries`)
    : time(lastDeliveredAt);
}

export function pendingText({ pendingDeliveries }: EndpointHealth): string {
  return pendingDeliveries === MAX_COUNTED ? `${MAX_COUNTED} or more` : String(pendingDeliveries);
}
