import { redeliver } from '../../../operations/webhook-endpoint/webhook-endpoint.ts';
import { successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { successBody } from '../../json.ts';
import { pathId, pathParameters } from '../../request/path-parameter.ts';
import { successSchema } from '../../schema.ts';

export const redeliverWebhook = endpoint({
  operationId: 'redeliverWebhook',
  method: 'POST',
  paths: ['/v1/webhook-endpoints/:webhook_endpoint_id/deliveries/:event_id/redeliver'],
  permissions: ['admin'],
  purpose: 'redeliver webhooks',
  handle: async ({ context, caller, request }) => {
    const eventId = pathId(request, 'event_id');
    await redeliver(context, caller, pathId(request, 'webhook_endpoint_id'), eventId);
    return successBody({ event_id: eventId });
  },
  description: {
    tag: 'Webhooks',
    summary: 'Deliver an event again',
    text:
      'Makes the delivery pending and due, whatever its state, with the `webhook-id` of the first time and all its ' +
      'retries. The endpoint must be enabled.',
    responses: {
      202: {
        description: 'The event will be delivered.',
        schema: successSchema('WebhookRedelivery', {
          event_id: { type: 'string', description: 'The id of the event.' },
        }),
        examples: successExample('due', 'Due', { event_id: pathParameters.event_id.example }),
      },
    },
  },
});
