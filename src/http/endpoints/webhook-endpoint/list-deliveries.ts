import { deliveryStates } from '../../../domain/webhook-endpoint/delivery.ts';
import { listDeliveries } from '../../../operations/webhook-endpoint/webhook-endpoint.ts';
import { lastPageExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { jsonArray, successBody } from '../../json.ts';
import { pathId } from '../../request/path-parameter.ts';
import { pageParameters, queryType } from '../../request/query.ts';
import { pageSchema } from '../../schema.ts';
import { deliveryJson, deliverySchema, exampleDelivery } from './representation.ts';

const query = queryType({
  parameters: {
    ...pageParameters,
    state: { type: 'string', enum: deliveryStates, description: 'Only deliveries in this state.' },
  },
  convert: (values) => values,
});

export const listWebhookDeliveries = endpoint({
  operationId: 'listWebhookDeliveries',
  method: 'GET',
  paths: ['/v1/webhook-endpoints/:webhook_endpoint_id/deliveries'],
  permissions: ['admin'],
  purpose: 'list webhook deliveries',
  access: 'list',
  query,
  handle: async ({ context, caller, query, request }) => {
    const id = pathId(request, 'webhook_endpoint_id');
    const { deliveries, nextCursor } = await listDeliveries(context, caller, id, query);
    return successBody({ deliveries: jsonArray(deliveries.map(deliveryJson)), next_cursor: nextCursor });
  },
  description: {
    tag: 'Webhooks',
    summary: 'List the deliveries of a webhook endpoint',
    text:
      'The deliveries to the endpoint, the newest first, as long as their events are kept. Request the next page with ' +
      '`next_cursor` until it is null. With `state`, a page may have fewer deliveries than `limit`, or none, although more ' +
      'follow: continue with `next_cursor`.',
    responses: {
      200: {
        description: 'A page of deliveries.',
        schema: pageSchema('WebhookDeliveryPage', 'deliveries', deliverySchema),
        examples: lastPageExample('deliveries', exampleDelivery),
      },
    },
  },
});
