import { noBody } from '../../../domain/request-body.ts';
import type { PageQuery } from '../../../operations/document/document.ts';
import { listDeliveries } from '../../../operations/webhook-endpoint/webhook-endpoint.ts';
import { pageQuery } from '../../document-endpoints.ts';
import { endpoint } from '../../endpoint.ts';
import { jsonArray, successBody } from '../../json.ts';
import { documentIdParameter } from '../../request/path-parameter.ts';
import { nextCursorSchema, successSchema } from '../../schema.ts';
import { deliveryJson, deliverySchema, exampleDelivery, idParameter } from './representation.ts';

export const listWebhookDeliveries = endpoint<null, PageQuery>({
  operationId: 'listWebhookDeliveries',
  method: 'GET',
  paths: [`/v1/webhook-endpoints/:${idParameter}/deliveries`],
  permissions: ['admin'],
  purpose: 'list webhook deliveries',
  access: 'list',
  query: pageQuery,
  body: noBody,
  isConditional: false,
  handle: async ({ context, caller, query, request }) => {
    const id = documentIdParameter(request, idParameter);
    const { deliveries, nextCursor } = await listDeliveries(context, caller, id, query);
    return successBody({ deliveries: jsonArray(deliveries.map(deliveryJson)), next_cursor: nextCursor });
  },
  description: {
    tag: 'Webhooks',
    summary: 'List the deliveries of a webhook endpoint',
    text:
      'The deliveries to the endpoint, the newest first, as long as their events are kept. Request the next page with ' +
      '`next_cursor` until it is null.',
    responses: {
      200: {
        description: 'A page of deliveries.',
        schema: successSchema('WebhookDeliveryPage', {
          deliveries: { type: 'array', items: deliverySchema },
          next_cursor: nextCursorSchema,
        }),
        examples: {
          last: {
            summary: 'The last page',
            value: { success: 1, deliveries: [exampleDelivery], next_cursor: null },
          },
        },
      },
    },
  },
});
