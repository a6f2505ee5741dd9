// Connections that send endless requests.

import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, codeOf, type Reply } from '../support/connection.ts';

export interface Flow {
  connections: number;
  /** Returns the request with this number, counted over all connections. */
  request: (index: number) => Uint8Array;
  /**
   * Whether responses are left unread: a connection then sends `pipelined` requests and waits until it is
   * closed.
   */
  isUnread?: boolean;
  pipelined?: number;
  /** Speed at which a request is sent; at once if absent. */
  bytesPerSecond?: number;
}

/** Sends the requests in turn. */
export function cycle(requests: readonly Uint8Array[]): Flow['request'] {
  return (index) => requests[index % requests.length]!;
}

const RECONNECT_AFTER_MS = 20;
const SLICES_PER_SECOND = 10;

/** Number of responses by status and error code; `closed` counts those without a complete response. */
export type Replies = Record<string, number>;

export class RunningFlow {
  readonly replies: Replies = {};
  readonly #url: string;
  readonly #flow: Flow;
  readonly #open = new Set<Connection>();
  #sent = 0;
  #isStopped = false;

  constructor(url: string, flow: Flow) {
    this.#url = url;
    this.#flow = flow;
    for (let connection = 0; connection < flow.connections; connection++) void this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    for (const { socket } of this.#open) socket.destroy();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const connection = new Connection(this.#url);
      this.#open.add(connection);
      if (this.#flow.isUnread) await this.#sendUnread(connection);
      else while (connection.isOpen && !this.#isStopped) await this.#exchange(connection);
      this.#open.delete(connection);
      if (!this.#isStopped) await sleep(RECONNECT_AFTER_MS);
    }
  }

  async #exchange(connection: Connection): Promise<void> {
    const request = this.#flow.request(this.#sent++);
    const { bytesPerSecond } = this.#flow;
    if (bytesPerSecond === undefined) return this.#count(await connection.exchange(request));
    const replied = new Promise<Reply | null>((resolve) => connection.receive(resolve));
    const sending = sendSlowly(connection, request, bytesPerSecond);
    this.#count(await replied);
    clearInterval(sending);
  }

  #count(reply: Reply | null): void {
    const name = reply === null ? 'closed' : [reply.status, codeOf(reply)].filter(Boolean).join(' ');
    this.replies[name] = (this.replies[name] ?? 0) + 1;
  }

  async #sendUnread({ socket }: Connection): Promise<void> {
    socket.pause();
    for (let request = 0; request < (this.#flow.pipelined ?? 1); request++)
      socket.write(this.#flow.request(this.#sent++));
    await new Promise((resolve) => socket.once('close', resolve));
    if (!this.#isStopped) this.#count(null);
  }
}

function sendSlowly({ socket }: Connection, request: Uint8Array, bytesPerSecond: number): NodeJS.Timeout {
  const slice = Math.ceil(bytesPerSecond / SLICES_PER_SECOND);
  let sent = 0;
  const sending = setInterval(() => {
    if (sent >= request.length || !socket.writable) return clearInterval(sending);
    socket.write(request.subarray(sent, sent + slice));
    sent += slice;
  }, 1_000 / SLICES_PER_SECOND);
  return sending;
}
