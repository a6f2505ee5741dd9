// Runs nginx in front of the processes, with the recommended configuration or with the defaults of nginx.

import { readFileSync } from 'node:fs';
import { ProxyServer, proxies } from '../../test/support/client-matrix/proxy.ts';
import type { Target } from './caller.ts';

/** `recommended` is `deploy/nginx.conf`; `default` is the same file without its failover directives. */
export const nginxConfigurations = ['recommended', 'default'] as const;
export type NginxConfiguration = (typeof nginxConfigurations)[number];

const kind = proxies.find(({ name }) => name === 'nginx')!;
const RECOMMENDED = new URL('../../deploy/nginx.conf', import.meta.url);

export const isNginxInstalled = kind.command !== undefined;

export interface Nginx extends Target, AsyncDisposable {
  /** Failed attempts, as logged by nginx: no connection, a closed connection, no live upstream. */
  readonly undelivered: number;
}

export async function startNginx(
  configuration: NginxConfiguration,
  processes: readonly Target[],
): Promise<Nginx> {
  if (!isNginxInstalled) throw new Error('nginx is not installed');
  const server = await ProxyServer.start(kind, processes[0]!.url, (base, port) =>
    base.replace(/# docs: begin[\s\S]*# docs: end/, siteOf(configuration, processes, port)),
  );
  return {
    url: server.url,
    get state() {
      return processes.map(({ state }) => state).join('; ');
    },
    get undelivered() {
      return server.stderr.match(/\[error\].* upstream/g)?.length ?? 0;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function siteOf(configuration: NginxConfiguration, processes: readonly Target[], port: number): string {
  const servers = processes.map(({ url }) => `    server ${new URL(url).host} max_fails=0;\n`).join('');
  const site = readFileSync(RECOMMENDED, 'utf8')
    .replace(/(?: {4}server .*\n)+/, servers)
    .replace('127.0.0.1:8080', `127.0.0.1:${port}`);
  if (configuration === 'recommended') return site;
  return site.replaceAll(' max_fails=0', '').replace(/^ *proxy_next_upstream .*\n/m, '');
}
