// What the HTTP server does below its router: limits of connections, and answers to what never becomes a request,
// in the same shape as every other.

import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Problem } from '../problem.ts';
import { PROBLEM_TYPE, problemBody, problemHeaders, unreadablePath } from './problem.ts';

export const MAX_HEADER_BYTES = 16_384;
/** How long a client may go on talking after it was refused, before its connection is cut. */
const LINGER_MS = 1_000;

/** The parts of Node's own state that say what is going on on a connection. */
interface HttpSocket extends Socket {
  /** The answer that is being made or sent. */
  _httpMessage?: ServerResponse | null;
  parser?: { incoming?: IncomingMessage | null } | null;
}

/** `maxConnections`, and the two requests that Node would answer without a body. */
export function configureSockets(server: Server, maxConnections: number, requestId: () => string): void {
  server.maxConnections = maxConnections;
  // RFC 9110 §10.1.1 lets a server ignore an expectation that it does not know.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    const problem = new Problem('method_not_allowed', 'This service is no proxy.');
    writeProblem(socket, problem, requestId, { allow: 'GET, PUT, POST' });
  });
}

/** Connections on which an answer is awaited before they are refused what follows. */
const refusedNext = new WeakSet<Socket>();

/**
 * Answers what Node's parser refuses. A whole request before it gets its own answer first; half a request that
 * has its answer already, such as 413, gets no second one.
 */
export function answerBrokenRequest(
  error: NodeJS.ErrnoException,
  socket: HttpSocket,
  requestId: () => string,
): void {
  const answer = socket._httpMessage;
  const isHalf = socket.parser?.incoming?.complete === false;
  if (answer && !isHalf) {
    if (refusedNext.has(socket)) return;
    refusedNext.add(socket);
    answer.once('finish', () => {
      // Another one may have its turn first.
      refusedNext.delete(socket);
      answerBrokenRequest(error, socket, requestId);
    });
    return;
  }
  const isAnswered = isHalf && (!answer || answer.headersSent);
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswered) {
    socket.destroy();
    return;
  }
  writeProblem(socket, brokenRequest(error.code), requestId);
}

function brokenRequest(code: string | undefined): Problem {
  if (code === 'HPE_INVALID_URL') return unreadablePath();
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new Problem('headers_too_large', `The headers must be at most ${MAX_HEADER_BYTES} bytes.`);
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Problem('request_timeout', 'The request did not arrive whole within the time it may take.');
  }
  return new Problem('invalid_request', 'The request is not HTTP that can be read in one way only.');
}

function writeProblem(
  socket: Socket,
  problem: Problem,
  requestId: () => string,
  extra: Record<string, string> = {},
): void {
  const id = requestId();
  const body = problemBody(problem, id);
  const headers = {
    ...problemHeaders(problem),
    ...extra,
    'content-type': PROBLEM_TYPE,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-request-id': id,
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  // The client may reset the connection, stay on it, or go on talking: none of it may hold the connection.
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`);
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
