// The HTTP server: its limits, and one format for every error response, including those that Node's parser or
// Fastify's router would otherwise send themselves.

import type { ServerOptions as HttpOptions, RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { limits } from '../domain/field.ts';
import type { Problem } from '../problem.ts';
import { UNKNOWN_TENANT } from '../scheduling/fair-queue.ts';
import { http } from '../system/http.ts';
import { ArrivalLimit, type ArrivalOptions } from './limits/arrival-limit.ts';
import { limitConnections, type ThreadConnections } from './limits/connection-limit.ts';
import type { PublicLimit } from './limits/public-limit.ts';
import { RefusalDelay } from './limits/refusal-delay.ts';
import { isPipelined, RequestPipelining } from './limits/request-pipelining.ts';
import { resetSlowReaders } from './limits/response-backpressure.ts';
import { accessLog } from './log/access-log.ts';
import { ProblemLog } from './log/problem-log.ts';
import { requestId } from './log/request-id.ts';
import type { ParserError } from './node-internals.ts';
import { hasEncodedStart, requestProtocol } from './protocol.ts';
import { discardBody } from './request/body.ts';
import { ChunkLimit, isChunked } from './request/chunks.ts';
import { checkHeaders, checkOrigin, hasUnsafeFraming } from './request/header-checks.ts';
import {
  configureSockets,
  handleParserError,
  invalidHttp,
  MAX_HEADER_BYTES,
} from './request/parser-errors.ts';
import { withoutViewerUrl } from './request/viewer-url.ts';
import {
  type ObserveRequest,
  observeRequests,
  type ReportProblem,
  type RequestObserver,
} from './request-observer.ts';
import {
  httpStatus,
  methodNotAllowed,
  nothingAtPath,
  sendProblem,
  shuttingDown,
  toProblem,
  unreadablePath,
} from './response/problem.ts';

/** draining: not ready, but still serving requests; closing: rejecting new requests. */
export type Phase = 'serving' | 'draining' | 'closing';

type RespondWithProblem = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;

/** Counts what the server does. */
export interface ServerMetrics {
  request: RequestObserver;
  rejected(problem: Problem): void;
  watch(server: Server, maxConnections: number): void;
}

interface ServerOptions {
  config: Config;
  connections: ThreadConnections;
  log: Logger;
  phase: () => Phase;
  publicLimit: PublicLimit | null;
  /** null if metrics are off. */
  metrics: ServerMetrics | null;
  arrivals: ArrivalOptions;
}

export function createServer(options: ServerOptions): FastifyInstance {
  const { config, log, connections, metrics, arrivals } = options;
  const problems = new ProblemLog(log, config.trustedProxies, config.threads);
  const report: ReportProblem = (problem, request) => {
    problems.add(problem, request);
    metrics?.rejected(problem);
  };
  const respond = responder(options, report);
  const receive = receiver(options);
  const observe = observeRequests([metrics?.request.bind(metrics), accessLog(log, config)]);
  const identify = (problem: Problem): string => {
    metrics?.rejected(problem);
    return requestId();
  };
  const app = fastify({
    ...BEHAVIOUR,
    serverFactory: (route) => http.createServer(httpOptions(config), inOrder(route, config.threads)),
    genReqId: requestId,
    clientErrorHandler: (error, socket) =>
      handleParserError(error as NodeJS.ErrnoException as ParserError, socket as Socket, identify),
    frameworkErrors: (_error, request, reply) => {
      let problem: unknown = unreadablePath;
      try {
        // Hooks do not run for framework errors.
        observe?.(request, reply);
        receive(request, reply);
      } catch (refusal) {
        problem = refusal;
      }
      respond(problem, request, reply);
    },
  });
  decorate(app, report);
  configureSockets(app.server, identify);
  limitConnections(app.server, config.maxConnections, connections, log);
  metrics?.watch(app.server, config.maxConnections);
  resetSlowReaders(app.server, config.answerTimeoutMs);
  addReception(app, new ArrivalLimit(arrivals), observe, receive);
  app.addHook('onClose', async () => problems.close());
  app.setErrorHandler(respond);
  addNotFound(app, respond);
  return app;
}

/**
 * Returns `route` for the requests of each connection in their order. Runs before the router: the requests of a
 * client that does not read its responses wait until it is disconnected.
 */
function inOrder(route: RequestListener, threads: number): RequestListener {
  const pipelining = new RequestPipelining(threads);
  const chunks = new ChunkLimit();
  return (message, response) => {
    if (isChunked(message)) {
      chunks.watch(message);
      // Otherwise Node reads the rest of a body without counting its chunks.
      response.once('prefinish', () => discardBody(message));
    }
    pipelining.serialize(message, response, () => route(message, response));
  };
}

/** Adds the members that `protocol.ts`, `request-observer.ts` and `problem-page.ts` declare. */
function decorate(app: FastifyInstance, report: ReportProblem): void {
  app.decorate('reportProblem', report);
  app.decorate('beforeMissingPage', async () => false);
  app.decorate('findFrame', () => null);
  app.decorateRequest('apiTokenId', null);
  app.decorateRequest('frame', null);
  app.decorateRequest('keptForm', null);
  // Endpoints read the body themselves, for every method; see `body.ts`.
  for (const method of app.supportedMethods)
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
}

/** Returns the first step of every request, which throws the problem of a request that is refused. */
function receiver({ config, phase }: ServerOptions): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    const { raw } = request;
    reply.header('x-request-id', request.id);
    reply.header('cache-control', 'no-store');
    const isUnsafe = hasUnsafeFraming(raw);
    // Prevents clients from sending a request while the connection is being closed, or one whose start would be
    // ambiguous.
    if (phase() !== 'serving' || isUnsafe) reply.header('connection', 'close');
    if (phase() === 'closing') throw shuttingDown;
    if (isUnsafe) throw invalidHttp;
    // A function: Fastify collects the options of a route each time.
    const isForwardAuth = () => request.routeOptions.config.protocol === 'forward-auth';
    checkHeaders(raw, isForwardAuth);
    if (raw.headers.origin !== undefined && !isForwardAuth()) checkOrigin(raw, config.allowedOrigins);
  };
}

