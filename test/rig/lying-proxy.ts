// A service that breaks its promises: the real one behind a proxy that changes what callers ask or what they are told.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { send, type TestAnswer, type TestRequest } from '../http.ts';

type Asked = Required<Pick<TestRequest, 'method' | 'path' | 'headers' | 'body'>>;
type Told = Pick<TestAnswer, 'status' | 'headers' | 'text'>;

export interface Lie {
  /** What reaches the service. */
  asked?: (request: Asked) => Asked | Promise<Asked>;
  /** What the caller is told who has sent the request. */
  told?: (answer: TestAnswer, request: Asked) => Told;
}

export class LyingProxy implements AsyncDisposable {
  readonly #server: Server;

  static async start(target: string, { asked = (request) => request, told = (answer) => answer }: Lie) {
    const exchange = async (incoming: IncomingMessage, response: ServerResponse) => {
      const { method = '', url: path = '' } = incoming;
      const body = await buffer(incoming);
      const { host: _, 'content-length': __, ...headers } = incoming.headersDistinct;
      const request = { method, path, headers, body: body.length === 0 ? undefined : body };
      const answer = told(await send(target, await asked(request)), request);
      const { connection: ___, 'transfer-encoding': ____, ...rest } = answer.headers;
      const length = method === 'HEAD' ? {} : { 'content-length': Buffer.byteLength(answer.text) };
      response.writeHead(answer.status, { ...rest, ...length }).end(answer.text);
    };
    const server = createServer((incoming, response) => {
      // Where either side goes away, the other one learns of it.
      exchange(incoming, response).catch(() => response.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new LyingProxy(server);
  }

  private constructor(server: Server) {
    this.#server = server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
