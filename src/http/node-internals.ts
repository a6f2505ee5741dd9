// The only code that relies on undocumented behaviour of Node's HTTP server. Check it when Node is upgraded.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface HttpSocket extends Socket {
  /** The response that owns the connection: the oldest one not yet sent completely. */
  _httpMessage?: ServerResponse | null;
  parser?: { incoming?: IncomingMessage | null } | null;
}

/** Error that Node's parser reports with `clientError`. */
export interface ParserError extends NodeJS.ErrnoException {
  reason?: string;
  rawPacket?: Buffer;
  /** Offset in `rawPacket` at which parsing failed. */
  bytesParsed?: number;
}

/** The oldest response on the connection that is not yet sent completely; undefined if there is none. */
export function currentResponse(socket: Socket): ServerResponse | undefined {
  return (socket as HttpSocket)._httpMessage ?? undefined;
}

/** Whether the connection has received a part of a request, but not all of it. */
export function isReceivingRequest(socket: Socket): boolean {
  return (socket as HttpSocket).parser?.incoming?.complete === false;
}

/** Whether responses to earlier requests on the connection have to be sent first. Node assigns the socket after them. */
export function isBehindOthers(response: ServerResponse): boolean {
  return response.socket === null;
}

/** Runs `done` when the earlier responses are sent. */
export function onConnectionTurn(response: ServerResponse, done: () => void): void {
  response.once('socket', done);
}

/** Whether the headers announce no body. `complete` is not set yet; see `optimizeEmptyRequests` in `server.ts`. */
export function hasNoBody(message: IncomingMessage): boolean {
  return message.readableEnded;
}

/** Whether parsing failed because of a method that the parser knows only for RTSP. */
export function isForeignMethod({ reason }: ParserError): boolean {
  return reason === 'Invalid method for HTTP/x.x request';
}
