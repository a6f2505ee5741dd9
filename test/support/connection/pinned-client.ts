// A client with one connection, so that all of its requests go to the same serving thread.

import { Agent } from 'node:http';
import { send, type TestResponse } from '../http.ts';

/** Length of the prefix of request ids that is the same within a thread. */
const PREFIX = 8;

interface PinnedResponse extends TestResponse {
  /** Prefix that is the same for all requests that a thread answers. */
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

  /** Returns one client for each thread. */
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

  async call(method: string, path: string, body?: object): Promise<PinnedResponse> {
    const response = await send(this.#url, { method, path, body, token: this.#token, agent: this.#agent });
    return { ...response, thread: String(response.headers['x-request-id']).slice(0, PREFIX) };
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
