// HTTP pipelining: requests sent without waiting for the responses to earlier ones. Node parses everything
// that has arrived, up to 64 KB, so a connection may have thousands of waiting requests.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { resetSocket } from '../../system/reset-socket.ts';
import { isBehindOthers, onConnectionTurn } from '../node-internals.ts';

/** Maximum over all connections of a process; each waiting request takes a few kilobytes. */
const MAX_WAITING = 16_384;

/** Requests that waited for earlier ones on their connection. */
const waited = new WeakSet<IncomingMessage>();

/** Whether the client sent it without waiting for the previous response. */
export function isPipelined(message: IncomingMessage): boolean {
  return waited.has(message);
}

/**
 * Processes the requests of a connection one after the other: a request may depend on a change by an earlier one
 * (RFC 9112 §9.3.2), and a client that does not read its responses occupies memory for only one.
 */
export class RequestPipelining {
  readonly #ofSocket = new Map<Socket, number>();
  readonly #max: number;
  #count = 0;

  /** `threads` of the process divide the requests. */
  constructor(threads: number) {
    this.#max = Math.floor(MAX_WAITING / threads);
  }

  /** Runs `start` when the earlier requests of the connection have their responses. */
  serialize(message: IncomingMessage, response: ServerResponse, start: () => void): void {
    if (isBehindOthers(response)) this.#add(message, response, start);
    else start();
  }

  /** Queues the request. If too many are waiting, resets the connection that has most of them. */
  #add(message: IncomingMessage, response: ServerResponse, start: () => void): void {
    const { socket } = message;
    if (this.#count === this.#max) this.#resetLongest();
    if (socket.destroyed) return;
    waited.add(message);
    if (!this.#ofSocket.has(socket)) socket.once('close', () => this.#forget(socket));
    this.#change(socket, 1);
    onConnectionTurn(response, () => {
      if (socket.destroyed) return;
      this.#change(socket, -1);
      // One request per connection and turn of the event loop, so that connections get equal shares.
      setImmediate(() => {
        if (!response.closed) start();
      });
    });
  }

  #change(socket: Socket, by: 1 | -1): void {
    this.#ofSocket.set(socket, (this.#ofSocket.get(socket) ?? 0) + by);
    this.#count += by;
  }

  #resetLongest(): void {
    let longest: Socket | undefined;
    let most = 0;
    // Not sorted: thousands of connections may have a few each, and then each further request gets here.
    for (const [socket, waiting] of this.#ofSocket) {
      if (waiting <= most) continue;
      longest = socket;
      most = waiting;
    }
    this.#forget(longest!);
    resetSocket(longest!);
  }

  #forget(socket: Socket): void {
    this.#count -= this.#ofSocket.get(socket) ?? 0;
    this.#ofSocket.delete(socket);
  }
}