/** Returns the function that reports and sends what was thrown. Delays it if a flood of requests causes it. */
function responder(
  { config, publicLimit, arrivals }: ServerOptions,
  report: ReportProblem,
): RespondWithProblem {
  const delay = new RefusalDelay(config.threads);
  return (error, request, reply) => {
    const refused = toProblem(error);
    // Also absent if the router rejects the path.
    const isPublic = !request.apiTokenId;
    // Overload is refused before authentication: it may be the caller's own.
    if (isPublic && refused.code !== 'overloaded') arrivals.activity.seen(UNKNOWN_TENANT);
    const problem = (isPublic && publicLimit?.refuse(request.raw, refused)) || refused;
    report(problem, request);
    const send = () => respondWithProblem(problem, request, reply);
    const isFlood =
      problem.code === 'rate_limited'
        ? isPublic
        : problem.code === 'overloaded' && arrivals.activity.isShared;
    if (isFlood) delay.run(send);
    else send();
  };
}

/** Runs `receive` when the arrival limit allows. One hook is cheaper than three. */
function addReception(
  app: FastifyInstance,
  arrivals: ArrivalLimit,
  observe: ObserveRequest | null,
  receive: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    observe?.(request, reply);
    arrivals.admit(request, () => {
      try {
        receive(request, reply);
        if (hasEncodedStart(request.url)) throw nothingAtPath();
      } catch (problem) {
        done(problem as Problem);
        return;
      }
      done();
    });
  });
}

/** Overrides defaults of Fastify. */
const BEHAVIOUR = {
  logger: false,
  requestIdHeader: false,
  rewriteUrl: withoutViewerUrl,
  exposeHeadRoutes: false,
  return503OnClosing: false,
  forceCloseConnections: 'idle',
  bodyLimit: limits.bodyBytes,
  // Never exceeded: the length of an id is validated later, like that of one in a body.
  routerOptions: { maxParamLength: MAX_HEADER_BYTES },
  // Loading the default compilers takes 2 MB and 50 ms of processor time in each thread.
  schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
} as const;

/** A route checks its body itself (`bodyType`), so it has no schema for Fastify. */
function refuseSchema(): never {
  throw new Error('a route has a schema for Fastify');
}

/** Overrides defaults of Node. */
function httpOptions({ headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs }: Config): HttpOptions {
  return {
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    // Node requires that the headers do not have more time than the whole request.
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    connectionsCheckingInterval: Math.min(2_000, headersTimeoutMs),
    maxHeaderSize: MAX_HEADER_BYTES,
    // Creates no stream for a request without a body: saves 2 of 29 microseconds.
    optimizeEmptyRequests: true,
    // Node would respond without a body; `checkHeaders` responds with one.
    requireHostHeader: false,
  };
}

function respondWithProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply): void {
  const status = httpStatus(problem);
  // The rest of the pipelined requests would be rejected too.
  if (status === 503 && isPipelined(request.raw)) reply.header('connection', 'close');
  // The rest of the request may never arrive.
  if (status === 408) reply.header('connection', 'close');
  discardBody(request.raw);
  sendProblem(reply, problem);
}

/** Responds 404 to an unknown path, and 405 to a known one that does not support the method. */
function addNotFound(app: FastifyInstance, respond: RespondWithProblem): void {
  const routes: { pattern: RegExp; method: string }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = new RegExp(`^${url.replaceAll('.', '\\.').replace(/:[^/]+/g, '[^/]*')}$`);
    for (const each of [method].flat()) routes.push({ pattern, method: each });
  });
  const refuse = (request: FastifyRequest, reply: FastifyReply): void => {
    const path = decodedPath(request.url);
    const methods = new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method));
    if (methods.size === 0) {
      respond(nothingAtPath(requestProtocol(request)), request, reply);
      return;
    }
    const allow = [...methods].join(', ');
    reply.header('allow', allow);
    respond(methodNotAllowed(allow, path), request, reply);
  };
  app.setNotFoundHandler((request, reply) => {
    if (requestProtocol(request) !== 'console') return refuse(request, reply);
    return app.beforeMissingPage(request, reply).then((hasResponded) => {
      if (!hasResponded) refuse(request, reply);
      return reply;
    });
  });
}

/** Returns the path as the router interprets it: decoded, without the query, also of an absolute URL. */
function decodedPath(url: string): string {
  const path = url.replace(/^[a-z]+:\/\/[^/?]*/i, '').split('?', 1)[0]!;
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
