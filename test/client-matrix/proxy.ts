// The proxies that the matrix puts in front of the service, run with the very settings that the documentation shows.

import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { eventually, Folder, Program } from '../process.ts';
import { commandOf, pathOf } from './client.ts';

export interface ProxyKind {
  name: string;
  /** undefined where the machine has none. */
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

/** A proxy that passes everything on to the service at the URL. */
export class ProxyServer implements AsyncDisposable {
  readonly #folder = new Folder();
  #program!: Program;
  url = '';

  /** `adapt` changes what the settings say, where a test needs them otherwise. */
  static async start(
    kind: ProxyKind,
    target: string,
    adapt: (settings: string) => string = (settings) => settings,
  ): Promise<ProxyServer> {
    const proxy = new ProxyServer();
    const port = await freePort();
    const settings = adapt(readFileSync(kind.settings, 'utf8'))
      .replaceAll('127.0.0.1:8080', new URL(target).host)
      .replaceAll('127.0.0.1:8081', `127.0.0.1:${port}`);
    const path = proxy.#folder.join('settings');
    writeFileSync(path, settings);
    proxy.url = `http://127.0.0.1:${port}`;
    proxy.#program = new Program(proxy.#folder, kind.args(proxy.#folder.path, path), {
      command: kind.command!,
    });
    await eventually(`${kind.name} at ${proxy.url}`, () => accepts(port));
    return proxy;
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

/** Neither proxy can be asked for a free port of its choice. */
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
