// Reads the body of a request as bytes. Fastify's body parsing is not used: it ignores the body of a GET, and
// rejects media types and sizes before authentication.

import type { IncomingMessage } from 'node:http';
import { limits } from '../../domain/field.ts';
import { SMALL_BYTES } from '../../operations/machinery/cpu-queue.ts';
import { Problem } from '../../problem.ts';
import { freeBytes } from '../free-bytes.ts';
import type { Reservation } from '../limits/body-admission.ts';
import { hasNoBody } from '../node-internals.ts';
import { hasTooManyChunks, isChunked, join, MAX_CHUNKS } from './chunks.ts';

const NO_BODY = Promise.resolve(Buffer.alloc(0));

/** Whether the headers announce no body or a small one. A larger one is read only after authentication. */
export function hasSmallBody(message: IncomingMessage): boolean {
  return hasNoBody(message) || Number(message.headers['content-length']) <= SMALL_BYTES;
}

/** Returns the length that the headers announce, or 0. Throws `body_too_large`. */
export function announcedBytes({ headers }: IncomingMessage, maxBytes: number = limits.bodyBytes): number {
  const bytes = Number(headers['content-length'] ?? 0);
  if (bytes > maxBytes) throw bodyTooLarge(maxBytes);
  return bytes;
}

/** Backpressure: leaves the rest of a body in the socket buffer of the kernel until the message is read. */
export function postponeBody({ complete, socket }: IncomingMessage): void {
  // Node resumes the socket when the body is read to its end, but not if it has already parsed the end.
  if (!complete) socket.pause();
}

/**
 * Reads at most `maxBytes`. The reservation of a body without an announced length grows with it. Rejects with
 * `body_too_large`, with `overloaded` if the reservation cannot grow, and with `request_timeout` if it is
 * evicted. The rest of the body is then left unread, until `message.resume()` discards it.
 */
export function readBody(
  message: IncomingMessage,
  reservation?: Reservation,
  maxBytes: number = limits.bodyBytes,
): Promise<Buffer> {
  if (hasNoBody(message)) return NO_BODY;
  return new Promise((resolve, reject) => {
    // A message whose connection has already ended emits no more events.
    if (message.destroyed) return reject(CONNECTION_ENDED);
    const grows = reservation !== undefined && isChunked(message);
    let chunks: Buffer[] | null = [];
    let size = 0;
    const fail = (problem: unknown): void => {
      chunks = null;
      message.pause();
      reject(problem);
    };
    reservation?.receive(fail);
    message.on('data', (chunk: Buffer) => {
      if (chunks === null) return freeBytes(chunk);
      size += chunk.length;
      if (size > maxBytes) return fail(bodyTooLarge(maxBytes));
      if (hasTooManyChunks(message)) return fail(TOO_MANY_CHUNKS);
      try {
        reservation?.progress(chunk.length);
        if (grows) reservation.grow(chunk.length);
        chunks?.push(chunk);
      } catch (problem) {
        fail(problem);
      }
    });
    message.on('end', () => {
      reservation?.complete();
      if (chunks !== null) resolve(join(chunks));
    });
    // The client has disconnected: the response is discarded.
    message.on('error', () => reject(CONNECTION_ENDED));
  });
}

/** Reads the rest of the body without keeping it: a client may send the whole body before it reads the response. */
export function discardBody(message: IncomingMessage): void {
  if (hasSmallBody(message)) return;
  if (message.listenerCount('data') === 0) message.on('data', freeBytes);
  message.resume();
}

/** Throws `body_missing`, distinct from an invalid body: a client or a proxy may have dropped it. */
export function requireBody(bytes: Buffer, method: string): void {
  if (bytes.length > 0) return;
  const hint =
    method === 'GET'
      ? ' Many clients and proxies drop the body of a GET: use POST /v1/user-groups, which accepts the same body.'
      : '';
  throw new Problem('body_missing', `This endpoint requires a body, and the request has none.${hint}`);
}

export function bodyTooLarge(maxBytes: number): Problem {
  return new Problem('body_too_large', `The body must be at most ${maxBytes} bytes.`);
}

const TOO_MANY_CHUNKS = new Problem(
  'invalid_request',
  `The body must have at most ${MAX_CHUNKS} chunks: send larger ones.`,
);
export const CONNECTION_ENDED = new Problem(
  'invalid_request',
  'The connection was closed before the end of the body.',
);
