// The proxies of deploy/forward-auth in front of a dashboard that returns the headers it receives.

import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { send, type TestRequest, type TestResponse } from '../http.ts';
import { Folder } from '../process.ts';
import { commandOf } from './client.ts';
import { type ProxyKind, ProxyServer, proxies } from './proxy.ts';

const RECIPES = fileURLToPath(new URL('../../../deploy/forward-auth/', import.meta.url));

const [nginx, haproxy] = proxies as [ProxyKind, ProxyKind];

export const forwardingProxies: readonly ProxyKind[] = [
  { ...nginx, settings: `${RECIPES}nginx.conf` },
  { ...haproxy, settings: `${RECIPES}haproxy.cfg` },
  {
    name: 'Caddy',
    command: commandOf('caddy'),
    settings: `${RECIPES}Caddyfile`,
    args: (_folder, settings) => ['run', '--adapter', 'caddyfile', '--config', settings],
  },
];

/** A request that reached the dashboard. */
export interface Received {
  url: string;
  method: string;
  /** Names and values alternately, as sent. */
  headers: string[];
  body: string;
}

export class ForwardAuthSite implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly #folder = new Folder();
  readonly #dashboard: Server;
  #proxy!: ProxyServer;

  static async start(kind: ProxyKind, target: string, apiToken: string): Promise<ForwardAuthSite> {
    const site = new ForwardAuthSite();
    await new Promise<void>((resolve) => site.#dashboard.listen(0, '127.0.0.1', resolve));
    const tokenFile = site.#folder.join('token');
    writeFileSync(tokenFile, `proxy_set_header Authorization "Token ${apiToken}";\n`, { mode: 0o600 });
    const { port } = site.#dashboard.address() as AddressInfo;
    site.#proxy = await ProxyServer.start(
      kind,
      target,
      (settings) =>
        completed(kind, settings)
          .replace('/etc/nginx/user-group-service-token', tokenFile)
          .replace('forward-auth.lua', `${RECIPES}forward-auth.lua`)
          .replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`),
      { USER_GROUP_SERVICE_URL: target, USER_GROUP_SERVICE_TOKEN: apiToken },
    );
    return site;
  }

  private constructor() {
    this.#dashboard = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const {
        url,
        method,
        rawHeaders: headers,
      } = request as { url: string; method: string; rawHeaders: string[] };
      this.received.push({ url, method, headers, body: Buffer.concat(chunks).toString() });
      response.end('the dashboard');
    });
  }

  get url(): string {
    return this.#proxy.url;
  }

  /** Sends a request of a viewer; returns the response, and what reached the dashboard. */
  async visit(
    headers: TestRequest['headers'],
    request: TestRequest = {},
  ): Promise<TestResponse & { received: Received | undefined }> {
    this.received.length = 0;
    const response = await send(this.url, { path: '/page', ...request, ...(headers && { headers }) });
    return { ...response, received: this.received[0] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy[Symbol.asyncDispose]();
    this.#dashboard.closeAllConnections();
    this.#dashboard.close();
    this.#folder[Symbol.dispose]();
  }
}

/** The recipe as a whole file. */
function completed({ name }: ProxyKind, settings: string): string {
  if (name === 'nginx')
    return readFileSync(nginx.settings, 'utf8').replace(/# docs: begin[\s\S]*# docs: end/, settings);
  return name === 'Caddy' ? settings.replace(/^\{\n/m, '{\n\tadmin off\n') : settings;
}
