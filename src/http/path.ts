// The parameter in the path of a URL: the caller's id of a group, percent-encoded.

import type { FastifyRequest } from 'fastify';
import { valueCheck } from '../domain/body.ts';
import { userGroupId } from '../domain/field.ts';
import { Problem } from '../problem.ts';

const faultOf = valueCheck(userGroupId);

/** Throws `invalid_request` where the path holds none that a group can have. */
export function userGroupIdOf({ url, params }: FastifyRequest): string {
  // The router has decoded it, and refused what cannot be decoded; Node takes bytes beyond ASCII for Latin-1.
  const { user_group_id: id } = params as { user_group_id: string };
  const fault = isEncoded(url) ? faultOf(id) : 'must be UTF-8, percent-encoded';
  if (fault === null) return id;
  throw new Problem('invalid_request', `The user_group_id in the path ${fault}.`);
}

/** Whether the text has only characters that may stand in a URL. */
export function isEncoded(text: string): boolean {
  return /^[!-~]*$/.test(text);
}
