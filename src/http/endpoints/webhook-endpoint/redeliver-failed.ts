import * as field from '../../../domain/field.ts';
import { parseInstant } from '../../../domain/instant.ts';
import { bodyType } from '../../../domain/request-body.ts';
import { redeliverFailed } from '../../../operations/webhook-endpoint/webhook-endpoint.ts';
import { successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { successBody } from '../../json.ts';
import { pathId } from '../../request/path-parameter.ts';
import { successSchema } from '../../schema.ts';

const failedRedeliveryBody = bodyType({
  name: 'FailedWebhookRedelivery',
  fields: { since: { ...field.instant, description: 'Events from this instant (RFC 3339) on.' } },
  required: ['since'],
  convert: ({ value }) => ({ since: parseInstant(value.since)! }),
});

export const redeliverFailedWebhooks = endpoint({
  operationId: 'redeliverFailedWebhooks',
  method: 'POST',
  paths: ['/v1/webhook-endpoints/:webhook_endpoint_id/redeliver-failed'],
  permissions: ['admin'],
  purpose: 'redeliver webhooks',
  body: failedRedeliveryBody,
  handle: async ({ context, caller, body, request }) => {
    const id = pathId(request, 'webhook_endpoint_id');
    const { redelivered, hasMore } = await redeliverFailed(context, caller, id, body.since);
    return successBody({ redelivered, has_more: hasMore });
  },
  description: {
    tag: 'Webhooks',
    summary: 'Deliver all events again that failed',
    text:
      'Makes the deliveries of events since an instant that have `failed` pending and due, the oldest first, each with all ' +
      'its retries. A call makes about a thousand due at most: repeat it while `has_more` is true. A repeated call finds ' +
      'only what has failed again. The endpoint must be enabled.',
    requests: { outage: { summary: 'After an outage', value: { since: '2026-03-02T09:00:00Z' } } },
    responses: {
      202: {
        description: 'The events will be delivered.',
        schema: successSchema('FailedWebhooksRedelivered', {
          redelivered: { type: 'integer', minimum: 0, description: 'How many deliveries are due.' },
          has_more: { type: 'boolean', description: 'Whether there may be more: repeat the call.' },
        }),
        examples: successExample('due', 'All are due', { redelivered: 42, has_more: false }),
      },
    },
  },
});
