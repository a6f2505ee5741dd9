import { revokeApiToken } from '../../../operations/api-token/api-token.ts';
import { endpoint } from '../../endpoint.ts';
import { apiTokenIdParameter } from '../../request/path-parameter.ts';

export const revoke = endpoint({
  operationId: 'revokeApiToken',
  method: 'DELETE',
  paths: ['/v1/api-tokens/:api_token_id'],
  permissions: ['admin'],
  purpose: 'revoke API tokens',
  handle: async ({ context, caller, request }) => {
    await revokeApiToken(context, caller, apiTokenIdParameter(request));
    return undefined;
  },
  description: {
    tag: 'API tokens',
    summary: 'Revoke an API token',
    text:
      'Every process rejects the API token from the next request on, together with a replaced text in its grace period. ' +
      'It stays in the list as `revoked` and cannot be restored. Revoking it again changes nothing and returns 204 too. ' +
      'A caller can revoke its own API token.',
    responses: { 204: { description: 'The API token is revoked.' } },
    problems: ['api_token_not_found'],
  },
});
