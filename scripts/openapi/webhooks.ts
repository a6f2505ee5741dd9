// Describes the requests that the service sends to webhook endpoints: one for each type of event.

import type { OpenAPIV3_1 } from 'openapi-types';
import { type EventType, eventTypes } from '../../src/domain/event/event.ts';
import { capitalized } from '../../src/http/description.ts';

type Parameter = OpenAPIV3_1.ParameterObject;

/** The headers of Standard Webhooks. */
const parameters: readonly Parameter[] = [
  {
    name: 'webhook-id',
    in: 'header',
    required: true,
    description: 'The `event_id`. The same in every attempt.',
    schema: { type: 'string' },
  },
  {
    name: 'webhook-timestamp',
    in: 'header',
    required: true,
    description: 'The time of the attempt, in seconds since 1970.',
    schema: { type: 'integer', format: 'int64' },
  },
  {
    name: 'webhook-signature',
    in: 'header',
    required: true,
    description:
      'Signatures of `webhook-id`, `webhook-timestamp` and the raw body, separated by spaces: one for each valid secret ' +
      'of the endpoint. A library of Standard Webhooks 1.0 verifies them.',
    schema: { type: 'string' },
  },
];

export function webhooks(): Record<string, OpenAPIV3_1.PathItemObject> {
  // Built from entries, because the type of a path item does not accept operations of OpenAPI 3.1.
  return Object.fromEntries(eventTypes.map((type) => [type, Object.fromEntries([['post', webhook(type)]])]));
}

function webhook(type: EventType): OpenAPIV3_1.OperationObject {
  return {
    operationId: `receive${type.split(/[._]/).map(capitalized).join('')}`,
    summary: `Receive ${type}`,
    description: `Sent to the webhook endpoints that subscribe to \`${type}\` or to all types, until a receiver accepts it.`,
    security: [],
    parameters: [...parameters],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Event' } } },
    },
    responses: {
      '204': { description: 'Accepted, like every status from 200 to 299. The service ignores the body.' },
      '410': { description: 'Disables the webhook endpoint.' },
      default: { description: 'Refused: the service retries.' },
    },
  };
}
