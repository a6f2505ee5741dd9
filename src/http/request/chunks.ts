// Joins the small chunks of a body as they are parsed, and counts them. Node reads a chunk of one byte into a buffer of
// its own, which takes hundreds of bytes and passes through the stream as slowly as one of kilobytes. Connections with
// many such chunks take turns.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum number of chunks in a body: 64 KiB in chunks of two bytes. */
export const MAX_CHUNKS = 32_768;
/** Number of further chunks after which the client is disconnected: the response may be on its way. */
const MAX_EXCESS = 1_024;
/** Larger chunks are not copied. */
const SMALL_BYTES = 1_024;
const BLOCK_BYTES = 8_192;
/** Number of chunks after which a connection waits for its next turn; Node reads up to 10,000 at once. */
const TURN_CHUNKS = 1_024;
/** Time between two turns: reading 64 KiB of chunks of one byte takes 10 to 20 ms. */
const TURN_MS = 30;

const counts = new WeakMap<IncomingMessage, number>();

/** Whether the body is sent in chunks, so that its length is unknown. */
export function isChunked({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined;
}

export function hasTooManyChunks(message: IncomingMessage): boolean {
  return (counts.get(message) ?? 0) > MAX_CHUNKS;
}

/** Lets one connection read per turn of the event loop. */
class Turns {
  readonly #waiting: (() => void)[] = [];

  wait(socket: Socket, onTurn: () => void): void {
    socket.pause();
    this.#waiting.push(() => {
      onTurn();
      socket.resume();
    });
    if (this.#waiting.length === 1) this.#schedule();
  }

  /** Leaves as much time for other work as a turn takes. */
  #schedule(): void {
    setTimeout(() => {
      this.#waiting.shift()!();
      if (this.#waiting.length > 0) this.#schedule();
    }, TURN_MS);
  }
}

const turns = new Turns();

/** Call it before the first chunk is parsed. */
export function joinSmallChunks(message: IncomingMessage): void {
  const push = message.push.bind(message);
  let block: Buffer | null = null;
  let used = 0;
  let count = 0;
  let isWanted = true;
  let countAtTurn = 0;
  const flush = (): void => {
    if (block === null) return;
    const bytes = block.subarray(0, used);
    block = null;
    counts.set(message, count);
    isWanted = push(bytes);
  };
  message.push = (chunk: Buffer | null): boolean => {
    if (chunk === null) {
      flush();
      return push(null);
    }
    count++;
    if (count > MAX_CHUNKS + MAX_EXCESS) {
      message.destroy();
      return false;
    }
    if (count - countAtTurn === TURN_CHUNKS) turns.wait(message.socket, () => (countAtTurn = count));
    if (chunk.length > SMALL_BYTES) {
      flush();
      counts.set(message, count);
      return push(chunk);
    }
    if (block === null) {
      block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      used = 0;
      isWanted = true;
      setImmediate(flush);
    }
    // Faster than `copy` for a few bytes.
    for (const byte of chunk) block[used++] = byte;
    if (used + SMALL_BYTES > BLOCK_BYTES) flush();
    return isWanted;
  };
}
