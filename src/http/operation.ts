// The way of every call that needs an API token: who asks, what they may do, what they send, then the operation.
// The order is what a caller can rely on: 401 before 403 before whatever is wrong with the body.

import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Caller, Permission } from '../domain/api-token.ts';
import type { BodyType } from '../domain/body.ts';
import type { Recent } from '../domain/recent.ts';
import type { TokenDigest } from '../domain/token.ts';
import { authenticate } from '../operations/authenticate.ts';
import { type Context, permit } from '../operations/context.ts';
import { Problem } from '../problem.ts';
import type { Access } from '../store/batched-store.ts';
import { readBody, requireBody } from './body.ts';
import { apiTokenDigestOf } from './credentials.ts';
import type { Foresight } from './foresight.ts';
import { checkMediaType, type MediaType } from './media-type.ts';
import type { OperationId } from './openapi/operations.ts';
import type { QueryType } from './query.ts';
import type { RunningOperations } from './running-operations.ts';
import type { UnreadLists } from './slow-reader.ts';

export interface Call<Body = null, Query = null> {
  context: Context;
  caller: Caller;
  query: Query;
  body: Body;
  request: FastifyRequest;
  reply: FastifyReply;
}

export interface Operation<Body, Query> {
  /** Under which the operation is described in `openapi/operations.ts`. */
  operationId: OperationId;
  method: HTTPMethods;
  paths: readonly string[];
  permissions: readonly Permission[];
  /** What the operation does, for a caller who may not: "may not …". */
  purpose: string;
  access: Access;
  query: QueryType<Query>;
  body: BodyType<Body>;
  /** What a body may be declared as: application/json where this is absent. */
  mediaTypes?: readonly MediaType[];
  /** What the store is asked first, where that can be told without it. A method, as `handle`. */
  foresee?(...of: Parameters<Foresight<Body>>): ReturnType<Foresight<Body>>;
  /**
   * Answers with JSON text, or with an empty one and the status that it has set. A method, so that operations of
   * different bodies and queries stand in one table.
   */
  handle(call: Call<Body, Query>): Promise<string>;
}

export type AnyOperation = Operation<unknown, unknown>;

/** An operation for the table of all: its query, its body and its handler are held to each other here. */
export function operation<Body, Query>(definition: Operation<Body, Query>): AnyOperation {
  return definition;
}

/** Counts the requests of each API token in this process. Rejects with `rate_limited`. */
export type RateLimit = (caller: Caller) => Promise<void>;

const MINUTE_SECONDS = 60;

/** null where there is no limit. */
export function rateLimit(requestsPerMinute: number): RateLimit | null {
  if (requestsPerMinute === 0) return null;
  const limiter = new RateLimiterMemory({ points: requestsPerMinute, duration: MINUTE_SECONDS });
  return async (caller) => {
    try {
      await limiter.consume(caller.apiTokenId);
    } catch (rejection) {
      if (!(rejection instanceof RateLimiterRes)) throw rejection;
      // By the clock of the machine, which somebody may have set back; it counts anew after a minute all the same.
      const seconds = Math.ceil(rejection.msBeforeNext / 1_000);
      const retryAfterSeconds = Math.min(Math.max(1, seconds), MINUTE_SECONDS);
      throw new Problem('rate_limited', `This API token may make ${requestsPerMinute} requests a minute.`, {
        retryAfterSeconds,
      });
    }
  };
}

/**
 * The database begins with the last step of a request within this time, or is not asked any more. With what a step
 * may take, 2.5 seconds, and what a busy machine adds, everybody has an answer within five seconds.
 */
const LAST_STEP_AFTER_MS = 1_500;

function inTime(context: Context): Context {
  return { ...context, store: context.store.until(performance.now() + LAST_STEP_AFTER_MS) };
}

/** What a body may be declared as where the operation does not say. */
export const JSON_ONLY = ['application/json'] as const;

export interface OperationOptions {
  context: Context;
  limit: RateLimit | null;
  running: RunningOperations;
  /** Who asked last with the API token of a digest. */
  lastCallers: Recent<Caller>;
  unreadLists: UnreadLists;
}

export function addOperation(app: FastifyInstance, options: OperationOptions, operation: AnyOperation): void {
  const { context, running, unreadLists } = options;
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<string> => {
    context.store.admit(operation.access);
    running.begin();
    try {
      const call = await callOf(options, operation, request, reply);
      reply.header('content-type', 'application/json; charset=utf-8');
      if (operation.access !== 'list') return await operation.handle(call);
      return await unreadLists.make(reply.raw, () => operation.handle(call));
    } finally {
      running.end();
    }
  };
  for (const url of operation.paths) app.route({ method: operation.method, url, handler });
}

async function callOf(
  options: OperationOptions,
  operation: AnyOperation,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Call<unknown, unknown>> {
  const authenticating = inTime(options.context);
  const digest = apiTokenDigestOf(request.raw);
  const guess = { caller: digest === null ? undefined : options.lastCallers.get(digest) };
  // The body arrives while the database is asked who sends it.
  const receiving = receive(operation, authenticating, guess, request);
  receiving.catch(() => {});
  const caller = await callerOf(options, operation, authenticating, digest);
  // Nothing is on its way any more that the query of a guess could travel with.
  guess.caller = undefined;
  const query = operation.query.read(request.url);
  const takesBody = operation.body.schema !== null;
  if (takesBody) checkMediaType(request.raw, operation.mediaTypes ?? JSON_ONLY);
  const hasArrived = request.raw.complete;
  const { bytes, foreseen } = await receiving;
  if (takesBody) requireBody(bytes, request.method);
  const body = foreseen ?? operation.body.read(bytes);
  // The time that a client takes to send its body is not the database's.
  const operating = hasArrived ? authenticating : inTime(options.context);
  return { context: operating, caller, query, body, request, reply };
}

/** Who asks, and may. Whoever is refused is not expected again. */
async function callerOf(
  { limit, lastCallers }: OperationOptions,
  { permissions, purpose }: AnyOperation,
  context: Context,
  digest: TokenDigest | null,
): Promise<Caller> {
  try {
    const caller = await authenticate(context, digest);
    if (limit !== null) await limit(caller);
    permit(caller, permissions, purpose);
    lastCallers.add(digest!, caller);
    return caller;
  } catch (error) {
    if (digest !== null) lastCallers.delete(digest);
    throw error;
  }
}

/**
 * Reads the body, and asks the store what the caller who is expected is going to ask. What is wrong with a body is
 * said in its turn: `foreseen` is one that could be read.
 */
async function receive(
  operation: AnyOperation,
  { store }: Context,
  expected: { caller: Caller | undefined },
  request: FastifyRequest,
): Promise<{ bytes: Buffer; foreseen?: unknown }> {
  const bytes = await readBody(request.raw);
  const { caller } = expected;
  if (operation.foresee === undefined || caller === undefined) return { bytes };
  try {
    const foreseen = operation.body.read(bytes);
    const query = operation.foresee(caller, foreseen, request);
    if (query !== null) store.foresee(query);
    return { bytes, foreseen };
  } catch {
    return { bytes };
  }
}
