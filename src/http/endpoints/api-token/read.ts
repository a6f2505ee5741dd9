import { readApiToken } from '../../../operations/api-token/api-token.ts';
import { successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { successBody } from '../../json.ts';
import { apiTokenIdParameter } from '../../request/path-parameter.ts';
import { apiTokenJson, example, StoredApiToken } from './representation.ts';

export const read = endpoint({
  operationId: 'readApiToken',
  method: 'GET',
  paths: ['/v1/api-tokens/:api_token_id'],
  permissions: ['admin'],
  purpose: 'read API tokens',
  handle: async ({ context, caller, request }) => {
    const apiToken = await readApiToken(context, caller, apiTokenIdParameter(request));
    return successBody({ api_token: apiTokenJson(apiToken, null, context.clock()) });
  },
  description: {
    tag: 'API tokens',
    summary: 'Read an API token',
    text: 'Returns everything stored of the API token. Its text is not stored.',
    responses: {
      200: {
        description: 'The API token.',
        schema: StoredApiToken,
        examples: successExample('read', 'Active', { api_token: example.stored }),
      },
    },
    problems: ['api_token_not_found'],
  },
});
