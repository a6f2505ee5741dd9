// Requests that a client sends without waiting for the answers to those before them. Node parses at once what has
// arrived, up to 64 KB of them, so a connection may have thousands that wait.

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
      if (answer.socket !== null) return done();
      waited.add(request);
      const { socket } = request.raw;
      if (!waiting.add(socket)) return;
      answer.once('socket', () => {
        waiting.remove(socket);
        // One of each connection in each turn of the event loop, so that nobody waits for all of another's.
        setImmediate(() => {
          if (!answer.closed) done();
        });
      });
    },
  );
}

class Waiting {
  readonly #ofSocket = new Map<Socket, number>();
  #count = 0;

  /** Whether there is room; where there is none, the connection is cut. */
  add(socket: Socket): boolean {
    if (this.#count === MAX_WAITING) socket.resetAndDestroy();
    if (socket.destroyed) return false;
    const count = this.#ofSocket.get(socket);
    if (count === undefined) socket.once('close', () => this.#forget(socket));
    this.#ofSocket.set(socket, (count ?? 0) + 1);
    this.#count++;
    return true;
  }

  remove(socket: Socket): void {
    this.#ofSocket.set(socket, this.#ofSocket.get(socket)! - 1);
    this.#count--;
  }

  #forget(socket: Socket): void {
    this.#count -= this.#ofSocket.get(socket)!;
    this.#ofSocket.delete(socket);
  }
}
