// Webhook endpoints and deliveries in responses.

import { eventTypes } from '../../../domain/event/event.ts';
import { timestamp, timestampOrNull } from '../../../domain/instant.ts';
import {
  type Attempt,
  type Delivery,
  deliveryStates,
  MAX_LOGGED_ATTEMPTS,
  parseAttempts,
} from '../../../domain/webhook-endpoint/delivery.ts';
import { asCreated } from '../../document-endpoints.ts';
import { type Json, jsonArray, jsonObject, type Members } from '../../json.ts';
import { pathParameters } from '../../request/path-parameter.ts';
import { namedSchema, type Schema, timestampOrNullSchema, timestampSchema } from '../../schema.ts';

export const secretSchema = {
  type: 'string',
  description:
    '`whsec_` and base64. Signs the webhooks of this endpoint (Standard Webhooks 1.0). Shown only in this response: store it with the receiver.',
} as const satisfies Schema;

/** Not a secret of any endpoint. */
export const EXAMPLE_SECRET = `whsec_${Buffer.from('example only, do not use this..').toString('base64')}`;

export const example = {
  webhook_endpoint_id: 'crm',
  url: 'https://crm.example.com/webhooks/user-groups',
  event_types: ['user_group.created', 'user_group.deleted'],
  enabled: true,
  ...asCreated,
};

export function deliveryJson(delivery: Delivery): Json {
  return jsonObject(deliveryMembers(delivery));
}

/** Returns the delivery with its logged attempts, the newest first. */
export function loggedDeliveryJson(delivery: Delivery): Json {
  const attempts = parseAttempts(delivery.attemptLog).toReversed();
  return jsonObject({
    ...deliveryMembers(delivery),
    recent_attempts: jsonArray(attempts.map(attemptJson)),
  });
}

function attemptJson({ at, durationMs, responseStatus, error }: Attempt): Json {
  return jsonObject({
    ended_at: timestamp(at),
    duration_ms: durationMs,
    response_status: responseStatus,
    error,
  });
}

function deliveryMembers(delivery: Delivery): Members {
  return {
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    state: delivery.state,
    attempts: delivery.attempts,
    next_attempt_at: timestampOrNull(delivery.nextAttemptAt),
    last_attempt_at: timestampOrNull(delivery.lastAttemptAt),
    response_status: delivery.responseStatus,
    error: delivery.error,
    created_at: timestamp(delivery.createdAt),
  };
}

const deliverySchemas = {
  event_id: {
    type: 'string',
    description: 'The id of the event, which is the `webhook-id` of every attempt.',
  },
  event_type: { type: 'string', enum: eventTypes },
  state: {
    type: 'string',
    enum: deliveryStates,
    description:
      '`pending`: not delivered yet; `delivered`: the receiver returned 2xx; `failed`: given up after the last retry, or ' +
      'because the endpoint is disabled.',
  },
  attempts: { type: 'integer', minimum: 0, description: 'Since the event, or since the last redelivery.' },
  next_attempt_at: timestampOrNullSchema(
    'Null unless pending. While an attempt runs: when another process would take over.',
  ),
  last_attempt_at: timestampOrNullSchema(),
  response_status: {
    type: ['integer', 'null'],
    description: 'The HTTP status of the last attempt; null if there was no response.',
  },
  error: {
    type: ['string', 'null'],
    description: 'Why the last attempt failed; null after a success, or before the first attempt.',
  },
  created_at: timestampSchema,
} as const;

export const deliverySchema = namedSchema('WebhookDelivery', deliverySchemas);

const attemptSchema = namedSchema('WebhookAttempt', {
  ended_at: timestampSchema,
  duration_ms: { type: 'integer', minimum: 0 },
  response_status: {
    type: ['integer', 'null'],
    description: 'The HTTP status; null if there was no response.',
  },
  error: { type: ['string', 'null'], description: 'Why the attempt failed; null after a success.' },
});

export const loggedDeliverySchema = namedSchema('LoggedWebhookDelivery', {
  ...deliverySchemas,
  recent_attempts: {
    type: 'array',
    items: attemptSchema,
    description: `The last ${MAX_LOGGED_ATTEMPTS} attempts, also those before a redelivery, the newest first.`,
  },
});

export const exampleDelivery = {
  event_id: pathParameters.event_id.example,
  event_type: 'user_group.created',
  state: 'pending',
  attempts: 1,
  next_attempt_at: '2026-03-02T09:30:06.120Z',
  last_attempt_at: '2026-03-02T09:30:00.210Z',
  response_status: 503,
  error: 'the receiver returned 503',
  created_at: '2026-03-02T09:30:00.180Z',
};
