// Limits connections, and handles a lack of file descriptors. Connections beyond either limit are accepted
// and closed: callers see closed connections, and the operator would see nothing without these warnings.
// A new connection takes the place of one without an authenticated request, or of a workspace that has more than
// its share: otherwise anyone, or one workspace, could occupy all places and keep callers out.

import { closeSync, openSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { devNull } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import type { Logger } from 'pino';
import { MINUTE_MS } from '../../domain/instant.ts';
import { FairShare } from '../../scheduling/fair-share.ts';
import type { ThreadSum } from '../../scheduling/thread-sum.ts';

const CHECK_MS = 1_000;
/** Time for which the reserve is free, to accept and close connections with. */
const CLOSING_MS = 100;

/** Connections of each thread of a process. */
export interface ThreadConnections {
  open: ThreadSum;
  /** Those that stay when others have to make room. */
  kept: ThreadSum;
}

/** One in so many connections may be unauthenticated while others are closed that are beyond a share. */
const UNAUTHENTICATED_SHARE = 8;

const connectionsOf = new WeakMap<Socket, Connections>();

/**
 * Keeps the connection of an authenticated request when others have to make room, unless the tenant, a workspace
 * id, has its share.
 */
export function keepConnection({ socket }: IncomingMessage, tenant: number): void {
  connectionsOf.get(socket)?.keep(socket, tenant);
}

/** Logs connections closed for lack of file descriptors or because of `maxConnections`, each at most once a minute. */
export function limitConnections(
  server: Server,
  maxConnections: number,
  connections: ThreadConnections,
  log: Logger,
): void {
  const files = new OpenFiles(connections.open.threads > 1);
  const open = new Connections(maxConnections, connections);
  // Node compares the value with the connections of this thread whenever it accepts one.
  Object.defineProperty(server, 'maxConnections', {
    get: () => (files.isReserveInUse ? 0 : open.maxAccepted),
  });
  server.on('connection', (socket) => {
    // Counted like connections that Node closes.
    for (let closed = open.add(socket); closed > 0; closed--) server.emit('drop');
  });
  const warnOfFiles = atMostOnceAMinute(() =>
    log.error(
      { code: 'EMFILE', connections: connections.open.total },
      'too many open files (EMFILE): new connections are closed unanswered; raise the limit (ulimit -n, LimitNOFILE)',
    ),
  );
  const warnOfConnections = atMostOnceAMinute(() =>
    log.warn(
      { connections: maxConnections },
      'UGS_MAX_CONNECTIONS is reached: connections without an authenticated request, or of workspaces that have more than their share, are closed',
    ),
  );
  const check = (): void => {
    const { isExhausted, wasExhausted } = files.check();
    // One thread logs, because all threads of the process find the same.
    if (!isMainThread) return;
    if (isExhausted) warnOfFiles();
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
  readonly #ofThreads: ThreadConnections;
  readonly #open = new Set<Socket>();
  /** Connections that stay when others have to make room, with their tenants. */
  readonly #kept = new Map<Socket, number>();
  readonly #shares: FairShare;
  /** Connections without an authenticated request, the first opened first. */
  readonly #unauthenticated = new Set<Socket>();
  /** Connections beyond a share, the least recently used first, which is probably idle. */
  readonly #surplus = new Set<Socket>();

  constructor(max: number, ofThreads: ThreadConnections) {
    this.#max = max;
    this.#ofThreads = ofThreads;
    this.#shares = new FairShare(Math.ceil(max / ofThreads.open.threads));
  }

  /** Includes one more than the limit, for which `add` closes another. */
  get maxAccepted(): number {
    return this.#maxOpen + 1;
  }

  get #maxOpen(): number {
    return this.#max - this.#ofThreads.open.ofOthers;
  }

  /**
   * Whether there are too many connections, or too many that are not kept in this thread, which can close only its
   * own: otherwise, one thread could hold all places, and the others would have none for new connections. Those
   * beyond a share count only in a process that is full.
   */
  get #exceedsLimit(): boolean {
    if (this.#open.size > this.#maxOpen) return true;
    const { kept, open } = this.#ofThreads;
    const surplus = open.total < this.#max ? 0 : this.#surplus.size;
    return this.#unauthenticated.size + surplus > Math.ceil((this.#max - kept.total) / open.threads);
  }

  /** Returns an unauthenticated connection, or one beyond a share while few are unauthenticated: callers begin as such. */
  get #leastNeeded(): Socket | undefined {
    const [unauthenticated] = this.#unauthenticated;
    const [surplus] = this.#surplus;
    const room = this.#max / this.#ofThreads.open.threads / UNAUTHENTICATED_SHARE;
    return (this.#unauthenticated.size > room ? unauthenticated : surplus) ?? unauthenticated;
  }

  /** Returns how many connections, perhaps with this one, were closed to stay within the limit. */
  add(socket: Socket): number {
    this.#open.add(socket);
    this.#unauthenticated.add(socket);
    connectionsOf.set(socket, this);
    this.#publish();
    socket.once('close', () => this.#remove(socket));
    for (let closed = 0; ; closed++) {
      const leastNeeded = this.#leastNeeded;
      if (leastNeeded === undefined || !this.#exceedsLimit) return closed;
      this.#remove(leastNeeded);
      leastNeeded.destroy();
    }
  }

  keep(socket: Socket, tenant: number): void {
    if (this.#kept.has(socket) || !this.#open.has(socket)) return;
    this.#unauthenticated.delete(socket);
    this.#surplus.delete(socket);
    if (!this.#shares.admits(tenant)) {
      this.#surplus.add(socket);
      return;
    }
    this.#shares.take(tenant, 1);
    this.#kept.set(socket, tenant);
    this.#publish();
  }

  #remove(socket: Socket): void {
    this.#open.delete(socket);
    this.#unauthenticated.delete(socket);
    this.#surplus.delete(socket);
    const tenant = this.#kept.get(socket);
    if (tenant !== undefined) this.#shares.release(tenant, 1);
    this.#kept.delete(socket);
    this.#publish();
  }

  #publish(): void {
    this.#ofThreads.open.own = this.#open.size;
    this.#ofThreads.kept.own = this.#kept.size;
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

function atMostOnceAMinute(act: () => void): () => void {
  let lastAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - lastAt < MINUTE_MS) return;
    lastAt = now;
    act();
  };
}
