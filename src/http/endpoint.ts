// The pipeline of every endpoint that requires an API token: authenticate, check the permission, read and
// parse the body, run the handler. Callers rely on the order: 401 before 403 before any error in the body.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { Caller, Permission } from '../domain/api-token.ts';
import type { Precondition } from '../domain/precondition.ts';
import { type BodyType, noBody } from '../domain/request-body.ts';
import { authenticate } from '../operations/api-token/authenticate.ts';
import type { Context } from '../operations/context.ts';
import { type CpuQueue, GRACE_MS, PART_BYTES, STEP_BYTES } from '../operations/machinery/cpu-queue.ts';
import { overloaded, permit } from '../operations/refusals.ts';
import { MAX_ERRORS } from '../problem.ts';
import { UNKNOWN_TENANT } from '../scheduling/fair-queue.ts';
import type { Access } from '../store/admission.ts';
import type { EndpointDescription } from './description.ts';
import { freeBytes } from './free-bytes.ts';
import type { BodyAdmission, Reservation } from './limits/body-admission.ts';
import { keepConnection } from './limits/connection-limit.ts';
import type { InFlight } from './limits/in-flight.ts';
import type { RateLimit } from './limits/rate-limit.ts';
import type { UnreadResponses } from './limits/response-backpressure.ts';
import { type FirstQuery, type Incoming, Prefetch, type Prefetcher, type ReceivedBody } from './prefetch.ts';
import type { Protocol } from './protocol.ts';
import {
  announcedBytes,
  discardBody,
  hasSmallBody,
  postponeBody,
  readBody,
  requireBody,
} from './request/body.ts';
import { presentedTokenDigest } from './request/credentials.ts';
import { checkMediaType, type MediaType } from './request/media-type.ts';
import { noQuery, type QueryType } from './request/query.ts';
import { encodeLarge } from './response/encode.ts';
import { readPrecondition, refusePrecondition } from './response/entity-tag.ts';
import { JSON_TYPE } from './response/problem.ts';

export interface Call<Body = null, Query = null> {
  context: Context;
  caller: Caller;
  query: Query;
  body: Body;
  precondition: Precondition | undefined;
  request: FastifyRequest;
  reply: FastifyReply;
}

interface Endpoint<Body, Query> {
  operationId: string;
  method: HTTPMethods;
  /** Methods with the same behaviour; not in the API description. */
  aliasMethods?: readonly HTTPMethods[];
  /** The API description shows the first; the others are aliases. */
  paths: readonly string[];
  permissions: readonly Permission[];
  /** Completes the message for a caller without permission: "may not …". */
  purpose: string;
  access: Access;
  protocol?: Protocol;
  query: QueryType<Query>;
  body: BodyType<Body>;
  /** Whether the endpoint honours `If-Match` and `If-None-Match`. */
  isConditional: boolean;
  /** Accepted media types of the body. */
  mediaTypes: readonly MediaType[];
  /**
   * The first query of the handler, if it is known before authentication. Declared as a method, like `handle`; the
   * type of the body follows from `body` alone.
   */
  prefetch?(...args: Parameters<FirstQuery<NoInfer<Body>>>): ReturnType<FirstQuery<Body>>;
  description: EndpointDescription;
  /**
   * Returns the JSON body, or undefined for none. The status is the lowest of the description unless the
   * handler sets another. Declared as a method, so that endpoints with different types of body fit into one
   * list.
   */
  handle(call: Call<Body, Query>): Promise<string | undefined>;
}

export type AnyEndpoint = Endpoint<unknown, unknown>;

type Defaults = 'access' | 'query' | 'body' | 'mediaTypes' | 'isConditional';

/**
 * Checks the types of body, query and handler against each other. By default, GET has the access `read` and
 * other methods `write`, a body is JSON, and the endpoint accepts no query, no body and no precondition.
 */
export function endpoint<Body = null, Query = null>(
  definition: Omit<Endpoint<Body, Query>, Defaults> & Partial<Pick<Endpoint<Body, Query>, Defaults>>,
): AnyEndpoint {
  const access = definition.method === 'GET' ? 'read' : 'write';
  const mediaTypes = ['application/json'] as const;
  return { access, query: noQuery, body: noBody, mediaTypes, isConditional: false, ...definition };
}

/**
 * A request must send its last query to the database within this time. A query may take 2.5 seconds; the rest
 * is margin for a busy machine, so that every response is sent within five seconds.
 */
const LAST_QUERY_AFTER_MS = 1_500;
/** Latest start of work that waits for the CPU: it still has time to query the database afterwards. */
export const LAST_CPU_TURN_AFTER_MS = 1_400;

