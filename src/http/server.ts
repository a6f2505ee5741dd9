// The HTTP server: its limits, and one shape for every answer that is no success, also for those that Node's
// parser or Fastify's router would give by themselves.

import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { limits } from '../domain/field.ts';
import { Problem } from '../problem.ts';
import { checkHeaders, hasUnsafeFraming } from './headers.ts';
import { isPipelined, takeTurns } from './pipelining.ts';
import { nothingAtPath, problemOf, sendProblem, unreadablePath } from './problem.ts';
import { type ProblemLog, problemLog } from './problem-log.ts';
import { cutSlowReaders } from './slow-reader.ts';
import { answerBrokenRequest, configureSockets, MAX_HEADER_BYTES } from './socket.ts';

type ServerConfig = Pick<
  Config,
  | 'allowedOrigins'
  | 'maxConnections'
  | 'answerTimeoutMs'
  | 'headersTimeoutMs'
  | 'requestTimeoutMs'
  | 'keepAliveTimeoutMs'
>;

/** draining: not ready any more, but every request is served; closing: no new requests. */
export type Phase = 'serving' | 'draining' | 'closing';

export interface ServerOptions {
  config: ServerConfig;
  log: Logger;
  phase: () => Phase;
}

export function createServer({ config, log, phase }: ServerOptions): FastifyInstance {
  const requestId = requestIds();
  const logProblem = problemLog(log);
  /** What comes first for every request, whatever it asks for. */
  const receive = (request: FastifyRequest, reply: FastifyReply): void => {
    markAnswer(request, reply);
    refuseAtTheEnd(phase(), reply);
    refuseUnsafeFraming(request, reply);
    checkHeaders(request.raw, config.allowedOrigins);
  };
  const app = fastify({
    ...behaviour(config),
    genReqId: requestId,
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket as Socket, requestId),
    frameworkErrors: (_error, request, reply) => {
      let problem: unknown = unreadablePath();
      try {
        // No hook runs before this.
        receive(request, reply);
      } catch (refusal) {
        problem = refusal;
      }
      answerProblem(problem, request, reply, logProblem);
    },
  });
  // Operations read the body themselves, of every method alike; see `body.ts`.
  for (const method of app.supportedMethods)
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  configureSockets(app.server, config.maxConnections, requestId);
  cutSlowReaders(app.server, config.answerTimeoutMs);
  takeTurns(app);

  app.addHook('onRequest', (request, reply, done) => {
    receive(request, reply);
    done();
  });
  if (log.isLevelEnabled('debug')) addRequestLog(app, log);
  app.setErrorHandler((error, request, reply) => answerProblem(error, request, reply, logProblem));
  addNotFound(app, logProblem);
  return app;
}

/** What Fastify and Node would do otherwise by themselves. */
function behaviour(config: ServerConfig) {
  return {
    logger: false,
    requestIdHeader: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    bodyLimit: limits.bodyBytes,
    requestTimeout: config.requestTimeoutMs,
    keepAliveTimeout: config.keepAliveTimeoutMs,
    // No path is longer: whether an id is too long is said in its turn, as of one in a body.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    http: {
      // Node refuses to give the headers more time than the whole request.
      headersTimeout: Math.min(config.headersTimeoutMs, config.requestTimeoutMs),
      requestTimeout: config.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(2_000, config.headersTimeoutMs),
      maxHeaderSize: MAX_HEADER_BYTES,
      // A request without a body costs no stream to read it from: 2 of 29 microseconds.
      optimizeEmptyRequests: true,
      // Node would answer without a body; `checkHeaders` does it with one.
      requireHostHeader: false,
    },
  } as const;
}

function refuseAtTheEnd(phase: Phase, reply: FastifyReply): void {
  // A client that keeps its connection would meet its end in the middle of a request.
  if (phase !== 'serving') reply.header('connection', 'close');
  if (phase !== 'closing') return;
  throw new Problem('shutting_down', 'The service is shutting down. Try again: another process may answer.');
}

function refuseUnsafeFraming({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (!hasUnsafeFraming(raw)) return;
  // Where the next request begins can be read in two ways.
  reply.header('connection', 'close');
  throw new Problem('invalid_request', 'The request is not HTTP that can be read in one way only.');
}

/** The headers of every answer. */
function markAnswer(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id);
  reply.header('cache-control', 'no-store');
}

/** Unique in the installation as far as chance goes, short, and cheap: a prefix a process and a counter. */
function requestIds(): () => string {
  const prefix = randomBytes(6).toString('base64url');
  let counter = 0;
  return () => `${prefix}-${(++counter).toString(36)}`;
}

function answerProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  logProblem: ProblemLog,
): void {
  const problem = problemOf(error);
  logProblem(problem, request.id);
  // Whoever sends on without waiting would be told the same again and again.
  if (problem.status === 503 && isPipelined(request)) reply.header('connection', 'close');
  sendProblem(reply, problem, request.id);
}

/** 404 for an unknown path, 405 for a known one that does not take the method. */
function addNotFound(app: FastifyInstance, logProblem: ProblemLog): void {
  const routes: { pattern: RegExp; method: string }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = new RegExp(`^${url.replaceAll('.', '\\.').replace(/:[^/]+/g, '[^/]*')}$`);
    for (const each of [method].flat()) routes.push({ pattern, method: each });
  });
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request.url);
    const methods = new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method));
    if (methods.size === 0) {
      answerProblem(nothingAtPath(), request, reply, logProblem);
      return;
    }
    const allow = [...methods].join(', ');
    reply.header('allow', allow);
    answerProblem(new Problem('method_not_allowed', `This path takes ${allow}.`), request, reply, logProblem);
  });
}

/** The path as the router reads it: of an absolute URL too, without its query, and decoded. */
function pathOf(url: string): string {
  const path = url.replace(/^[a-z]+:\/\/[^/?]*/i, '').split('?', 1)[0]!;
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

function addRequestLog(app: FastifyInstance, log: Logger): void {
  app.addHook('onResponse', (request, reply, done) => {
    const durationMs = Math.round(reply.elapsedTime * 1_000) / 1_000;
    // The path as it is registered: the one that was sent may hold anything, a token too.
    const path = request.routeOptions.url;
    log.debug(
      { requestId: request.id, method: request.method, path, status: reply.statusCode, durationMs },
      'request',
    );
    done();
  });
}
