import { webhookEndpointDefinition } from '../../../domain/webhook-endpoint/webhook-endpoint.ts';
import {
  webhookEndpointBody,
  webhookEndpointFields,
} from '../../../domain/webhook-endpoint/webhook-endpoint-body.ts';
import {
  deleteWebhookEndpoint,
  putWebhookEndpoint,
} from '../../../operations/webhook-endpoint/webhook-endpoint.ts';
import { documentEndpoints } from '../../document-endpoints.ts';
import { EXAMPLE_SECRET, example, secretSchema } from './representation.ts';

const { url, event_types } = example;

export const webhookEndpoints = documentEndpoints({
  definition: webhookEndpointDefinition,
  name: 'WebhookEndpoint',
  tag: 'Webhooks',
  idParameter: 'webhook_endpoint_id',
  readers: ['admin'],
  body: webhookEndpointBody,
  fields: webhookEndpointFields,
  secret: { schema: secretSchema, example: EXAMPLE_SECRET },
  example,
  requests: {
    some: { summary: 'Some types of event', value: { url, event_types } },
    all: { summary: 'All events', value: { url, event_types: ['*'] } },
    disabled: { summary: 'Disable it', value: { url, event_types, enabled: false } },
  },
  put: putWebhookEndpoint,
  remove: deleteWebhookEndpoint,
  texts: {
    put:
      'Stores exactly the sent fields under this id. The response to a create has the `secret` that signs the webhooks; ' +
      'it is not shown again, so if that response is lost, rotate the secret. A later call keeps the secret. At most ' +
      `${webhookEndpointDefinition.limit.documents} endpoints.\n\nThe address must be public: loopback, private, link-local and ` +
      'reserved ones are rejected here and again when connecting, unless the operator sets `UGS_WEBHOOK_ALLOW_PRIVATE`. ' +
      'Changing or enabling an endpoint ends the count of its failures.\n\nWith `If-None-Match: *` the call only creates; ' +
      'with `If-Match: "…"`, the `ETag` of an earlier response, it replaces only that version. Otherwise the response is ' +
      '412 `version_mismatch`.',
    read: 'Returns the endpoint, without its secret.',
    list:
      'The endpoints of the workspace and environment, without their secrets. Request the next page with `next_cursor` ' +
      'until it is null.',
    remove:
      'Deletes the endpoint and its deliveries, delivered or not. With `If-Match: "…"` only that version is deleted.',
  },
});
