// Limits what a body in small chunks costs. Node keeps each chunk in a buffer of its own, which takes hundreds of bytes,
// and passes it through the stream, which takes as long as kilobytes. It parses all that it reads from a connection, up
// to 10 000 chunks, before anything else runs.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { freeBytes } from '../free-bytes.ts';

/** Maximum number of chunks in a body: 64 KiB in chunks of two bytes. */
export const MAX_CHUNKS = 32_768;
/** Number of further chunks after which the client is disconnected: the response may be on its way. */
const MAX_EXCESS = 1_024;
/** Number of chunks, or bytes in them, that are joined to one. */
const JOINED_CHUNKS = 256;
const JOINED_BYTES = 1_024;
/** Number of chunks that a connection may send per period; a connection that sends more is paused. */
const MAX_PER_PERIOD = 1_024;
/** Also the time between two resumed connections: parsing the chunks of one read takes about 5 ms. */
const PERIOD_MS = 50;

const counts = new WeakMap<IncomingMessage, number>();

/** Whether the body is sent in chunks, so that its length is unknown. */
export function isChunked({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined;
}

export function hasTooManyChunks(message: IncomingMessage): boolean {
  return (counts.get(message) ?? 0) > MAX_CHUNKS;
}

/** Concatenates the chunks and frees them. */
export function join(chunks: readonly Buffer[]): Buffer {
  if (chunks.length === 1) return chunks[0]!;
  const bytes = Buffer.concat(chunks);
  for (const chunk of chunks) freeBytes(chunk);
  return bytes;
}

/** Chunks that a connection has sent in a period. */
interface Period {
  /** `performance.now()` */
  startedAt: number;
  chunks: number;
}

/** The chunks on all connections of a server. */
export class ChunkLimit {
  readonly #periods = new WeakMap<Socket, Period>();
  readonly #paused: { socket: Socket; resume: () => void }[] = [];
  #timer: NodeJS.Timeout | null = null;

  /**
   * Joins and counts the chunks of a body as they are parsed, even if nothing reads it, and pauses the connection if
   * they are many.
   */
  watch(message: IncomingMessage): void {
    const { socket } = message;
    const period = this.#periodOf(socket);
    const push = message.push.bind(message);
    let unjoined: Buffer[] = [];
    let [count, bytes] = [0, 0];
    const flush = (): boolean => {
      counts.set(message, count);
      const chunks = unjoined;
      [unjoined, bytes] = [[], 0];
      return push(join(chunks));
    };
    message.push = (chunk: Buffer | null): boolean => {
      if (chunk === null) {
        if (unjoined.length > 0) flush();
        return push(null);
      }
      if (++count > MAX_CHUNKS + MAX_EXCESS) {
        message.destroy();
        return false;
      }
      if (++period.chunks === MAX_PER_PERIOD) this.#pause(socket, period);
      bytes += chunk.length;
      unjoined.push(chunk);
      const isFull = unjoined.length === JOINED_CHUNKS || bytes >= JOINED_BYTES;
      return !isFull || flush();
    };
  }

  #periodOf(socket: Socket): Period {
    const now = performance.now();
    const period = this.#periods.get(socket) ?? { startedAt: now, chunks: 0 };
    this.#periods.set(socket, period);
    if (now - period.startedAt > PERIOD_MS && period.chunks < MAX_PER_PERIOD) restart(period);
    return period;
  }

  #pause(socket: Socket, period: Period): void {
    let isWanted = !socket.isPaused();
    // Node resumes the connection when the body is read, and at its end.
    const pauseAgain = (): void => {
      isWanted = true;
      socket.pause();
    };
    const resume = (): void => {
      restart(period);
      socket.off('resume', pauseAgain);
      if (isWanted) socket.resume();
    };
    socket.pause().on('resume', pauseAgain);
    this.#paused.push({ socket, resume });
    this.#timer ??= setInterval(() => this.#resumeNext(), PERIOD_MS);
  }

  #resumeNext(): void {
    let next = this.#paused.shift();
    while (next?.socket.destroyed) next = this.#paused.shift();
    next?.resume();
    if (next !== undefined) return;
    clearInterval(this.#timer!);
    this.#timer = null;
  }
}

function restart(period: Period): void {
  period.startedAt = performance.now();
  period.chunks = 0;
}
