// Clients that do not take their answers. What waits for them is memory, and of Node's timeouts none ends it.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';

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
