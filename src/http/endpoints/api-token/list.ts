import * as field from '../../../domain/field.ts';
import { noBody } from '../../../domain/request-body.ts';
import { listApiTokens } from '../../../operations/api-token/api-token.ts';
import { endpoint } from '../../endpoint.ts';
import { jsonArray, successBody } from '../../json.ts';
import { queryType } from '../../request/query.ts';
import { nextCursorSchema, successSchema } from '../../schema.ts';
import { apiTokenJson, example, listedSchema } from './representation.ts';

const query = queryType({
  parameters: { limit: field.apiTokenPageLimit, cursor: field.cursor },
  convert: (values) => ({ limit: field.apiTokenPageLimit.default, ...values }),
});

export const list = endpoint({
  operationId: 'listApiTokens',
  method: 'GET',
  paths: ['/v1/api-tokens'],
  permissions: ['admin'],
  purpose: 'list API tokens',
  access: 'list',
  query,
  body: noBody,
  isConditional: false,
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
        schema: successSchema('ApiTokenPage', {
          api_tokens: { type: 'array', items: listedSchema },
          next_cursor: nextCursorSchema,
        }),
        examples: {
          last: {
            summary: 'The last page',
            value: { success: 1, api_tokens: [example.stored], next_cursor: null },
          },
        },
      },
    },
  },
});
