import { listApiTokens } from '../../../operations/api-token/api-token.ts';
import { lastPageExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { jsonArray, successBody } from '../../json.ts';
import { pageQuery } from '../../request/query.ts';
import { pageSchema } from '../../schema.ts';
import { apiTokenJson, example, listedSchema } from './representation.ts';

export const list = endpoint({
  operationId: 'listApiTokens',
  method: 'GET',
  paths: ['/v1/api-tokens'],
  permissions: ['admin'],
  purpose: 'list API tokens',
  access: 'list',
  query: pageQuery,
  handle: async ({ context, caller, query }) => {
    const { apiTokens, nextCursor } = await listApiTokens(context, caller, query);
    const now = context.clock();
    return successBody({
      api_tokens: jsonArray(apiTokens.map((apiToken) => apiTokenJson(apiToken, null, now))),
      next_cursor: nextCursor,
    });
  },
  description: {
    tag: 'API tokens',
    summary: 'List API tokens',
    text:
      "The API tokens of the caller's workspace and environment in the order of their ids, without their texts, " +
      'including those that are revoked or expired. Request the next page with `next_cursor` until it is null.',
    responses: {
      200: {
        description: 'A page of API tokens.',
        schema: pageSchema('ApiTokenPage', 'api_tokens', listedSchema),
        examples: lastPageExample('api_tokens', example.stored),
      },
    },
  },
});