/** Returns the context of a request, with deadlines that start now, or at `startedAt`, and the queue of the tenant. */
export function requestContext(
  context: Context,
  { id }: FastifyRequest,
  tenant: number = UNKNOWN_TENANT,
  startedAt = performance.now(),
): Context {
  const store = context.store.until(startedAt + LAST_QUERY_AFTER_MS, tenant);
  const origin = { via: context.origin.via, requestId: id };
  const cpu = context.cpu.until(startedAt + LAST_CPU_TURN_AFTER_MS, tenant);
  return { ...context, store, cpu, origin, startedAt, violations: [] };
}

/** Assigns the context to the authenticated tenant, unknown before the first request with an API token. */
export function ofTenant(context: Context, tenant: number): Context {
  const { cpu, store } = context;
  return cpu.tenant === tenant
    ? context
    : { ...context, cpu: cpu.forTenant(tenant), store: store.forTenant(tenant) };
}

export interface EndpointOptions {
  context: Context;
  limit: RateLimit | null;
  running: InFlight;
  prefetcher: Prefetcher;
  unread: UnreadResponses;
  bodies: BodyAdmission;
}

export function addEndpoint(app: FastifyInstance, options: EndpointOptions, endpoint: AnyEndpoint): void {
  const { context, running, unread, prefetcher } = options;
  const { access } = endpoint;
  const status = Math.min(...Object.keys(endpoint.description.responses).map(Number));
  const handler = async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<string | Buffer | undefined> => {
    if (!context.store.admits(access, () => prefetcher.guessTenant(request.raw))) throw overloaded;
    running.begin();
    try {
      const call = await prepareCall(options, endpoint, request, reply);
      const { workspaceId } = call.caller;
      unread.admit(workspaceId, access);
      if (status !== 200) reply.code(status);
      const text = await endpoint.handle(call);
      if (text === undefined) return undefined;
      reply.header('content-type', JSON_TYPE);
      if (!call.context.store.hasWritten) unread.admitResponse(workspaceId, text);
      if (call.context.violations.length > 0) setViolations(reply, call.context.violations);
      const content = encodeLarge(text, reply.raw);
      unread.count(workspaceId, reply.raw, content);
      return content;
    } catch (error) {
      throw context.cpu.asOverloaded(error);
    } finally {
      running.end();
    }
  };
  const { operationId, protocol } = endpoint;
  const method = [endpoint.method, ...(endpoint.aliasMethods ?? [])];
  const config = { operationId, ...(protocol && { protocol }) };
  for (const url of endpoint.paths) app.route({ method, url, handler, config });
}

/** Half of what clients and proxies accept in all headers of a response. */
const MAX_VIOLATIONS_BYTES = 4_096;

/**
 * Sets the header to percent-encoded pointers, separated by commas: as many as fit or, if none fits, the
 * field of the first violation.
 */
function setViolations(reply: FastifyReply, violations: Context['violations']): void {
  const pointers: string[] = [];
  let bytes = 0;
  for (const { pointer } of violations.slice(0, MAX_ERRORS)) {
    const encoded = encodeURIComponent(pointer).replaceAll('%2F', '/');
    bytes += encoded.length + 2;
    if (bytes > MAX_VIOLATIONS_BYTES) break;
    pointers.push(encoded);
  }
  const [, field] = violations[0]!.pointer.split('/', 2);
  reply.header('user-group-violations', pointers.length === 0 ? `/${field}` : pointers.join(', '));
}

