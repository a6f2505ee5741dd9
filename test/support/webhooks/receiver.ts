// A receiver of webhooks: a real server that records what it receives and responds as the test decides.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface ReceivedWebhook {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** `performance.now()` */
  receivedAt: number;
}

type Respond = (response: ServerResponse, webhook: ReceivedWebhook) => void;

export class Receiver {
  readonly #server: Server;
  readonly received: ReceivedWebhook[] = [];
  respond: Respond = (response) => void response.end();
  connections = 0;

  static async start(respond?: Respond): Promise<Receiver> {
    const receiver = new Receiver();
    if (respond) receiver.respond = respond;
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  private constructor() {
    this.#server = createServer((request, response) => void this.#receive(request, response));
    this.#server.on('connection', () => this.connections++);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/webhooks`;
  }

  /** Returns how many connections are open. */
  openConnections(): Promise<number> {
    return promisify(this.#server.getConnections.bind(this.#server))();
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = request.headers as Record<string, string>;
    const body = Buffer.concat(chunks).toString();
    const webhook = { path: request.url!, headers, body, receivedAt: performance.now() };
    this.received.push(webhook);
    this.respond(response, webhook);
  }

  /** Waits until at least `count` webhooks were received, and returns all. */
  async waitFor(count: number, timeoutMs = 10_000): Promise<ReceivedWebhook[]> {
    const deadline = performance.now() + timeoutMs;
    while (this.received.length < count) {
      if (performance.now() > deadline)
        throw new Error(`received ${this.received.length} of ${count} webhooks in ${timeoutMs} ms`);
      await sleep(5);
    }
    return this.received;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

export function respondWith(status: number): Respond {
  return (response) => void response.writeHead(status).end();
}
