// Speculative prefetch: the group is looked up in the same round trip as the API token. The lookup assumes
// that the token still belongs to the caller it belonged to last time. Authentication always queries the
// database; if it returns another caller, the key of the operation's query differs and the prefetched result
// is discarded.

import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../domain/api-token.ts';
import type { BodyType } from '../domain/request-body.ts';
import { tenantOf } from '../domain/tenant.ts';
import type { PresentedToken, TokenDigest } from '../domain/token.ts';
import { userGroupKey } from '../domain/user-group/user-group.ts';
import type { Context } from '../operations/context.ts';
import { GRACE_MS } from '../operations/machinery/cpu-queue.ts';
import { UNKNOWN_TENANT } from '../scheduling/fair-queue.ts';
import type { PrefetchQuery } from '../store/batching-store.ts';
import { readBody } from './request/body.ts';
import { CallerHints } from './request/caller-hints.ts';
import { presentedTokenDigest } from './request/credentials.ts';
import { userGroupIdParameter } from './request/path-parameter.ts';

/** The first query of an endpoint for this caller; null if there is none. */
export type FirstQuery<Body> = (
  caller: Caller,
  body: Body,
  request: FastifyRequest,
  now: number,
) => PrefetchQuery | null;

/** First query of endpoints whose body has the id of the user group. */
export function groupOfBody(caller: Caller, body: { userGroupId: string }): PrefetchQuery {
  return groupOfId(caller, body.userGroupId);
}

/** First query of endpoints whose path has the id of the user group. */
export function groupOfPath(caller: Caller, _body: unknown, request: FastifyRequest): PrefetchQuery {
  return groupOfId(caller, userGroupIdParameter(request));
}

export function groupOfId(caller: Caller, userGroupId: string): PrefetchQuery {
  return { kind: 'findUserGroup', key: userGroupKey(caller, userGroupId) };
}

/** First query of endpoints that resolve the token. */
export function resolutionQuery(
  caller: Caller,
  { address }: PresentedToken,
  now: number,
): PrefetchQuery | null {
  return address && { kind: 'resolveToken', address, tenant: tenantOf(caller), now };
}

export interface ReceivedBody {
  bytes: Buffer;
  /** Present if the body was parsed for the prefetch. An error is reported only after authentication. */
  parsed?: { body: unknown } | { error: unknown };
}

/** Facts about a request that is not authenticated yet. */
export interface Incoming {
  endpoint: { body: BodyType<unknown>; prefetch?: FirstQuery<unknown> };
  context: Context;
  request: FastifyRequest;
  /** null if the request has no well-formed API token. */
  digest: TokenDigest | null;
  /** The caller that the API token belonged to last time. */
  guess: Caller | undefined;
}

const NO_BYTES = Buffer.alloc(0);
const MAX_CALLERS = 32_768;

export class Prefetcher {
  readonly #callers = new CallerHints<Caller>(MAX_CALLERS);

  /** Returns the caller that the API token belonged to last time, if known: a hint, which decides nothing. */
  guess(digest: TokenDigest | null): Caller | undefined {
    return digest === null ? undefined : this.#callers.get(digest);
  }

  /** Returns the tenant (a workspace id) that a request is probably from. */
  guessTenant(message: IncomingMessage): number {
    return this.guessTenantOf(presentedTokenDigest(message, 'oauth'));
  }

  /** The same for an API token that is not in the headers of an API call. */
  guessTenantOf(digest: TokenDigest | null): number {
    return this.guess(digest)?.workspaceId ?? UNKNOWN_TENANT;
  }

  /** Remembers the caller that the API token belongs to. */
  confirm(digest: TokenDigest, caller: Caller): void {
    this.#callers.add(digest, caller.workspaceId, caller);
  }

  /** Forgets the caller of an API token that was refused. */
  forget(digest: TokenDigest): void {
    this.#callers.delete(digest);
  }
}

/** Reads a small body and sends the endpoint's first query, until `end` is called. */
export class Prefetch {
  readonly received: Promise<ReceivedBody>;
  #guess: Caller | undefined;

  constructor(incoming: Incoming) {
    this.#guess = incoming.guess;
    this.received = this.#receive(incoming);
    // If authentication fails, nothing awaits the body.
    this.received.catch(() => {});
  }

  /** Called after the round trip of authentication: another query would save nothing. */
  end(): void {
    this.#guess = undefined;
  }

  async #receive(incoming: Incoming): Promise<ReceivedBody> {
    const { endpoint, context, request } = incoming;
    // Node discards an unread body when the response is sent.
    const bytes = endpoint.body.isIgnored ? NO_BYTES : await readBody(request.raw);
    if (endpoint.prefetch === undefined || this.#guess === undefined) return { bytes };
    const turn = context.cpu.turn(bytes.length, GRACE_MS);
    if (turn !== undefined) await turn;
    const caller = this.#guess;
    if (caller === undefined) return { bytes };
    try {
      const body = endpoint.body.read(bytes);
      sendFirstQuery(incoming, caller, body);
      return { bytes, parsed: { body } };
    } catch (error) {
      return { bytes, parsed: { error } };
    }
  }
}

function sendFirstQuery({ endpoint, context, request }: Incoming, caller: Caller, body: unknown): void {
  try {
    const query = endpoint.prefetch!(caller, body, request, context.clock());
    if (query !== null) context.store.prefetch(query);
  } catch {
    // The endpoint reports the same error after authentication.
  }
}