async function prepareCall(
  options: EndpointOptions,
  endpoint: AnyEndpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Call<unknown, unknown>> {
  const { raw } = request;
  const digest = presentedTokenDigest(raw, endpoint.protocol);
  const guess = options.prefetcher.guess(digest);
  const guessed = requestContext(options.context, request, guess?.workspaceId);
  const isSmall = endpoint.body.isIgnored === true || hasSmallBody(raw);
  if (!isSmall) {
    // Hundreds of requests may arrive in one turn of the event loop.
    postponeBody(raw);
    await guessed.cpu.turn(STEP_BYTES);
  }
  const incoming = { endpoint, context: guessed, request, digest, guess };
  const prefetch = isSmall ? new Prefetch(incoming) : null;
  const authorized = await authorize(options, incoming, reply, prefetch);
  const { workspaceId } = authorized;
  const authenticated = ofTenant(guessed, workspaceId);
  const query = endpoint.query.read(request.url);
  if (endpoint.body.isRequired) checkMediaType(raw, endpoint.mediaTypes);
  const awaitedSince = raw.complete ? null : performance.now();
  // Not `using`, which would cost every request as much as reading a header.
  const reservation = prefetch === null ? options.bodies.open(workspaceId) : null;
  try {
    const received: ReceivedBody =
      reservation === null
        ? await prefetch!.received
        : { bytes: await receiveLarge(authenticated.cpu, raw, reservation) };
    checkReceived(endpoint, request, received.bytes);
    // Restarts the deadlines: time that the client spent sending the body does not count against the
    // database.
    const context =
      awaitedSince === null ? authenticated : requestContext(options.context, request, workspaceId);
    const isLate = awaitedSince !== null && isLateBody(awaitedSince);
    const caller = isLate ? await authenticate(context, digest) : authorized;
    const parsed = parseBody(endpoint, received, context.cpu);
    const body = parsed instanceof Promise ? await parsed : parsed;
    if (reservation !== null) freeBytes(received.bytes);
    const precondition = preconditionOf(endpoint, raw.headers);
    return { context, caller, query, body, precondition, request, reply };
  } finally {
    reservation?.[Symbol.dispose]();
  }
}

/**
 * Whether a client has sent the rest of a body so slowly that the API token has to be looked up again: it may have been
 * revoked for longer than a request takes. `since`: when the API token was looked up (`performance.now()`).
 */
export function isLateBody(since: number): boolean {
  return performance.now() - since > LAST_QUERY_AFTER_MS;
}

async function authorize(
  { limit, prefetcher }: EndpointOptions,
  { endpoint, context, request, digest }: Incoming & { endpoint: AnyEndpoint },
  reply: FastifyReply,
  prefetch: Prefetch | null,
): Promise<Caller> {
  try {
    const caller = await authenticate(context, digest);
    context.activity.seen(caller.workspaceId);
    acceptCaller(caller, limit, request, reply);
    permit(caller, endpoint.permissions, endpoint.purpose);
    prefetcher.confirm(digest!, caller);
    return caller;
  } catch (error) {
    if (digest !== null) prefetcher.forget(digest);
    throw error;
  } finally {
    prefetch?.end();
  }
}

/** Names the caller in the log, keeps its connection, and counts the request. Throws `rate_limited`. */
export function acceptCaller(
  caller: Caller,
  limit: RateLimit | null,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  request.apiTokenId = caller.apiTokenId;
  keepConnection(request.raw, caller.workspaceId);
  limit?.(caller, reply);
}

function checkReceived(
  { body, mediaTypes }: AnyEndpoint,
  { raw, method }: FastifyRequest,
  bytes: Buffer,
): void {
  if (body.isRequired) requireBody(bytes, method);
  // Some clients declare a type without sending a body: curl -d '' does.
  else if (body.schema !== null && bytes.length > 0) checkMediaType(raw, mediaTypes);
}

/** Parses the body unless the prefetch has done so. Returns a promise only if it has to wait for the CPU. */
function parseBody({ body }: AnyEndpoint, { bytes, parsed }: ReceivedBody, cpu: CpuQueue): unknown {
  if (parsed !== undefined) {
    if ('error' in parsed) throw parsed.error;
    return parsed.body;
  }
  if (bytes.length > PART_BYTES && body.readInParts) {
    return parseInParts(body.readInParts(bytes, PART_BYTES), cpu);
  }
  const turn = cpu.turn(bytes.length, GRACE_MS);
  return turn === undefined ? body.read(bytes) : turn.then(() => body.read(bytes));
}

async function parseInParts(parts: Generator<void, unknown>, cpu: CpuQueue): Promise<unknown> {
  for (;;) {
    await cpu.turn(PART_BYTES, GRACE_MS);
    const { done, value } = parts.next();
    if (done) return value;
  }
}

function preconditionOf(
  { isConditional, protocol }: AnyEndpoint,
  headers: IncomingHttpHeaders,
): Precondition | undefined {
  if (isConditional) return readPrecondition(headers);
  // The preconditions of forward authentication are those of the viewer.
  if (protocol !== 'forward-auth') refusePrecondition(headers);
  return undefined;
}

/** Reads and rejects large bodies in turns: a burst of either would block the event loop. */
async function receiveLarge(
  cpu: CpuQueue,
  message: IncomingMessage,
  reservation: Reservation,
): Promise<Buffer> {
  await cpu.turn(STEP_BYTES);
  reservation.grow(announcedBytes(message));
  try {
    return await readBody(message, reservation);
  } catch (problem) {
    // The queue spreads its own rejections over turns too, so a rejected wait is also a wait.
    await cpu.turn(STEP_BYTES)?.catch(() => {});
    discardBody(message);
    throw problem;
  }
}
