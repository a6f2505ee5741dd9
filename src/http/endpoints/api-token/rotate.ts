import * as field from '../../../domain/field.ts';
import { bodyType } from '../../../domain/request-body.ts';
import { rotateApiToken } from '../../../operations/api-token/api-token.ts';
import { successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { successBody } from '../../json.ts';
import { apiTokenIdParameter } from '../../request/path-parameter.ts';
import { apiTokenJson, example, IssuedApiToken } from './representation.ts';

export const apiTokenRotationBody = bodyType({
  name: 'ApiTokenRotation',
  fields: { grace_period_seconds: field.apiTokenGracePeriodSeconds },
  required: [],
  convert: ({ value }) => value,
  isOptional: true,
});

export const rotate = endpoint({
  operationId: 'rotateApiToken',
  method: 'POST',
  paths: ['/v1/api-tokens/:api_token_id/rotate'],
  permissions: ['admin'],
  purpose: 'rotate API tokens',
  body: apiTokenRotationBody,
  handle: async ({ context, caller, body, request }) => {
    const { grace_period_seconds: seconds } = body;
    const { apiToken, token } = await rotateApiToken(context, caller, apiTokenIdParameter(request), seconds);
    return successBody({ api_token: apiTokenJson(apiToken, token, context.clock()) });
  },
  description: {
    tag: 'API tokens',
    summary: 'Rotate an API token',
    text:
      'Gives the API token a new text, shown only in this response; id, name, permission and expiry stay. Without a grace ' +
      'period every process rejects the replaced text from the next request on. At most one replaced text is valid: a ' +
      'second rotation ends the grace period of the first. A caller can rotate its own API token.\n\n' +
      '**Not idempotent:** every call rotates again. Send a grace period when you rotate the API token of the call: if the ' +
      'response is lost, the replaced text can still repeat it.',
    requests: {
      grace: {
        summary: 'The replaced text works for another hour',
        value: { grace_period_seconds: 3_600 },
      },
      immediate: { summary: 'The replaced text is rejected at once', value: {} },
    },
    responses: {
      200: {
        description: 'The API token, with its new text.',
        schema: IssuedApiToken,
        examples: successExample('rotated', 'Rotated', { api_token: example.rotated }),
      },
    },
    problems: ['api_token_not_found', 'api_token_inactive'],
  },
});
