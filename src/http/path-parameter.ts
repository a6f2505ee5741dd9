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
} as const;

const faultOf = valueCheck(userGroupId);

/** Throws `invalid_request` if the id is not valid. The router has already decoded it. */
export function userGroupIdOf({ params }: FastifyRequest): string {
  const { user_group_id: id } = params as { user_group_id: string };
  const fault = faultOf(id);
  if (fault === null) return id;
  throw new Problem('invalid_request', `The user_group_id in the path ${fault}.`);
}
