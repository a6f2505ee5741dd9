// A client with one connection, all of whose requests go to the same serving thread.

import { Agent, request as httpRequest } from 'node:http';

/** Ids of requests start with as many characters that are the same in a thread. */
const PREFIX = 8;

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  json: any;
  thread: string;
}

export class PinnedClient implements Disposable {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: string;
  readonly #token: string | null;

  constructor(url: string, token: string | null) {
    this.#url = url;
    this.#token = token;
  }

  /** One for each of the threads. */
  static async ofEachThread(url: string, token: string, threads: number): Promise<PinnedClient[]> {
    const clients = new Map<string, PinnedClient>();
    while (clients.size < threads) {
      const client = new PinnedClient(url, token);
      const { thread } = await client.call('GET', '/healthz');
      if (clients.has(thread)) client[Symbol.dispose]();
      else clients.set(thread, client);
    }
    return [...clients.values()];
  }

  call(method: string, path: string, body?: object): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      ...(this.#token !== null && { authorization: `Token ${this.#token}` }),
      ...(text !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(this.#url + path, { method, headers, agent: this.#agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const received = Buffer.concat(chunks).toString();
          const thread = String(response.headers['x-request-id']).slice(0, PREFIX);
          resolve({
            status: response.statusCode!,
            json: received === '' ? null : JSON.parse(received),
            thread,
          });
        });
      });
      outgoing.on('error', reject);
      outgoing.end(text);
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
