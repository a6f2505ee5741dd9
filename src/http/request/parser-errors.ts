// Handles connections below the router: their limits, and problem responses to input that Node's parser
// rejects.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Problem } from '../../problem.ts';
import { http } from '../../system/http.ts';
import { currentResponse, isForeignMethod, isReceivingRequest, type ParserError } from '../node-internals.ts';
import {
  httpStatus,
  PROBLEM_TYPE,
  problemBody,
  problemHeaders,
  unreadablePath,
} from '../response/problem.ts';

export const MAX_HEADER_BYTES = 16_384;
export const MAX_HEADER_FIELDS = 1_000;
/** Time during which a rejected client may keep sending before its connection is closed. */
const LINGER_MS = 1_000;

/** Called for each problem that is sent from here; returns the id of the request. */
type Identify = (problem: Problem) => string;

/** Sets limits, and handles the two kinds of request that Node would answer without a body. */
export function configureSockets(server: Server, identify: Identify): void {
  server.maxHeadersCount = MAX_HEADER_FIELDS;
  // RFC 9110 §10.1.1 lets a server ignore unknown expectations.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    // Node has removed its own listeners: without one, a connection reset would crash the process.
    socket.on('error', () => socket.destroy());
    // Reads nothing until then, so that the client cannot send without limit.
    afterResponses(socket, () => {
      if (!socket.writable) return;
      const problem = new Problem('method_not_allowed', 'This service is not a proxy.');
      writeProblem(socket, problem, identify, { allow: 'GET, PUT, POST' });
    });
  });
}

/** Runs `done` when all earlier responses on the connection are sent. */
function afterResponses(socket: Socket, done: () => void): void {
  const response = currentResponse(socket);
  // Node assigns the connection to the next response before this listener runs.
  if (response) response.once('finish', () => afterResponses(socket, done));
  else done();
}

/** Connections that report a parser error after the response in progress. */
const rejectedNext = new WeakSet<Socket>();

/**
 * Responds to input that Node's parser rejects. A complete request before it is answered first; an incomplete
 * request that has been answered, for example with 413, is not answered again.
 */
export function handleParserError(error: ParserError, socket: Socket, identify: Identify): void {
  const response = currentResponse(socket);
  const isIncomplete = isReceivingRequest(socket);
  if (response && !isIncomplete) {
    if (rejectedNext.has(socket)) return;
    rejectedNext.add(socket);
    response.once('finish', () => {
      // Another response may follow first.
      rejectedNext.delete(socket);
      handleParserError(error, socket, identify);
    });
    return;
  }
  const isAnswered = isIncomplete && (!response || response.headersSent);
  // A client that connects in advance would take a 408 for the response to the request that it is about to
  // send.
  const isUnused = socket.bytesRead === 0;
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswered || isUnused) {
    socket.destroy();
    return;
  }
  writeProblem(socket, problemOfParser(error), identify);
}

function problemOfParser(error: ParserError): Problem {
  const { code } = error;
  if (code === 'HPE_INVALID_URL') return unreadablePath;
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLarge;
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return requestTimeout;
  if (hasUnknownMethod(error)) return unknownMethod;
  return invalidHttp;
}

export const requestTimeout = new Problem('request_timeout', 'Timed out waiting for the complete request.');

/** Reported also for input that HTTP implementations may interpret differently. */
export const invalidHttp = new Problem('invalid_request', 'The request is not valid, unambiguous HTTP.');

/** Node reports one error for both limits. */
export const headersTooLarge = new Problem(
  'headers_too_large',
  `The headers must be at most ${MAX_HEADER_BYTES} bytes and ${MAX_HEADER_FIELDS} fields.`,
);

export const unknownMethod = new Problem(
  'not_implemented',
  'This service does not know the method of the request. Method names are case-sensitive.',
);

/** The rest of a request line, from within its method (RFC 9112 §3, RFC 9110 §5.6.2). */
const REST_OF_REQUEST_LINE = /^[\w!#$%&'*+.^`|~-]* [^\s]+ HTTP\/1\.[01]\r\n/;
const TOKEN_CHARACTER = /[\w!#$%&'*+.^`|~-]/;

/**
 * Whether the request line is valid except for a method that Node's parser does not know. A line that arrives
 * in parts is not: the parser fails before the rest has arrived.
 */
function hasUnknownMethod(error: ParserError): boolean {
  if (isForeignMethod(error)) return true;
  const { code, rawPacket, bytesParsed = 0 } = error;
  if (code !== 'HPE_INVALID_METHOD' || rawPacket === undefined) return false;
  const rest = rawPacket.toString('latin1', bytesParsed);
  const isEmpty =
    rest.startsWith(' ') && !TOKEN_CHARACTER.test(String.fromCharCode(rawPacket[bytesParsed - 1] ?? 0));
  return !isEmpty && REST_OF_REQUEST_LINE.test(rest);
}

function writeProblem(
  socket: Socket,
  problem: Problem,
  identify: Identify,
  extra: Record<string, string> = {},
): void {
  const id = identify(problem);
  const body = problemBody(problem, id);
  const headers = {
    ...problemHeaders(problem),
    ...extra,
    'content-type': PROBLEM_TYPE,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-request-id': id,
    date: new Date().toUTCString(),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  // The client may reset the connection, keep it open, or keep sending: none of this may keep it alive.
  socket.on('error', () => socket.destroy());
  const status = httpStatus(problem);
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
