// A thousand slow clients in a worker thread: they send their headers or their body one byte at a time, or read their
// responses as slowly.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export const modes = ['headers', 'body', 'answers'] as const;
export type Mode = (typeof modes)[number];

interface Attack {
  url: string;
  apiToken: string;
  mode: Mode;
  clients: number;
}

interface AttackFigures {
  /** Duration of the connections in milliseconds. */
  firstCutMs: number;
  lastCutMs: number;
}

/** Starts an attack, which ends when the service has disconnected every client. */
export class SlowClients {
  readonly #worker: Worker;
  /** Resolves when the first clients connect. */
  readonly started: Promise<unknown>;
  readonly cut: Promise<AttackFigures>;

  constructor(attack: Attack) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: attack });
    this.started = once(this.#worker, 'message');
    this.cut = this.#figures();
  }

  async #figures(): Promise<AttackFigures> {
    await this.started;
    const [figures] = await once(this.#worker, 'message');
    await this.#worker.terminate();
    return figures;
  }
}

/** Clients that connect at a time: a thousand connect over two seconds. */
const CONNECT_BATCH = 10;
const CONNECT_EVERY_MS = 20;
const BYTE_EVERY_MS = 1_000;
/** Number of response bytes that are read at a time. */
const READ_BYTES = 1_024;
/** Number of lists of 256 KiB each, together more than a socket buffer holds (4 MB on Linux). */
const LISTS = 40;

class SlowClient {
  readonly #socket: Socket;
  /** Resolves with the milliseconds from the start until the service closed the connection. */
  readonly cut: Promise<number>;

  constructor({ url, mode, apiToken }: Attack) {
    const { hostname, port } = new URL(url);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.on('error', () => {});
    const startedAt = performance.now();
    this.cut = new Promise((resolve) => {
      this.#socket.on('close', () => resolve(performance.now() - startedAt));
    });
    if (mode === 'answers') this.#readSlowly(apiToken);
    else this.#sendSlowly(mode, apiToken);
  }

  #sendSlowly(mode: 'headers' | 'body', apiToken: string): void {
    const line = 'GET /api/user HTTP/1.1\r\n';
    const head = `${line}Host: rig\r\nAuthorization: Token ${apiToken}\r\nContent-Length: 1000\r\n\r\n`;
    this.#socket.write(mode === 'headers' ? line : head);
    const dripping = setInterval(() => this.#socket.write('x'), BYTE_EVERY_MS);
    this.#socket.on('close', () => clearInterval(dripping)).resume();
  }

  #readSlowly(apiToken: string): void {
    const list = `GET /v1/user-groups?search=large- HTTP/1.1\r\nHost: rig\r\nAuthorization: Token ${apiToken}\r\n\r\n`;
    this.#socket.pause().write(list.repeat(LISTS));
    const reading = setInterval(() => {
      this.#socket.read(READ_BYTES);
      // A client that reads so little notices a closed connection only when it writes. The service ignores
      // empty lines between requests.
      this.#socket.write('\r\n');
    }, BYTE_EVERY_MS);
    this.#socket.on('close', () => clearInterval(reading));
  }
}

if (!isMainThread) {
  const attack = workerData as Attack;
  const clients: SlowClient[] = [];
  parentPort?.postMessage('started');
  while (clients.length < attack.clients) {
    for (let client = 0; client < CONNECT_BATCH; client++) clients.push(new SlowClient(attack));
    await sleep(CONNECT_EVERY_MS);
  }
  const lasted = await Promise.all(clients.map((client) => client.cut));
  const figures: AttackFigures = { firstCutMs: Math.min(...lasted), lastCutMs: Math.max(...lasted) };
  parentPort?.postMessage(figures);
}
