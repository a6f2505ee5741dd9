// Proxy between a client and the service that forwards requests and injects the faults of networks and
// proxies.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { LoopbackServer } from '../connection/loopback-server.ts';
import { send } from '../http.ts';

export type Fault =
  /** Breaks the connection before the service receives the request. */
  | 'lose request'
  /** Breaks the connection after the service has processed the request and before the response. */
  | 'lose response'
  /** Breaks the connection in the middle of the response. */
  | 'truncate response'
  /** Never sends the response, although the service processes the request. */
  | 'hang'
  /** Sends this response instead of forwarding the request. */
  | { status: number; headers?: Record<string, string>; body?: string };

interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Time of `performance.now()` in milliseconds. */
  at: number;
}

export class FaultyProxy implements AsyncDisposable {
  readonly #server: LoopbackServer;
  readonly #target: string;
  /** Faults of the next calls, one each. Later calls, and health checks of a load balancer, are forwarded. */
  faults: Fault[] = [];
  readonly seen: SeenRequest[] = [];

  static async start(target: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    await proxy.#server.listen();
    return proxy;
  }

  private constructor(target: string) {
    this.#target = target;
    const server = createServer(async (request, response) => {
      const body = await buffer(request);
      const { method = '', url: path = '', headers } = request;
      this.seen.push({ method, path, headers, body: body.toString(), at: performance.now() });
      const fault = path === '/readyz' ? undefined : this.faults.shift();
      await this.#respond(this.seen.at(-1)!, fault, response);
    });
    this.#server = new LoopbackServer(server);
  }

  get url(): string {
    return this.#server.url;
  }

  async #respond(request: SeenRequest, fault: Fault | undefined, response: ServerResponse): Promise<void> {
    if (typeof fault === 'object') {
      response.writeHead(fault.status, fault.headers).end(fault.body);
      return;
    }
    if (fault === 'lose request') {
      response.destroy();
      return;
    }
    const { method, path, headers, body } = request;
    const upstream = await send(this.#target, { method, path, headers, ...(body !== '' && { body }) });
    if (fault === 'hang') return;
    if (fault === 'lose response') {
      response.destroy();
      return;
    }
    const { connection: _, 'transfer-encoding': __, ...endToEndHeaders } = upstream.headers;
    response.writeHead(upstream.status, endToEndHeaders);
    if (fault === 'truncate response') {
      response.write(upstream.text.slice(0, 10), () => response.destroy());
      return;
    }
    response.end(upstream.text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}
