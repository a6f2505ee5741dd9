// Limits connections, and handles a lack of file descriptors. Connections beyond either limit are accepted
// and closed: callers see closed connections, and the operator would see nothing without these warnings.
// A new connection is not refused for lack of room: anyone could occupy all of it and keep callers out.

import { closeSync, openSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { devNull } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { ThreadSum } from '../../scheduling/thread-sum.ts';

const CHECK_MS = 1_000;
const REPEAT_MS = 60_000;
/** Time for which the reserve is free, to accept and close connections with. */
const CLOSING_MS = 100;

interface LimitOptions {
  maxConnections: number;
  /** Connections of each thread of the process; absent if it has one serving thread. */
  connections: ThreadSum | undefined;
  log: Logger;
}

/** Connections that are being closed at the same time, of the files that UGS_MAX_CONNECTIONS leaves. */
const MAX_CLOSING = 64;

/** Connections that have had an authenticated request. */
const authenticated = new WeakSet<Socket>();

/** Keeps the connection of an authenticated request when others have to make room. */
export function keepConnection({ socket }: IncomingMessage): void {
  authenticated.add(socket);
}

/** Logs connections closed for lack of file descriptors or because of `maxConnections`, each at most once a minute. */
export function limitConnections(server: Server, { maxConnections, connections, log }: LimitOptions): void {
  const files = new OpenFiles(connections !== undefined);
  const open = new Connections(maxConnections, connections);
  // Node compares the value with the connections of this thread whenever it accepts one.
  Object.defineProperty(server, 'maxConnections', {
    get: () => (files.isReserveInUse ? 0 : open.maxAccepted),
  });
  server.on('connection', (socket) => {
    // Counted like a connection that Node closes.
    if (open.add(socket)) server.emit('drop');
  });
  const warnOfFiles = atMostOnceA(REPEAT_MS, (open: number) =>
    log.error(
      { code: 'EMFILE', connections: open },
      'too many open files (EMFILE): new connections are closed unanswered; raise the limit (ulimit -n, LimitNOFILE)',
    ),
  );
  const warnOfConnections = atMostOnceA(REPEAT_MS, () =>
    log.warn(
      { connections: maxConnections },
      'UGS_MAX_CONNECTIONS is reached: connections without an authenticated request are closed, the oldest first',
    ),
  );
  const check = (): void => {
    const { isExhausted, wasExhausted } = files.check();
    // One thread logs, because all threads of the process find the same.
    if (!isMainThread) return;
    if (isExhausted) server.getConnections((_error, open) => warnOfFiles(connections?.total ?? open));
    else if (wasExhausted) log.info('files can be opened again');
  };
  const timer = setInterval(check, CHECK_MS).unref();
  server.on('drop', () => {
    if (!files.isReserveInUse) warnOfConnections();
  });
  server.on('close', () => {
    clearInterval(timer);
    files.close();
  });
}

class Connections {
  readonly #max: number;
  readonly #ofThreads: ThreadSum | undefined;
  /** In the order in which they were opened. Those that have been authenticated are removed when they are met. */
  readonly #unauthenticated = new Set<Socket>();
  readonly #closing = new Set<Socket>();
  #open = 0;

  constructor(max: number, ofThreads: ThreadSum | undefined) {
    this.#max = max;
    this.#ofThreads = ofThreads;
  }

  /** Includes one more than the limit, for which `add` closes another, and those that Node still counts. */
  get maxAccepted(): number {
    return this.#maxOpen + Math.min(this.#closing.size, MAX_CLOSING) + 1;
  }

  get #maxOpen(): number {
    return this.#max - (this.#ofThreads?.ofOthers ?? 0);
  }

  /** Returns whether a connection, perhaps this one, was closed to stay within the limit. */
  add(socket: Socket): boolean {
    this.#unauthenticated.add(socket);
    this.#count(1);
    socket.once('close', () => {
      this.#unauthenticated.delete(socket);
      if (!this.#closing.delete(socket)) this.#count(-1);
    });
    const isFull = this.#open > this.#maxOpen;
    if (isFull) this.#closeOldest();
    return isFull;
  }

  #closeOldest(): void {
    for (const socket of this.#unauthenticated) {
      this.#unauthenticated.delete(socket);
      if (authenticated.has(socket)) continue;
      this.#closing.add(socket);
      this.#count(-1);
      socket.destroy();
      return;
    }
  }

  #count(change: number): void {
    this.#open += change;
    if (this.#ofThreads !== undefined) this.#ofThreads.own = this.#open;
  }
}

/**
 * Checks whether files can be opened. If not, libuv closes new connections with a descriptor that each event
 * loop holds in reserve; but another thread may take that descriptor, and then both event loops are busy
 * without closing any. A process with several threads therefore has its own reserve. Each check frees it for
 * a moment, during which the process keeps no new connection.
 */
class OpenFiles {
  readonly #hasThreads: boolean;
  #reserve: number | null;
  #isExhausted = false;

  constructor(hasThreads: boolean) {
    this.#hasThreads = hasThreads;
    this.#reserve = hasThreads ? openFile().file : null;
  }

  get isReserveInUse(): boolean {
    return this.#hasThreads && this.#isExhausted;
  }

  check(): { isExhausted: boolean; wasExhausted: boolean } {
    const wasExhausted = this.#isExhausted;
    const { file, isExhausted } = openFile();
    this.#isExhausted = isExhausted;
    if (isExhausted) this.#freeReserve();
    else if (this.#hasThreads && this.#reserve === null) this.#reserve = file;
    else if (file !== null) closeSync(file);
    return { isExhausted, wasExhausted };
  }

  #freeReserve(): void {
    if (this.#reserve === null) return;
    this.close();
    setTimeout(() => {
      this.#reserve ??= openFile().file;
    }, CLOSING_MS).unref();
  }

  close(): void {
    if (this.#reserve !== null) closeSync(this.#reserve);
    this.#reserve = null;
  }
}

function openFile(): { file: number | null; isExhausted: boolean } {
  try {
    return { file: openSync(devNull, 'r'), isExhausted: false };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // EMFILE is the limit of the process, ENFILE that of the machine.
    return { file: null, isExhausted: code === 'EMFILE' || code === 'ENFILE' };
  }
}

function atMostOnceA<Args extends unknown[]>(
  intervalMs: number,
  act: (...args: Args) => void,
): (...args: Args) => void {
  let lastAt = Number.NEGATIVE_INFINITY;
  return (...args) => {
    const now = performance.now();
    if (now - lastAt < intervalMs) return;
    lastAt = now;
    act(...args);
  };
}
