// Runs a server in a separate process on a free port of 127.0.0.1 until it is disposed.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/connection/free-port.ts';
import { send } from '../test/support/http.ts';

const POLL_MS = 2;
const START_TIMEOUT_MS = 20_000;
const END_TIMEOUT_MS = 30_000;

interface ServerCommand {
  /** Path relative to the project root, and arguments. */
  script: readonly string[];
  env?: Record<string, string>;
  /** Node flags. */
  nodeFlags?: readonly string[];
}

export class ServerProcess implements AsyncDisposable {
  readonly url: string;
  /** Milliseconds from the start of the process until it reports ready. */
  readyAfterMs = Number.NaN;
  readonly #child: ChildProcess;
  #output = '';

  /** Resolves when the server reports ready. */
  static async start(command: ServerCommand): Promise<ServerProcess> {
    const port = await freePort();
    const startedAt = performance.now();
    const server = new ServerProcess(command, port);
    try {
      await server.#untilReady();
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
    server.readyAfterMs = performance.now() - startedAt;
    return server;
  }

  private constructor({ script, env = {}, nodeFlags = [] }: ServerCommand, port: number) {
    const [path = '', ...args] = script;
    this.url = `http://127.0.0.1:${port}`;
    this.#child = spawn(process.execPath, [...nodeFlags, rootPath(path), ...args], {
      // A minimal environment: settings of the shell must not affect the measurement.
      env: { PATH: process.env.PATH, LOG_LEVEL: 'warn', PORT: String(port), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
      });
    }
    process.once('exit', this.#kill);
  }

  /** Output of the process: warnings and errors of the service. */
  get output(): string {
    return this.#output;
  }

  get processId(): number {
    return this.#child.pid!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#kill);
    if (this.#hasEnded) return;
    const ended = once(this.#child, 'exit');
    this.#kill();
    const timeout = setTimeout(() => this.#child.kill('SIGKILL'), END_TIMEOUT_MS);
    await ended;
    clearTimeout(timeout);
  }

  readonly #kill = (): void => {
    this.#child.kill('SIGTERM');
  };

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async #untilReady(): Promise<void> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (performance.now() < deadline) {
      if (this.#hasEnded) throw new Error(`the server exited before it was ready:\n${this.#output}`);
      const isReady = await send(this.url, { path: '/readyz' }).then(
        ({ status }) => status < 300,
        () => false,
      );
      if (isReady) return;
      await sleep(POLL_MS);
    }
    throw new Error(`the server is not ready after ${START_TIMEOUT_MS} ms:\n${this.#output}`);
  }
}

export function rootPath(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}
