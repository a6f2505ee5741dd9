// Handles one request and its response. Node destroys some sockets without an `error` or `response` event, so
// every way to end is covered here: an exchange ends with its signal at the latest, whatever Node reports.

import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';

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
  request.on('socket', (socket) => limitReceived(request, socket));
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

/**
 * Limits the bytes received on the socket: Node emits no event for endless interim responses, chunk
 * extensions and empty lines.
 */
function limitReceived(request: ClientRequest, socket: Socket): void {
  const limit = socket.bytesRead + MAX_RESPONSE_BYTES;
  const check = () => {
    if (socket.bytesRead <= limit) return;
    request.destroy(new ExchangeFailed('the receiver sent more than 64 KiB without a response'));
  };
  socket.on('data', check);
  request.on('close', () => socket.off('data', check));
}
