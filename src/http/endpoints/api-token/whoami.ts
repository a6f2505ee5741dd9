import { permissions } from '../../../domain/api-token.ts';
import { readApiToken } from '../../../operations/api-token/api-token.ts';
import { successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { successBody } from '../../json.ts';
import { successSchema } from '../../schema.ts';
import { apiTokenJson, example, listedSchema } from './representation.ts';

export const whoami = endpoint({
  operationId: 'whoami',
  method: 'GET',
  paths: ['/v1/whoami'],
  permissions,
  purpose: 'read itself',
  handle: async ({ context, caller }) => {
    const apiToken = await readApiToken(context, caller, caller.apiTokenId!);
    return successBody({
      workspace: apiToken.workspaceName,
      api_token: apiTokenJson(apiToken, null, context.clock()),
    });
  },
  description: {
    tag: 'API tokens',
    summary: 'Read the API token of the request',
    text:
      'Returns what the API token that authenticates this request may do, and where. To check a deployment: a wrong ' +
      'workspace or environment has no user groups, and a wrong permission is noticed only by the first call that needs another.',
    responses: {
      200: {
        description: 'The API token, without its text.',
        schema: successSchema('Whoami', {
          workspace: { type: 'string', description: 'The name of its workspace.' },
          api_token: listedSchema,
        }),
        examples: successExample('active', 'Active', { workspace: 'default', api_token: example.stored }),
      },
    },
  },
});
