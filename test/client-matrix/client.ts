// The clients of the matrix: a program each, in the folder `program`, that makes the calls that it is told to.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What the documentation promises of a client, in its words. */
export interface ClientKind {
  name: string;
  /** What runs the program; undefined where the machine has none. */
  command: string | undefined;
  program: string;
  /** What drives the program where it does not do so itself. */
  runner?: string;
  /** What becomes of a GET with a body. */
  getBody: 'sent' | 'refused' | 'becomes POST';
  patch: 'sent' | 'refused';
  /** Whether calls that follow each other share a connection. */
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

/** Where the machine has a command of the name. */
export function commandOf(name: string, ...moreFolders: string[]): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...moreFolders];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Of a file of the matrix. */
export function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

export interface ClientAnswer {
  /** 'refused' where the client has sent nothing. */
  status: number | 'refused';
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  json: any;
}

/** A program that runs. A request is a line to it, `METHOD\tPATH\tBODY`, an answer a line from it, `STATUS\tBODY`, bodies in base64. */
export class Client implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  /** A client that has lost its connection may have ended before it is told to. */
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

  async call(method: string, path: string, body?: unknown): Promise<ClientAnswer> {
    const base64 = body === undefined ? '' : Buffer.from(JSON.stringify(body)).toString('base64');
    this.#child.stdin!.write(`${method}\t${path}\t${base64}\n`);
    const ended = new AbortController();
    const [line] = (await Promise.race([
      once(this.#lines, 'line', { signal: ended.signal }),
      once(this.#lines, 'close', { signal: ended.signal }),
    ]).finally(() => ended.abort())) as [string | undefined];
    if (line === undefined) throw new Error(`the client has ended: ${this.#errors}`);
    const [status = '', text = ''] = line.split('\t');
    const answer = Buffer.from(text, 'base64').toString().trim();
    if (status === 'refused') return { status, json: answer };
    return { status: Number(status), json: answer === '' ? null : JSON.parse(answer) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin!.end();
    await this.#ended;
  }
}
