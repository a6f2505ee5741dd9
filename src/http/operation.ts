// The way of every call that needs an API token: who asks, what they may do, what they send, then the operation.
// The order is what a caller can rely on: 401 before 403 before whatever is wrong with the body.

import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Caller, Permission } from '../domain/api-token.ts';
import type { BodyType } from '../domain/body.ts';
import { authenticate } from '../operations/authenticate.ts';
import { type Context, permit } from '../operations/context.ts';
import { Problem } from '../problem.ts';
import { checkMediaType, readBody, requireBody } from './body.ts';
import { apiTokenDigestOf } from './credentials.ts';
import type { OperationId } from './openapi/operations.ts';

export interface Call<Body> {
  context: Context;
  caller: Caller;
  body: Body;
  request: FastifyRequest;
  reply: FastifyReply;
}

export interface Operation<Body> {
  /** Under which the operation is described in `openapi/operations.ts`. */
  operationId: OperationId;
  method: HTTPMethods;
  paths: readonly string[];
  permissions: readonly Permission[];
  /** What the operation does, for a caller who may not: "may not …". */
  purpose: string;
  body: BodyType<Body>;
  /** Answers with JSON text. A method, so that operations of different bodies stand in one table. */
  handle(call: Call<Body>): Promise<string>;
}

/** An operation for the table of all: its body and its handler are held to each other here. */
export function operation<Body>(definition: Operation<Body>): Operation<unknown> {
  return definition;
}

/** Counts the requests of each API token in this process. Rejects with `rate_limited`. */
export type RateLimit = (caller: Caller) => Promise<void>;

/** null where there is no limit. */
export function rateLimit(requestsPerMinute: number): RateLimit | null {
  if (requestsPerMinute === 0) return null;
  const limiter = new RateLimiterMemory({ points: requestsPerMinute, duration: 60 });
  return async (caller) => {
    try {
      await limiter.consume(caller.apiTokenId);
    } catch (rejection) {
      if (!(rejection instanceof RateLimiterRes)) throw rejection;
      const retryAfterSeconds = Math.max(1, Math.ceil(rejection.msBeforeNext / 1_000));
      throw new Problem('rate_limited', `This API token may make ${requestsPerMinute} requests a minute.`, {
        retryAfterSeconds,
      });
    }
  };
}

export function addOperation(
  app: FastifyInstance,
  context: Context,
  limit: RateLimit | null,
  operation: Operation<unknown>,
): void {
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<string> => {
    // The body arrives while the database is asked who sends it.
    const reading = readBody(request.raw);
    reading.catch(() => {});
    const caller = await authenticate(context, apiTokenDigestOf(request.raw));
    if (limit !== null) await limit(caller);
    permit(caller, operation.permissions, operation.purpose);
    refuseQuery(request.url);
    checkMediaType(request.raw);
    const bytes = await reading;
    requireBody(bytes, request.method);
    const body = operation.body.read(bytes);
    reply.header('content-type', 'application/json; charset=utf-8');
    return operation.handle({ context, caller, body, request, reply });
  };
  for (const url of operation.paths) app.route({ method: operation.method, url, handler });
}

function refuseQuery(url: string): void {
  const query = url.indexOf('?');
  if (query !== -1 && query < url.length - 1) {
    throw new Problem(
      'invalid_request',
      'This operation takes its fields in the JSON body, not in the query of the URL.',
    );
  }
}
