// Parameters in the path of a URL, percent-encoded.

import type { FastifyRequest } from 'fastify';
import { userGroupId } from '../domain/field.ts';
import { valueCheck } from '../domain/request-body.ts';
import { Problem } from '../problem.ts';

/** By the name in the route, for the API description. */
export const pathParameters = {
  user_group_id: {
    schema: userGroupId,
    description: `${userGroupId.description} Percent-encoded: \`a/b\` is \`a%2Fb\`.`,
    example: 'acme-7',
  },
  api_token_id: {
    schema: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    description: 'Number of the API token.',
    example: 7,
  },
} as const;

const faultOf = valueCheck(userGroupId);

/** Throws `invalid_request` if the id is not valid. The router has already decoded it. */
export function userGroupIdOf({ params }: FastifyRequest): string {
  const { user_group_id: id } = params as { user_group_id: string };
  const fault = faultOf(id);
  if (fault === null) return id;
  throw new Problem('invalid_request', `The user_group_id in the path ${fault}.`);
}

/** Throws `invalid_request` if the id is not valid. */
export function apiTokenIdOf({ params }: FastifyRequest): number {
  const { api_token_id: text } = params as { api_token_id: string };
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(id)) return id;
  throw new Problem(
    'invalid_request',
    'The api_token_id in the path must be a number, as shown by the list.',
  );
}
