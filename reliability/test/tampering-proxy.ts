// Simulates a service that breaks its promises: a proxy in front of the real service that changes requests or
// responses.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { send, type TestRequest, type TestResponse } from '../../test/support/http.ts';

type ProxiedRequest = Required<Pick<TestRequest, 'method' | 'path' | 'headers' | 'body'>>;
type ProxiedResponse = Pick<TestResponse, 'status' | 'headers' | 'text'>;

export interface Tampering {
  /** Returns the request to forward to the service. */
  changeRequest?: (request: ProxiedRequest) => ProxiedRequest | Promise<ProxiedRequest>;
  /** Returns the response to forward to the caller. */
  changeResponse?: (response: TestResponse, request: ProxiedRequest) => ProxiedResponse;
}

export class TamperingProxy implements AsyncDisposable {
  readonly #server: Server;

  static async start(
    target: string,
    { changeRequest = (request) => request, changeResponse = (response) => response }: Tampering,
  ) {
    const exchange = async (incoming: IncomingMessage, response: ServerResponse) => {
      const { method = '', url: path = '' } = incoming;
      const body = await buffer(incoming);
      const { host: _, 'content-length': __, ...headers } = incoming.headersDistinct;
      const request = { method, path, headers, body: body.length === 0 ? undefined : body };
      const changed = changeResponse(await send(target, await changeRequest(request)), request);
      const { connection: ___, 'transfer-encoding': ____, ...rest } = changed.headers;
      const length = method === 'HEAD' ? {} : { 'content-length': Buffer.byteLength(changed.text) };
      response.writeHead(changed.status, { ...rest, ...length }).end(changed.text);
    };
    const server = createServer((incoming, response) => {
      // Disconnects one side if the other disconnects.
      exchange(incoming, response).catch(() => response.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TamperingProxy(server);
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
