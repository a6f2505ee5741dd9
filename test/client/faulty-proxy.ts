// What lies between a client and the service: a real server that passes requests on, and now and then does to one
// what networks and proxies do.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { send } from '../http.ts';

export type Fault =
  /** The connection breaks before the service gets the request. */
  | 'lose request'
  /** The service does what is asked, and the connection breaks before it answers. */
  | 'lose answer'
  /** The connection breaks in the middle of the answer. */
  | 'cut answer'
  /** The service does what is asked, and no answer comes. */
  | 'hang'
  /** The proxy answers in place of the service, which gets nothing. */
  | { status: number; headers?: Record<string, string>; body?: string };

export interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Milliseconds of `performance.now()`. */
  at: number;
}

export class FaultyProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: string;
  /** What befalls the next calls, one each; those after them pass, and so do checks of a load balancer. */
  faults: Fault[] = [];
  readonly seen: SeenRequest[] = [];

  static async start(target: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer(async (request, response) => {
      const body = await buffer(request);
      const { method = '', url: path = '', headers } = request;
      this.seen.push({ method, path, headers, body: body.toString(), at: performance.now() });
      const fault = path === '/readyz' ? undefined : this.faults.shift();
      await this.#answer(this.seen.at(-1)!, fault, response);
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #answer(request: SeenRequest, fault: Fault | undefined, response: ServerResponse): Promise<void> {
    if (typeof fault === 'object') {
      response.writeHead(fault.status, fault.headers).end(fault.body);
      return;
    }
    if (fault === 'lose request') {
      response.destroy();
      return;
    }
    const { method, path, headers, body } = request;
    const answer = await send(this.#target, { method, path, headers, ...(body !== '' && { body }) });
    if (fault === 'hang') return;
    if (fault === 'lose answer') {
      response.destroy();
      return;
    }
    const { connection: _, 'transfer-encoding': __, ...answerHeaders } = answer.headers;
    response.writeHead(answer.status, answerHeaders);
    if (fault === 'cut answer') {
      response.write(answer.text.slice(0, 10), () => response.destroy());
      return;
    }
    response.end(answer.text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
