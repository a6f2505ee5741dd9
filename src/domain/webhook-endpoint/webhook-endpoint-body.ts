// The body that creates or replaces a webhook endpoint.

import { eventTypes } from '../event/event.ts';
import { bodyType } from '../request-body.ts';
import { MAX_URL_LENGTH } from './webhook-address.ts';
import { ALL_EVENTS, type WebhookEndpointBody } from './webhook-endpoint.ts';

/** The JSON Schemas of the fields. */
export const webhookEndpointFields = {
  url: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_URL_LENGTH,
    description:
      'Where events are sent by POST: an https or http URL without credentials or fragment. Do not put a secret into it: ' +
      'unlike the signing secret, it is shown in reads and events.',
  },
  event_types: {
    type: 'array',
    minItems: 1,
    uniqueItems: true,
    items: { title: 'SubscribedEventType', type: 'string', enum: [ALL_EVENTS, ...eventTypes] },
    description: `The types of event to deliver; \`${ALL_EVENTS}\` for all, including types that later versions add.`,
  },
  enabled: {
    type: 'boolean',
    default: true,
    description:
      'Whether events are delivered. The service sets it to false when the receiver returns 410, or has failed for five ' +
      'days.',
  },
} as const;

export const webhookEndpointBody = bodyType({
  name: 'WebhookEndpoint',
  fields: webhookEndpointFields,
  required: ['url', 'event_types'],
  convert: ({ value }): WebhookEndpointBody => value,
});
