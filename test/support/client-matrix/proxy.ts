// Runs the proxies in front of the service with the settings shown in the documentation.

import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { freePort } from '../connection/free-port.ts';
import { send } from '../http.ts';
import { eventually, Folder, Program } from '../process.ts';
import { commandOf, pathOf } from './client.ts';

export interface ProxyKind {
  name: string;
  /** undefined if the proxy is not installed. */
  command: string | undefined;
  /** Command that installs the proxy. */
  install: string;
  /** Whether the proxy accepts connections before it has read its routes, and answers 404 until then. */
  readsRoutesLater?: true;
  settings: string;
  args: (folder: string, settings: string, port: number) => string[];
}

export const proxies: readonly ProxyKind[] = [
  {
    name: 'nginx',
    command: commandOf('nginx', '/usr/sbin'),
    install: 'apt-get install nginx',
    settings: pathOf('nginx.conf'),
    args: (folder, settings) => ['-p', folder, '-c', settings, '-e', 'stderr'],
  },
  {
    name: 'HAProxy',
    command: commandOf('haproxy', '/usr/sbin'),
    install: 'apt-get install haproxy',
    settings: pathOf('haproxy.cfg'),
    args: (_folder, settings) => ['-db', '-f', settings],
  },
];

/** Proxy in front of the service at the URL. */
export class ProxyServer implements AsyncDisposable {
  readonly #folder = new Folder();
  #program!: Program;
  url = '';

  /** `adapt` changes the settings for a test. */
  static async start(
    kind: ProxyKind,
    target: string,
    adapt: (settings: string, port: number) => string = (settings) => settings,
    env: Record<string, string> = {},
  ): Promise<ProxyServer> {
    const proxy = new ProxyServer();
    // No proxy can listen on port 0 and report the port.
    const port = await freePort();
    const adapted = adapt(readFileSync(kind.settings, 'utf8'), port);
    const settings = atPort(atPort(adapted, 8080, Number(new URL(target).port)), 8081, port);
    const path = proxy.#folder.join('settings');
    writeFileSync(path, settings);
    proxy.url = `http://127.0.0.1:${port}`;
    proxy.#program = new Program(proxy.#folder, kind.args(proxy.#folder.path, path, port), {
      command: kind.command!,
      env: { HOME: proxy.#folder.path, ...env },
    });
    await eventually(`${kind.name} at ${proxy.url}`, () => accepts(port));
    if (kind.readsRoutesLater)
      await eventually(
        `routes of ${kind.name}`,
        async () => (await send(proxy.url, { path: '/' })).status !== 404,
      );
    return proxy;
  }

  /** Log of the proxy. */
  get stderr(): string {
    return this.#program.stderr;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program.kill();
    this.#folder[Symbol.dispose]();
  }
}

/** Returns the settings with another port on the loopback address; Envoy has the port in a separate line. */
export function atPort(settings: string, from: number, to: number): string {
  return settings
    .replaceAll(`127.0.0.1:${from}`, `127.0.0.1:${to}`)
    .replaceAll(`port_value: ${from}`, `port_value: ${to}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
