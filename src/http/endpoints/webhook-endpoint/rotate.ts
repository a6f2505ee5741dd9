import { timestampOrNull } from '../../../domain/instant.ts';
import { rotateWebhookSecret } from '../../../operations/webhook-endpoint/webhook-endpoint.ts';
import { successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { successBody } from '../../json.ts';
import { pathId } from '../../request/path-parameter.ts';
import { setDocumentTag } from '../../response/entity-tag.ts';
import { successSchema, timestampSchema } from '../../schema.ts';
import { webhookEndpoints } from './endpoint.ts';
import { EXAMPLE_SECRET, example, secretSchema } from './representation.ts';

export const rotateWebhookEndpoint = endpoint({
  operationId: 'rotateWebhookEndpointSecret',
  method: 'POST',
  paths: ['/v1/webhook-endpoints/:webhook_endpoint_id/rotate'],
  permissions: ['admin'],
  purpose: 'rotate the secrets of webhook endpoints',
  isConditional: true,
  handle: async ({ context, caller, precondition, request, reply }) => {
    const id = pathId(request, 'webhook_endpoint_id');
    const { document, secrets } = await rotateWebhookSecret(context, caller, id, precondition);
    setDocumentTag(reply, document);
    return successBody({
      webhook_endpoint: webhookEndpoints.write(document),
      secret: secrets.current.reveal(),
      previous_secret_expires_at: timestampOrNull(secrets.previous?.expiresAt ?? null),
    });
  },
  description: {
    tag: 'Webhooks',
    summary: 'Rotate the secret of a webhook endpoint',
    text:
      'Creates a new secret, shown only in this response. For a day, webhooks carry two signatures, of the new secret and ' +
      'of the replaced one, so that the receiver can change over. A second rotation within that day ends the secret that ' +
      'the first one replaced: to be able to retry, send `If-Match: "…"`.',
    responses: {
      200: {
        description: 'The endpoint with its new secret.',
        headers: ['ETag'],
        schema: successSchema('RotatedWebhookEndpoint', {
          webhook_endpoint: webhookEndpoints.schema,
          secret: secretSchema,
          previous_secret_expires_at: {
            ...timestampSchema,
            description: 'Until when the replaced secret signs too.',
          },
        }),
        examples: successExample('rotated', 'Rotated', {
          webhook_endpoint: { ...example, version: 2, updated_at: '2026-03-09T10:00:00.000Z' },
          secret: EXAMPLE_SECRET,
          previous_secret_expires_at: '2026-03-10T10:00:00.000Z',
        }),
      },
    },
  },
});
