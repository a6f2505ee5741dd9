// Speculative prefetch: the group is looked up in the same round trip as the API token. The lookup assumes that the
// token still belongs to the caller it belonged to last time. Authentication always queries the database; if it
// returns another caller, the key of the operation's query differs and the prefetched result is discarded.

import type { FastifyRequest } from 'fastify';
import type { Caller } from '../domain/api-token.ts';
import type { BodyType } from '../domain/request-body.ts';
import { addressOfUserGroupToken, type TokenDigest } from '../domain/token.ts';
import { keyOf } from '../domain/user-group.ts';
import type { Context } from '../operations/context.ts';
import { GRACE_MS } from '../operations/cpu-queue.ts';
import type { PrefetchQuery } from '../store/batching-store.ts';
import { hasSmallBody, readBody } from './body.ts';
import { CallerHints } from './caller-hints.ts';
import { userGroupIdOf } from './path-parameter.ts';

/** The first query of an endpoint for this caller; null if there is none. */
export type FirstQuery<Body> = (caller: Caller, body: Body, request: FastifyRequest) => PrefetchQuery | null;

/** For endpoints on the user group whose id is in the body. */
export function groupOfBody(
  { workspaceId, environment }: Caller,
  body: { userGroupId: string },
): PrefetchQuery {
  return { kind: 'findUserGroup', key: keyOf(workspaceId, environment, body.userGroupId) };
}

/** For endpoints on the user group whose id is in the path. */
export function groupOfPath(
  { workspaceId, environment }: Caller,
  _body: unknown,
  request: FastifyRequest,
): PrefetchQuery {
  return { kind: 'findUserGroup', key: keyOf(workspaceId, environment, userGroupIdOf(request)) };
}

export function groupOfToken(text: string): PrefetchQuery | null {
  const address = addressOfUserGroupToken(text);
  return address && { kind: 'findUserGroupByToken', address };
}

export interface ReceivedBody {
  bytes: Buffer;
  /** Present if the body was parsed for the prefetch. An error is reported only after authentication. */
  parsed?: { body: unknown } | { error: unknown };
}

interface Authenticated {
  caller: Caller;
  /** null if the body is large: it is read after authentication. */
  receiving: Promise<ReceivedBody> | null;
}

interface PrefetchRequest {
  endpoint: { body: BodyType<unknown>; prefetch?: FirstQuery<unknown> };
  context: Context;
  request: FastifyRequest;
  /** null if the request has no well-formed API token. */
  digest: TokenDigest | null;
}

const MAX_CALLERS = 4_096;

export class Prefetcher {
  readonly #callers = new CallerHints<Caller>(MAX_CALLERS);

  /** Runs `authenticate`; meanwhile reads a small body and sends the endpoint's first query. */
  async during(prefetch: PrefetchRequest, authenticate: () => Promise<Caller>): Promise<Authenticated> {
    const { request, digest } = prefetch;
    const guess = { caller: digest === null ? undefined : this.#callers.get(digest) };
    const receiving = hasSmallBody(request.raw) ? receive(prefetch, guess) : null;
    // If authentication fails, nothing awaits the body.
    receiving?.catch(() => {});
    try {
      const caller = await authenticate();
      this.#callers.add(digest!, caller);
      return { caller, receiving };
    } catch (error) {
      if (digest !== null) this.#callers.delete(digest);
      throw error;
    } finally {
      // The round trip is over: a query sent from now on would save nothing.
      guess.caller = undefined;
    }
  }
}

async function receive(
  prefetch: PrefetchRequest,
  guess: { caller: Caller | undefined },
): Promise<ReceivedBody> {
  const { endpoint, context, request } = prefetch;
  const bytes = await readBody(request.raw);
  if (endpoint.prefetch === undefined || guess.caller === undefined) return { bytes };
  const turn = context.cpu.turn(bytes.length, GRACE_MS);
  if (turn !== undefined) await turn;
  const { caller } = guess;
  if (caller === undefined) return { bytes };
  try {
    const body = endpoint.body.read(bytes);
    send(prefetch, caller, body);
    return { bytes, parsed: { body } };
  } catch (error) {
    return { bytes, parsed: { error } };
  }
}

function send({ endpoint, context, request }: PrefetchRequest, caller: Caller, body: unknown): void {
  try {
    const query = endpoint.prefetch!(caller, body, request);
    if (query !== null) context.store.prefetch(query);
  } catch {
    // The endpoint reports the same error after authentication.
  }
}
