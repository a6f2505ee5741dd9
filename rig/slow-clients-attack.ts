// A thousand clients that take their time, in a thread of their own: they send their headers or their body a byte at a
// time, or take their answers as slowly.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export const modes = ['headers', 'body', 'answers'] as const;
export type Mode = (typeof modes)[number];

export interface Attack {
  url: string;
  apiToken: string;
  mode: Mode;
  clients: number;
}

export interface AttackFigures {
  /** How long the connections lasted, in milliseconds. */
  firstCutMs: number;
  lastCutMs: number;
}

/** Begins an attack, which is over when the service has cut off every client. */
export class SlowClients {
  readonly #worker: Worker;
  /** Resolves when the first come. */
  readonly begun: Promise<unknown>;
  readonly cut: Promise<AttackFigures>;

  constructor(attack: Attack) {
    this.#worker = new Worker(new URL(import.meta.url), { workerData: attack });
    this.begun = once(this.#worker, 'message');
    this.cut = this.#figures();
  }

  async #figures(): Promise<AttackFigures> {
    await this.begun;
    const [figures] = await once(this.#worker, 'message');
    await this.#worker.terminate();
    return figures;
  }
}

/** They come over two seconds. */
const COME_TOGETHER = 10;
const COME_EVERY_MS = 20;
const BYTE_EVERY_MS = 1_000;
/** How much of the answers is taken at one time. */
const TAKEN_BYTES = 1_024;
/** Of a megabyte each: more than systems keep for a connection, 4 MB on Linux. */
const LISTS = 10;

class SlowClient {
  readonly #socket: Socket;
  /** Milliseconds from the beginning until the service has ended it. */
  readonly cut: Promise<number>;

  constructor({ url, mode, apiToken }: Attack) {
    const { hostname, port } = new URL(url);
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.on('error', () => {});
    const startedAt = performance.now();
    this.cut = new Promise((resolve) => {
      this.#socket.on('close', () => resolve(performance.now() - startedAt));
    });
    if (mode === 'answers') this.#takeSlowly(apiToken);
    else this.#sendSlowly(mode, apiToken);
  }

  #sendSlowly(mode: 'headers' | 'body', apiToken: string): void {
    const line = 'GET /api/user HTTP/1.1\r\n';
    const head = `${line}Host: rig\r\nAuthorization: Token ${apiToken}\r\nContent-Length: 1000\r\n\r\n`;
    this.#socket.write(mode === 'headers' ? line : head);
    const dripping = setInterval(() => this.#socket.write('x'), BYTE_EVERY_MS);
    this.#socket.on('close', () => clearInterval(dripping)).resume();
  }

  #takeSlowly(apiToken: string): void {
    const list = `GET /v1/user-groups?search=large- HTTP/1.1\r\nHost: rig\r\nAuthorization: Token ${apiToken}\r\n\r\n`;
    this.#socket.pause().write(list.repeat(LISTS));
    const taking = setInterval(() => {
      this.#socket.read(TAKEN_BYTES);
      // Who reads so little learns of the end by writing. An empty line between requests means nothing.
      this.#socket.write('\r\n');
    }, BYTE_EVERY_MS);
    this.#socket.on('close', () => clearInterval(taking));
  }
}

if (!isMainThread) {
  const attack = workerData as Attack;
  const clients: SlowClient[] = [];
  parentPort?.postMessage('begun');
  while (clients.length < attack.clients) {
    for (let client = 0; client < COME_TOGETHER; client++) clients.push(new SlowClient(attack));
    await sleep(COME_EVERY_MS);
  }
  const lasted = await Promise.all(clients.map((client) => client.cut));
  const figures: AttackFigures = { firstCutMs: Math.min(...lasted), lastCutMs: Math.max(...lasted) };
  parentPort?.postMessage(figures);
}
