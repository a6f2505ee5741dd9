// The parameter in the path of a URL: the caller's id of a group, percent-encoded.

import type { FastifyRequest } from 'fastify';
import { valueCheck } from '../domain/body.ts';
import { userGroupId } from '../domain/field.ts';
import { Problem } from '../problem.ts';

const faultOf = valueCheck(userGroupId);

/** Throws `invalid_request` where the path has none that a group can have. The router has decoded it. */
export function userGroupIdOf({ params }: FastifyRequest): string {
  const { user_group_id: id } = params as { user_group_id: string };
  const fault = faultOf(id);
  if (fault === null) return id;
  throw new Problem('invalid_request', `The user_group_id in the path ${fault}.`);
}
