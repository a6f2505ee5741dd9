// Receiver of webhooks: a real server that records what it receives and responds as the test decides.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { LoopbackServer } from '../connection/loopback-server.ts';
import { eventually } from '../process.ts';

export interface ReceivedWebhook {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Time of arrival (`performance.now()`). */
  receivedAt: number;
}

type Respond = (response: ServerResponse, webhook: ReceivedWebhook) => void;

export class Receiver extends LoopbackServer {
  readonly received: ReceivedWebhook[] = [];
  respond: Respond = (response) => void response.end();

  static async start(respond?: Respond): Promise<Receiver> {
    const receiver = new Receiver();
    if (respond) receiver.respond = respond;
    await receiver.listen();
    return receiver;
  }

  private constructor() {
    super(createServer((request, response) => void this.#receive(request, response)));
  }

  override get url(): string {
    return `${super.url}/webhooks`;
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

  /** Waits until at least `count` webhooks have arrived, and returns all of them. */
  waitFor(count: number, limitMs = 10_000): Promise<ReceivedWebhook[]> {
    return eventually(`${count} webhooks`, () => this.received.length >= count && this.received, limitMs);
  }
}

export function respondWith(status: number): Respond {
  return (response) => void response.writeHead(status).end();
}
