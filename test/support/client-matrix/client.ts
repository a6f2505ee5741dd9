// Clients of the matrix: one program each in the folder `program`, which sends the requested calls.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Properties of a client, in the terms of the documentation. */
export interface ClientKind {
  name: string;
  /** Command that runs the program; undefined if it is not installed. */
  command: string | undefined;
  program: string;
  /** Script that runs the program if it cannot run on its own. */
  runner?: string;
  /** Effect of a GET with a body. */
  getBody: 'sent' | 'refused' | 'becomes POST';
  patch: 'sent' | 'refused';
  /** Whether consecutive calls share a connection. */
  connection: 'kept' | 'new each time' | 'new after a GET with a body';
}

const node = process.execPath;
const python = commandOf('python3');
const java = commandOf('java');
const usual = { getBody: 'sent', patch: 'sent', connection: 'kept' } as const;

export const clients: readonly ClientKind[] = [
  {
    ...usual,
    name: 'curl',
    command: commandOf('curl') && commandOf('bash'),
    program: 'curl.sh',
    runner: 'run.sh',
    connection: 'new each time',
  },
  { ...usual, name: 'node:http', command: node, program: 'node-http.js', runner: 'run.js' },
  {
    ...usual,
    name: 'undici',
    command: node,
    program: 'undici.js',
    runner: 'run.js',
    connection: 'new after a GET with a body',
  },
  { ...usual, name: 'axios', command: node, program: 'axios.js', runner: 'run.js' },
  { ...usual, name: 'got', command: node, program: 'got.js', runner: 'run.js' },
  { ...usual, name: 'fetch', command: node, program: 'fetch.js', runner: 'run.js', getBody: 'refused' },
  {
    ...usual,
    name: 'Python http.client',
    command: python,
    program: 'python-http-client.py',
    runner: 'run.py',
    connection: 'new each time',
  },
  {
    ...usual,
    name: 'Python urllib',
    command: python,
    program: 'python-urllib.py',
    runner: 'run.py',
    connection: 'new each time',
  },
  { ...usual, name: 'Java HttpClient', command: java, program: 'java-http-client.java' },
  {
    name: 'Java HttpURLConnection',
    command: java,
    program: 'java-http-url-connection.java',
    getBody: 'becomes POST',
    patch: 'refused',
    connection: 'kept',
  },
];

/** Returns the path of an installed command; undefined if there is none. */
export function commandOf(name: string, ...moreFolders: string[]): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...moreFolders];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Returns the path of a file of the matrix. */
export function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

interface ClientResponse {
  /** `refused` if the client sent nothing. */
  status: number | 'refused';
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect responses of every shape.
  json: any;
}

/**
 * A running program. Each request is a line on its standard input, `METHOD\tPATH\tBODY`, and each response a line on its
 * standard output, `STATUS\tBODY`, with bodies in base64.
 */
export class Client implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  /** Resolves when the program has ended; one that has lost its connection may exit early. */
  readonly #ended: Promise<unknown>;
  #errors = '';

  constructor({ command, runner, program }: ClientKind, serviceUrl: string, apiToken: string) {
    const env = { ...process.env, SERVICE_URL: serviceUrl, API_TOKEN: apiToken };
    const args = [...(runner === undefined ? [] : [pathOf(runner)]), pathOf(`program/${program}`)];
    this.#child = spawn(command!, args, { env, stdio: 'pipe' });
    this.#ended = once(this.#child, 'close');
    this.#lines = createInterface({ input: this.#child.stdout! });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text;
    });
  }

  async call(method: string, path: string, body?: unknown): Promise<ClientResponse> {
    const base64 = body === undefined ? '' : Buffer.from(JSON.stringify(body)).toString('base64');
    this.#child.stdin!.write(`${method}\t${path}\t${base64}\n`);
    const ended = new AbortController();
    const [line] = (await Promise.race([
      once(this.#lines, 'line', { signal: ended.signal }),
      once(this.#lines, 'close', { signal: ended.signal }),
    ]).finally(() => ended.abort())) as [string | undefined];
    if (line === undefined) throw new Error(`the client exited: ${this.#errors}`);
    const [status = '', text = ''] = line.split('\t');
    const response = Buffer.from(text, 'base64').toString().trim();
    if (status === 'refused') return { status, json: response };
    return { status: Number(status), json: response === '' ? null : JSON.parse(response) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin!.end();
    await this.#ended;
  }
}
