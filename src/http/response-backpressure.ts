// Back-pressure for clients that do not read their responses: unsent responses occupy memory, and none of Node's
// timeouts applies.

import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../domain/field.ts';
import { Problem } from '../problem.ts';

const MAX_SWEEP_MS = 2_000;

/** The bytes written for a client at an instant, sent or not. */
interface Mark {
  bytes: number;
  at: number;
}

/** Resets the connection of a client that has not read within the time what was written for it. */
export function resetSlowReaders(server: Server, answerTimeoutMs: number): void {
  const marks = new Map<Socket, Mark | null>();
  server.on('connection', (socket: Socket) => {
    marks.set(socket, null);
    socket.once('close', () => marks.delete(socket));
  });
  const sweep = (): void => {
    const now = performance.now();
    for (const [socket, mark] of marks) {
      const { writableLength: unsent, bytesWritten: bytes } = socket;
      if (unsent === 0) marks.set(socket, null);
      else if (mark === null || bytes - unsent >= mark.bytes) marks.set(socket, { bytes, at: now });
      else if (now - mark.at >= answerTimeoutMs) socket.resetAndDestroy();
    }
  };
  // Unreferenced: a server that never listens, because its port is in use, never emits `close`.
  const sweeper = setInterval(sweep, Math.min(MAX_SWEEP_MS, answerTimeoutMs / 2)).unref();
  server.on('close', () => clearInterval(sweeper));
}

const MAX_UNREAD_BYTES = 67_108_864;

const UNREAD = new Problem(
  'overloaded',
  'Too many lists are waiting for their callers to read them. Retry later.',
  {
    retryAfterSeconds: 1,
  },
);

/** Limits the memory of lists that are not sent yet. A page is up to a megabyte; other responses have only one group. */
export class UnreadLists {
  #bytes = 0;
  #pending = 0;
  /** Estimated size of each pending list. */
  #lastBytes: number = limits.pageBytes;

  /** Runs `list` and counts its result until the response is sent. Throws `overloaded` instead of running it. */
  async track(
    response: ServerResponse,
    list: () => Promise<string | undefined>,
  ): Promise<string | undefined> {
    if (this.#bytes + this.#pending * this.#lastBytes > MAX_UNREAD_BYTES) throw UNREAD;
    this.#pending++;
    try {
      const text = await list();
      this.#count(response, Buffer.byteLength(text ?? ''));
      return text;
    } finally {
      this.#pending--;
    }
  }

  #count(response: ServerResponse, bytes: number): void {
    this.#lastBytes = bytes;
    // The client has disconnected.
    if (response.closed) return;
    this.#bytes += bytes;
    response.once('close', () => {
      this.#bytes -= bytes;
    });
  }
}
