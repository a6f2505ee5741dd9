import { timestampOrNull } from '../../../domain/instant.ts';
import { MAX_COUNTED, readHealth } from '../../../operations/webhook-endpoint/webhook-endpoint.ts';
import { NEWEST_DELIVERIES } from '../../../store/port.ts';
import { successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { jsonObject, successBody } from '../../json.ts';
import { pathId } from '../../request/path-parameter.ts';
import { namedSchema, successSchema, timestampOrNullSchema } from '../../schema.ts';

const healthSchema = namedSchema('WebhookEndpointHealth', {
  failing_since: timestampOrNullSchema(
    'The first failure since the last success; null if the last attempt succeeded, or before the first.',
  ),
  last_delivered_at: timestampOrNullSchema(
    `The last success; null if none of the last ${NEWEST_DELIVERIES} deliveries arrived.`,
  ),
  pending_deliveries: { type: 'integer', minimum: 0, description: `Counted up to ${MAX_COUNTED}.` },
});

export const readWebhookHealth = endpoint({
  operationId: 'readWebhookEndpointHealth',
  method: 'GET',
  paths: ['/v1/webhook-endpoints/:webhook_endpoint_id/health'],
  permissions: ['admin'],
  purpose: 'read webhook endpoints',
  handle: async ({ context, caller, request }) => {
    const health = await readHealth(context, caller, pathId(request, 'webhook_endpoint_id'));
    return successBody({
      health: jsonObject({
        failing_since: timestampOrNull(health.failingSince),
        last_delivered_at: timestampOrNull(health.lastDeliveredAt),
        pending_deliveries: health.pendingDeliveries,
      }),
    });
  },
  description: {
    tag: 'Webhooks',
    summary: 'Read the health of a webhook endpoint',
    text: 'Returns whether the receiver fails, when it last accepted an event, and how many deliveries are pending.',
    responses: {
      200: {
        description: 'The health of the endpoint.',
        schema: successSchema('StoredWebhookEndpointHealth', { health: healthSchema }),
        examples: successExample('failing', 'The receiver fails', {
          health: {
            failing_since: '2026-03-02T09:30:00.210Z',
            last_delivered_at: '2026-03-02T09:29:41.007Z',
            pending_deliveries: 1,
          },
        }),
      },
    },
  },
});
