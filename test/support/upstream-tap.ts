// Records the traffic between a proxy and the service per connection, to check that both agree on the end of each
// request.

import { connect, createServer } from 'node:net';
import type { TestResponse } from './http.ts';
import { LoopbackServer } from './loopback-server.ts';
import { readAnswers } from './raw-connection.ts';

export class UpstreamTap implements AsyncDisposable {
  readonly #server: LoopbackServer;
  /** In the order in which the proxy opened them. */
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

  /** All responses of the service so far, grouped by connection. */
  get answers(): TestResponse[] {
    return this.connections.flatMap((connection) => connection.answers);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

class UpstreamConnection {
  /** The incomplete last request of the proxy and the incomplete last response of the service. */
  readonly rest = { requests: '', answers: '' };
  readonly answers: TestResponse[] = [];
  /** The number of complete requests. */
  requests = 0;
  isClosed = false;

  receive(what: 'requests' | 'answers', bytes: Buffer): void {
    this.rest[what] += bytes.toString('latin1');
    if (what === 'requests') this.#countRequests();
    else this.#readAnswers();
  }

  #countRequests(): void {
    for (;;) {
      const length = lengthOfRequest(this.rest.requests);
      if (length === null) return;
      this.requests++;
      this.rest.requests = this.rest.requests.slice(length);
    }
  }

  #readAnswers(): void {
    const { answers, rest } = readAnswers(this.rest.answers);
    this.answers.push(...answers);
    this.rest.answers = rest;
  }
}

const HEAD = /^[^\r\n]+ HTTP\/1\.1\r\n(?:[^\r\n]+\r\n)*\r\n/;
const CHUNKS = /^(?:[0-9a-fA-F]+[^\r\n]*\r\n)/;

/** The length of the first request, or null if it is incomplete. Parses strictly: a proxy sends only canonical HTTP. */
function lengthOfRequest(text: string): number | null {
  const [head] = HEAD.exec(text) ?? [];
  if (head === undefined) return null;
  const [, length] = /\r\ncontent-length: *(\d+)\r\n/i.exec(head) ?? [];
  const isChunked = /\r\ntransfer-encoding: *chunked\r\n/i.test(head);
  if (isChunked) {
    const chunks = lengthOfChunks(text.slice(head.length));
    return chunks && head.length + chunks;
  }
  const total = head.length + Number(length ?? 0);
  return text.length < total ? null : total;
}

function lengthOfChunks(text: string): number | null {
  for (let at = 0; ; ) {
    const [line] = CHUNKS.exec(text.slice(at)) ?? [];
    if (line === undefined) return null;
    const size = Number.parseInt(line, 16);
    at += line.length;
    if (size === 0) {
      const [trailer] = /^(?:[^\r\n]+\r\n)*\r\n/.exec(text.slice(at)) ?? [];
      return trailer === undefined ? null : at + trailer.length;
    }
    at += size + 2;
    if (at > text.length) return null;
  }
}
