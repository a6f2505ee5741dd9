// Records the traffic between a proxy and the service per connection, to check that both agree on the end of each
// request.

import { connect, createServer } from 'node:net';
import type { TestResponse } from '../http.ts';
import { LoopbackServer } from './loopback-server.ts';
import { readAnswers } from './raw-connection.ts';
import { countRequests } from './raw-request.ts';

export class UpstreamTap implements AsyncDisposable {
  readonly #server: LoopbackServer;
  /** Connections in the order in which the proxy opened them. */
  readonly connections: UpstreamConnection[] = [];

  static async start(target: string): Promise<UpstreamTap> {
    const tap = new UpstreamTap(new URL(target));
    await tap.#server.listen();
    return tap;
  }

  private constructor({ hostname, port }: URL) {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (proxy) => {
      const connection = new UpstreamConnection();
      this.connections.push(connection);
      const service = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
      proxy.on('data', (bytes: Buffer) => connection.receive('requests', bytes));
      service.on('data', (bytes: Buffer) => connection.receive('answers', bytes));
      proxy.on('close', () => {
        connection.isClosed = true;
        service.destroy();
      });
      for (const [socket, other] of [
        [proxy, service],
        [service, proxy],
      ] as const) {
        socket.pipe(other);
        // An error closes both sockets.
        socket.on('error', () => other.destroy());
      }
    });
    this.#server = new LoopbackServer(server);
  }

  get url(): string {
    return this.#server.url;
  }

  /** Responses of the service so far, grouped by connection. */
  get answers(): TestResponse[] {
    return this.connections.flatMap((connection) => connection.answers);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

class UpstreamConnection {
  /** Incomplete last request of the proxy and incomplete last response of the service. */
  readonly rest = { requests: '', answers: '' };
  readonly answers: TestResponse[] = [];
  /** Number of complete requests. */
  requests = 0;
  isClosed = false;

  receive(what: 'requests' | 'answers', bytes: Buffer): void {
    this.rest[what] += bytes.toString('latin1');
    if (what === 'requests') this.#countRequests();
    else this.#readAnswers();
  }

  #countRequests(): void {
    const { requests, rest } = countRequests(this.rest.requests);
    this.requests += requests;
    this.rest.requests = rest;
  }

  #readAnswers(): void {
    const { answers, rest } = readAnswers(this.rest.answers);
    this.answers.push(...answers);
    this.rest.answers = rest;
  }
}
