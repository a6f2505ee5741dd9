// What a request is going to ask is asked while it is still unknown who sends it: the look-up of its API token and
// that of its group travel together, in one round trip. It rests on a guess, that a token's bearer is who it was the
// last time, and the guess decides nothing: the database says at every request who the bearer is, and where it is
// another one the answer is for a question that nobody asks.

import type { FastifyRequest } from 'fastify';
import type { Caller } from '../domain/api-token.ts';
import { addressOfUserGroupToken, type TokenDigest } from '../domain/token.ts';
import { keyOf } from '../domain/user-group.ts';
import type { Query } from '../store/store.ts';
import { userGroupIdOf } from './path.ts';

/** The first query of an operation, in the hands of this caller; null where there is none. */
export type Foresight<Body> = (caller: Caller, body: Body, request: FastifyRequest) => Query | null;

/** API tokens, about 200 bytes each. */
const MOST_REMEMBERED = 1_000;

/** Who asked last with each API token. */
export class LastCallers {
  readonly #callers = new Map<TokenDigest, Caller>();

  of(digest: TokenDigest | null): Caller | undefined {
    return digest === null ? undefined : this.#callers.get(digest);
  }

  /** Throws what `admit` throws; whoever is refused is not expected again. */
  async remember(digest: TokenDigest | null, admit: () => Promise<Caller>): Promise<Caller> {
    try {
      const caller = await admit();
      if (this.#callers.size >= MOST_REMEMBERED && !this.#callers.has(digest!)) this.#callers.clear();
      this.#callers.set(digest!, caller);
      return caller;
    } catch (error) {
      this.#callers.delete(digest!);
      throw error;
    }
  }
}

export function groupOfBody({ workspaceId, environment }: Caller, body: { userGroupId: string }): Query {
  return { kind: 'findUserGroup', key: keyOf(workspaceId, environment, body.userGroupId) };
}

export function groupOfPath(
  { workspaceId, environment }: Caller,
  _body: unknown,
  request: FastifyRequest,
): Query {
  return { kind: 'findUserGroup', key: keyOf(workspaceId, environment, userGroupIdOf(request)) };
}

export function groupOfToken(text: string): Query | null {
  const address = addressOfUserGroupToken(text);
  return address && { kind: 'findUserGroupByToken', address };
}
