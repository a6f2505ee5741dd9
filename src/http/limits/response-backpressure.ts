// Back-pressure for clients that do not read their responses: unsent responses occupy memory, and none of Node's
// timeouts applies.

import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tooBusy } from '../../operations/refusals.ts';
import { FairShare } from '../../scheduling/fair-share.ts';
import type { Access } from '../../store/admission.ts';
import { resetSocket } from '../../system/reset-socket.ts';

const MAX_SWEEP_MS = 2_000;

/** Bytes that were written for a client up to an instant, sent or not. */
interface Mark {
  bytes: number;
  at: number;
}

/** Resets the connection of a client that does not read within `answerTimeoutMs` what was written for it. */
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
      else if (now - mark.at >= answerTimeoutMs) resetSocket(socket);
    }
  };
  // Unreferenced: a server that never listens, because its port is in use, never emits `close`.
  const sweeper = setInterval(sweep, Math.min(MAX_SWEEP_MS, answerTimeoutMs / 2)).unref();
  server.on('close', () => clearInterval(sweeper));
}

/** Limit of a process. */
const MAX_UNREAD_BYTES = 67_108_864;
/** Smaller responses are not counted: UGS_MAX_CONNECTIONS bounds them, because a connection has one at a time. */
const MIN_COUNTED_CHARACTERS = 4_096;

/** Shared: capturing a stack trace for each refusal is too expensive. */
const UNREAD = tooBusy(
  'Too many responses to this workspace are waiting for their callers to read them. Retry later.',
);

/**
 * Limits the memory of responses that are not sent yet: each tenant (a workspace id) may have as many unread
 * bytes as are free, so one that reads nothing leaves the others their share. Pages without sign-in are not
 * counted: all readers share their buffers.
 */
export class UnreadResponses {
  readonly #bytes: FairShare;

  /** `threads` of the process divide the bytes. */
  constructor(threads = 1) {
    this.#bytes = new FairShare(MAX_UNREAD_BYTES / threads);
  }

  /** Throws `overloaded` before the work of a list, which is expensive, and before a change, which cannot be refused later. */
  admit(tenant: number, access: Access): void {
    if ((access === 'list' || access === 'write') && !this.#bytes.admits(tenant)) throw UNREAD;
  }

  /** Throws `overloaded` instead of a response that would be counted. Not for one after a change. */
  admitResponse(tenant: number, text: string): void {
    if (text.length < MIN_COUNTED_CHARACTERS) return;
    if (!this.#bytes.admits(tenant)) throw UNREAD;
  }

  /** Counts the response until it is sent. */
  count(tenant: number, response: ServerResponse, content: string | Buffer): void {
    // The client has disconnected.
    if (content.length < MIN_COUNTED_CHARACTERS || response.closed) return;
    const bytes = Buffer.byteLength(content);
    this.#bytes.take(tenant, bytes);
    response.once('close', () => this.#bytes.release(tenant, bytes));
  }
}
