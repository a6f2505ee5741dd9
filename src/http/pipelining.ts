// Requests that a client sends without waiting for the answers to those before them. Node parses at once what has
// arrived, up to 64 KB of them, so a connection may have thousands that wait.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Of all connections together; each takes 3 to 5 KB. */
const MAX_WAITING = 16_384;

/** Requests that have waited for others on their connection. */
const waited = new WeakSet<FastifyRequest>();

/** Whether the client has sent it without waiting for an answer. */
export function isPipelined(request: FastifyRequest): boolean {
  return waited.has(request);
}

/**
 * Requests that were sent one after the other on one connection are done so: the second may rest on what the first
 * has changed (RFC 9112 §9.3.2), and a client that takes no answers has only one made for it.
 */
export function takeTurns(app: FastifyInstance): void {
  const waiting = new Waiting();
  app.addHook(
    'onRequest',
    (request: FastifyRequest, { raw: answer }: FastifyReply, done: () => void): void => {
      // An answer has the connection when those before it have left.
      if (answer.socket === null) waiting.add(request, answer, done);
      else done();
    },
  );
}

class Waiting {
  readonly #ofSocket = new Map<Socket, number>();
  #count = 0;

  /** Where there is no room, the connection is cut. */
  add(request: FastifyRequest, answer: ServerResponse, done: () => void): void {
    const { socket } = request.raw;
    if (this.#count === MAX_WAITING) socket.resetAndDestroy();
    if (socket.destroyed) return;
    waited.add(request);
    if (!this.#ofSocket.has(socket)) socket.once('close', () => this.#forget(socket));
    this.#change(socket, 1);
    answer.once('socket', () => {
      this.#change(socket, -1);
      // One of each connection in each turn of the event loop, so that nobody waits for all of another's.
      setImmediate(() => {
        if (!answer.closed) done();
      });
    });
  }

  #change(socket: Socket, by: 1 | -1): void {
    this.#ofSocket.set(socket, (this.#ofSocket.get(socket) ?? 0) + by);
    this.#count += by;
  }

  #forget(socket: Socket): void {
    this.#count -= this.#ofSocket.get(socket)!;
    this.#ofSocket.delete(socket);
  }
}
