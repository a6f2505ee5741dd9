// Parameters in the path of a URL, percent-encoded.

import type { FastifyRequest } from 'fastify';
import { assignedNumber, userGroupId } from '../../domain/field.ts';
import { idViolation } from '../../domain/request-body.ts';
import { Problem } from '../../problem.ts';

function ownId(description: string, example: string) {
  return { schema: userGroupId, description: `${description} Percent-encoded.`, example };
}

/** Path parameters by their name in the route, for the API description. */
export const pathParameters = {
  user_group_id: {
    schema: userGroupId,
    description: `${userGroupId.description} Percent-encoded: \`a/b\` is \`a%2Fb\`.`,
    example: 'acme-7',
  },
  api_token_id: {
    schema: assignedNumber,
    description: 'Number of the API token.',
    example: 7,
  },
  webhook_endpoint_id: ownId('Your own id of the webhook endpoint.', 'crm'),
  integration_id: ownId('Your own id of the integration.', 'metabase'),
  issuer_id: {
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    description: 'The last part of the issuer of a token.',
    example: '5f0c9a3be81d4c7704d0a1162',
  },
  schema_id: ownId('The id that mappings use for the schema.', '40'),
  provided_id: ownId('Your own id of the data source.', 'acme-orders'),
  event_id: {
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    description: 'The id of an event.',
    example: 'evt_0196fe2a4c10000a3f9c0d12e45b7788',
  },
} as const;

/** Throws `invalid_request` if the id is not valid. The router has already decoded it. */
export function userGroupIdParameter(request: FastifyRequest): string {
  return pathId(request, 'user_group_id');
}

/** An id of any kind in the path, with the same rules. Throws `invalid_request`. */
export function pathId({ params }: FastifyRequest, name: keyof typeof pathParameters): string {
  const id = (params as Record<string, string>)[name]!;
  const violation = idViolation(id);
  if (violation === null) return id;
  throw new Problem('invalid_request', `The ${name} in the path ${violation}.`);
}

/** Throws `invalid_request` if the id is not valid. */
export function apiTokenIdParameter({ params }: FastifyRequest): number {
  const { api_token_id: text } = params as { api_token_id: string };
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(id)) return id;
  throw new Problem(
    'invalid_request',
    'The api_token_id in the path must be a number, as shown by the list.',
  );
}
