// What a request is going to ask is asked while it is still unknown who sends it: the look-up of its API token and
// that of its group travel together, in one round trip. It rests on a guess, that a token's bearer is who it was the
// last time, and the guess decides nothing: the database says at every request who the bearer is, and where it is
// another one the answer is for a question that nobody asks.

import type { FastifyRequest } from 'fastify';
import type { Caller } from '../domain/api-token.ts';
import { addressOfUserGroupToken } from '../domain/token.ts';
import { keyOf } from '../domain/user-group.ts';
import type { Foreseeable } from '../store/batched-store.ts';
import { userGroupIdOf } from './path.ts';

/** The first query of an operation, in the hands of this caller; null where there is none. */
export type Foresight<Body> = (caller: Caller, body: Body, request: FastifyRequest) => Foreseeable | null;

export function groupOfBody(
  { workspaceId, environment }: Caller,
  body: { userGroupId: string },
): Foreseeable {
  return { kind: 'findUserGroup', key: keyOf(workspaceId, environment, body.userGroupId) };
}

export function groupOfPath(
  { workspaceId, environment }: Caller,
  _body: unknown,
  request: FastifyRequest,
): Foreseeable {
  return { kind: 'findUserGroup', key: keyOf(workspaceId, environment, userGroupIdOf(request)) };
}

export function groupOfToken(text: string): Foreseeable | null {
  const address = addressOfUserGroupToken(text);
  return address && { kind: 'findUserGroupByToken', address };
}
