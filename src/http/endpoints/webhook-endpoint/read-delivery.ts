import { readDelivery } from '../../../operations/webhook-endpoint/webhook-endpoint.ts';
import { successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { raw, successBody } from '../../json.ts';
import { pathId } from '../../request/path-parameter.ts';
import { successSchema } from '../../schema.ts';
import { eventSchema, exampleEvent } from '../event/representation.ts';
import { exampleDelivery, loggedDeliveryJson, loggedDeliverySchema } from './representation.ts';

export const readWebhookDelivery = endpoint({
  operationId: 'readWebhookDelivery',
  method: 'GET',
  paths: ['/v1/webhook-endpoints/:webhook_endpoint_id/deliveries/:event_id'],
  permissions: ['admin'],
  purpose: 'read webhook deliveries',
  handle: async ({ context, caller, request }) => {
    const id = pathId(request, 'webhook_endpoint_id');
    const eventId = pathId(request, 'event_id');
    const { delivery, payload } = await readDelivery(context, caller, id, eventId);
    return successBody({
      delivery: loggedDeliveryJson(delivery),
      event: payload === null ? undefined : raw(payload),
    });
  },
  description: {
    tag: 'Webhooks',
    summary: 'Read a delivery with its attempts',
    text:
      'Returns the delivery, each of its attempts with status and duration, and the event as the receiver gets it, if it ' +
      'is still kept.',
    responses: {
      200: {
        description: 'The delivery.',
        schema: successSchema(
          'StoredWebhookDelivery',
          { delivery: loggedDeliverySchema, event: eventSchema },
          ['event'],
        ),
        examples: successExample('failing', 'The receiver fails', {
          delivery: {
            ...exampleDelivery,
            event_id: exampleEvent.event_id,
            event_type: exampleEvent.type,
            recent_attempts: [
              {
                ended_at: exampleDelivery.last_attempt_at,
                duration_ms: 28,
                response_status: exampleDelivery.response_status,
                error: exampleDelivery.error,
              },
            ],
          },
          event: exampleEvent,
        }),
      },
    },
  },
});
