import { testWebhookEndpoint } from '../../../operations/webhook-endpoint/webhook-endpoint.ts';
import { successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { successBody } from '../../json.ts';
import { pathId, pathParameters } from '../../request/path-parameter.ts';
import { successSchema } from '../../schema.ts';

export const testWebhook = endpoint({
  operationId: 'testWebhookEndpoint',
  method: 'POST',
  paths: ['/v1/webhook-endpoints/:webhook_endpoint_id/test'],
  permissions: ['admin'],
  purpose: 'test webhook endpoints',
  handle: async ({ context, caller, request }) => {
    const eventId = await testWebhookEndpoint(context, caller, pathId(request, 'webhook_endpoint_id'));
    return successBody({ event_id: eventId });
  },
  description: {
    tag: 'Webhooks',
    summary: 'Send a test event',
    text:
      'Records an event `webhook_endpoint.tested`, which is delivered to this endpoint only, whatever its `event_types`, ' +
      'and like any other event: see its deliveries for the result.',
    responses: {
      202: {
        description: 'The event is recorded and will be delivered.',
        schema: successSchema('WebhookTest', {
          event_id: { type: 'string', description: 'The id of the event.' },
        }),
        examples: successExample('recorded', 'Recorded', { event_id: pathParameters.event_id.example }),
      },
    },
  },
});
