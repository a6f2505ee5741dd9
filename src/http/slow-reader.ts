// Clients that do not take their answers. What waits for them is memory, and of Node's timeouts none ends it.

import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../domain/field.ts';
import { Problem } from '../problem.ts';

const MAX_SWEEP_MS = 2_000;

/** How many bytes there were for a client at a moment, sent or not. */
interface Mark {
  bytes: number;
  at: number;
}

/** Cuts off a client that has not taken within the time what was ready for it. */
export function cutSlowReaders(server: Server, answerTimeoutMs: number): void {
  const marks = new Map<Socket, Mark | null>();
  server.on('connection', (socket: Socket) => {
    marks.set(socket, null);
    socket.once('close', () => marks.delete(socket));
  });
  const sweep = (): void => {
    const now = performance.now();
    for (const [socket, mark] of marks) {
      const { writableLength: waiting, bytesWritten: bytes } = socket;
      if (waiting === 0) marks.set(socket, null);
      else if (mark === null || bytes - waiting >= mark.bytes) marks.set(socket, { bytes, at: now });
      else if (now - mark.at >= answerTimeoutMs) socket.resetAndDestroy();
    }
  };
  // A server that never listens, because its port is taken, never closes either.
  const sweeper = setInterval(sweep, Math.min(MAX_SWEEP_MS, answerTimeoutMs / 2)).unref();
  server.on('close', () => clearInterval(sweeper));
}

const MAX_UNREAD_BYTES = 67_108_864;

const UNREAD = new Problem(
  'overloaded',
  'Too many lists wait to be read by their callers. Try again shortly.',
  {
    retryAfterSeconds: 1,
  },
);

/** Bounds what lists take that are made and not taken. A page is up to a megabyte; other answers are about one group. */
export class UnreadLists {
  #bytes = 0;
  #making = 0;
  /** What those that are being made will come to, each. */
  #lastBytes: number = limits.pageBytes;

  /** Counts the list until its answer has left. Throws `overloaded` before it is made. */
  async make(answer: ServerResponse, list: () => Promise<string>): Promise<string> {
    if (this.#bytes + this.#making * this.#lastBytes > MAX_UNREAD_BYTES) throw UNREAD;
    this.#making++;
    try {
      const text = await list();
      this.#count(answer, Buffer.byteLength(text));
      return text;
    } finally {
      this.#making--;
    }
  }

  #count(answer: ServerResponse, bytes: number): void {
    this.#lastBytes = bytes;
    // The client has gone meanwhile.
    if (answer.closed) return;
    this.#bytes += bytes;
    answer.once('close', () => {
      this.#bytes -= bytes;
    });
  }
}
