// The proxies in front of the service, run with the settings shown in the documentation.

import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { eventually, Folder, Program } from '../process.ts';
import { commandOf, pathOf } from './client.ts';

export interface ProxyKind {
  name: string;
  /** undefined if it is not installed. */
  command: string | undefined;
  settings: string;
  args: (folder: string, settings: string) => string[];
}

export const proxies: readonly ProxyKind[] = [
  {
    name: 'nginx',
    command: commandOf('nginx', '/usr/sbin'),
    settings: pathOf('nginx.conf'),
    args: (folder, settings) => ['-p', folder, '-c', settings, '-e', 'stderr'],
  },
  {
    name: 'HAProxy',
    command: commandOf('haproxy', '/usr/sbin'),
    settings: pathOf('haproxy.cfg'),
    args: (_folder, settings) => ['-db', '-f', settings],
  },
];

/** A proxy in front of the service at the URL. */
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
    const port = await freePort();
    const settings = adapt(readFileSync(kind.settings, 'utf8'), port)
      .replaceAll('127.0.0.1:8080', new URL(target).host)
      .replaceAll('127.0.0.1:8081', `127.0.0.1:${port}`);
    const path = proxy.#folder.join('settings');
    writeFileSync(path, settings);
    proxy.url = `http://127.0.0.1:${port}`;
    proxy.#program = new Program(proxy.#folder, kind.args(proxy.#folder.path, path), {
      command: kind.command!,
      env: { HOME: proxy.#folder.path, ...env },
    });
    await eventually(`${kind.name} at ${proxy.url}`, () => accepts(port));
    return proxy;
  }

  /** The log of the proxy. */
  get stderr(): string {
    return this.#program.stderr;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program.kill();
    this.#folder[Symbol.dispose]();
  }
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

/** Neither proxy can listen on port 0 and report the port. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
