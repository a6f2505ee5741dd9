// Handles one request and its response. Node destroys some sockets without an `error` or `response` event, so
// every way to end is covered here: an exchange ends with its signal at the latest, whatever Node reports.

import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { tcpOf } from './tls-agent.ts';

/** Maximum size of interim responses, headers and body together. */
const MAX_RESPONSE_BYTES = 65_536;

/** The attempt failed; the message is shown to callers. */
export class ExchangeFailed extends Error {
  override readonly name = 'ExchangeFailed';
}

export const UNANSWERED = 'the receiver closed the connection without a response';

/**
 * Resolves with the status when the response has ended, even if its body is invalid or too long. Rejects with
 * the reason of the signal if it aborts earlier.
 */
export function receiveStatus(request: ClientRequest, signal: AbortSignal): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let status: number | undefined;
  const abort = () => {
    reject(signal.reason);
    request.destroy();
  };
  const end = (error: Error) => {
    if (status === undefined) reject(error);
    else resolve(status);
  };
  signal.addEventListener('abort', abort, { once: true });
  request.on('socket', limitReceived);
  request.on('response', (response) => {
    status = response.statusCode!;
    response.on('error', end);
    response.on('close', () => resolve(response.statusCode!));
    response.resume();
  });
  // Status 101: without a listener, Node destroys the socket and reports nothing.
  request.on('upgrade', (response, socket) => {
    socket.destroy();
    resolve(response.statusCode!);
  });
  request.on('error', end);
  request.on('close', () => {
    if (status === undefined) reject(new ExchangeFailed(UNANSWERED));
  });
  return promise.finally(() => signal.removeEventListener('abort', abort));
}

/** The number of received bytes at which each connection is closed. */
const limits = new WeakMap<Socket, number>();

/**
 * Limits the bytes received until the next exchange on the connection: Node emits no event for endless interim responses,
 * chunk extensions and empty lines, nor for what a receiver sends between two exchanges.
 */
function limitReceived(socket: Socket): void {
  const tcp = tcpOf(socket);
  const isNew = !limits.has(tcp);
  limits.set(tcp, tcp.bytesRead + MAX_RESPONSE_BYTES);
  if (!isNew) return;
  tcp.on('data', () => {
    if (tcp.bytesRead > limits.get(tcp)!)
      socket.destroy(new ExchangeFailed('the receiver sent more than 64 KiB without a response'));
  });
}
