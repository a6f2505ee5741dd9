// Runs the program as its users do: a process with arguments, an environment, output, signals and an exit code.
// Every wait is bounded: it ends with the event, with the exit of the process or at a time limit.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, dirname, join } from 'node:path';
import { after, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { redact } from '../../src/domain/secret.ts';
import { CommandHost } from './command-host.ts';
import { type DatabaseKind, removeFolder, type TestDatabase, temporaryFolder } from './database.ts';
import { watch } from './exposure.ts';
import { send, type TestRequest, type TestResponse } from './http.ts';
import { nodeFlagsOf } from './node-flags.ts';
import { threadStarvedMs, unlessStarved } from './starvation.ts';

/** Executable of this checkout, or of a build. */
export const PROGRAM =
  process.env.TEST_PROGRAM ?? fileURLToPath(new URL('../../bin/user-group-service.js', import.meta.url));
/** Executable of the service to test instead of this checkout, such as one of `npm run release`. */
const EXECUTABLE = process.env.TEST_EXECUTABLE;
/** Matches the refusals of a busy machine; those that say "too often" are the result of the call. */
const BUSY = /Too many [^.]* are waiting/;
/** Time limit of a wait, even on a busy machine. */
const LIMIT_MS = Number(process.env.TEST_LIMIT_MS ?? 120_000);
/** Pauses between two polls: each is longer than the one before, because a poll often takes a millisecond of the processor. */
const POLL_MS = { first: 5, growth: 1.25, longest: 25 };
/** Time that `serve` takes until it listens, at most, on a machine that is not busy. */
const USUAL_START_MS = 2_000;
/** Settings for a command on which a test or a rig depends, on a busy machine. */
export const PATIENT = { UGS_POSTGRES_CONNECT_TIMEOUT_MS: String(LIMIT_MS) };
/** Settings for a rig that sends many requests without a valid API token. */
export const WITHOUT_FAILURE_LIMIT = { UGS_FAILED_AUTHENTICATION_LIMIT_PER_MINUTE: '0' };
/** Log message for a batch of the store that failed although its requests may all have succeeded. */
export const SPLIT_BATCH = 'a batch failed; its items were repeated one at a time';
/** Matches errors that some tests cause by removing or renaming a table. */
const MISSING_NAME = /no such (table|column)|does not exist/;
/** Matches commands whose output contains secrets. */
const PRINTS_SECRETS = /^(?:api-token (?:create|rotate|generate)|key generate|start|export)/;

/** Temporary directory that is deleted at the end of the test. */
export class Folder implements Disposable {
  readonly path = temporaryFolder();

  /** Returns the folder of a suite, which is deleted after its tests. */
  static of(): Folder {
    const folder = new Folder();
    after(() => folder[Symbol.dispose]());
    return folder;
  }

  join(...parts: string[]): string {
    return join(this.path, ...parts);
  }

  [Symbol.dispose](): void {
    removeFolder(this.path);
  }
}

export interface ProgramOptions {
  env?: Record<string, string>;
  /** Executable to run instead of the program of this checkout. */
  command?: string;
  /** Executable script of another version of the program. */
  program?: string;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Process that runs in a folder, in an environment without the developer's settings. */
export class Program implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exit: Promise<Exit>;
  /** Resolves on the first output. */
  readonly firstOutput: Promise<unknown>;
  stdout = '';
  stderr = '';

  constructor(folder: Folder, args: readonly string[], options: ProgramOptions = {}) {
    const { env = {}, command, program = PROGRAM } = options;
    const executable = command ?? (program === PROGRAM ? EXECUTABLE : undefined);
    this.#child = spawn(
      executable ?? process.execPath,
      executable ? args : [...nodeFlagsOf(program), program, ...args],
      {
        cwd: folder.path,
        env: environment(env),
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    watch.learn(Object.values(env).join('\n'));
    const what = nameOf(args);
    // The output of any other executable may contain secrets, unless it runs `serve`.
    const isSecret = command === undefined ? printsSecrets(args) : args[0] !== 'serve';
    this.#capture('stdout', isSecret ? watch.learner() : watch.listener(what));
    this.#capture('stderr', watch.listener(what));
    this.firstOutput = once(this.#child.stdout!, 'data');
    this.firstOutput.catch(() => {});
    this.#exit = once(this.#child, 'close').then(([code, signal]) => {
      refuseSplitBatch(this.stdout.split('\n'));
      return { code, signal, stdout: this.stdout, stderr: this.stderr };
    });
    this.#exit.catch(() => {});
  }

  #capture(name: 'stdout' | 'stderr', listener: (text: string) => void): void {
    this.#child[name]?.setEncoding('utf8').on('data', (text: string) => {
      this[name] += text;
      listener(text);
    });
  }

  get id(): number {
    return this.#child.pid!;
  }

  /** Waits until standard output matches. */
  says(pattern: RegExp): Promise<RegExpExecArray> {
    return eventually(`${pattern} in the output`, () => {
      const match = pattern.exec(this.stdout);
      if (match === null && this.hasEnded) throw new Error(`the program exited early: ${this.#output()}`);
      return match;
    });
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async exit(limitMs = LIMIT_MS): Promise<Exit> {
    const timer = new AbortController();
    const late = sleep(limitMs, null, { signal: timer.signal }).then(() => {
      throw new Error(`the program did not exit within ${limitMs} ms: ${this.#output()}`);
    });
    late.catch(() => {});
    try {
      return await Promise.race([this.#exit, late]);
    } finally {
      timer.abort();
    }
  }

  /** Kills the process with SIGKILL, so that it cannot clean up. */
  async kill(): Promise<Exit> {
    this.signal('SIGKILL');
    return this.exit();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #output(): string {
    return redact(`${this.stdout}${this.stderr}`);
  }
}

/** Process of `serve` with the log level trace. */
export class Service extends Program {
  url = '';
  /**
   * Time by which the start has taken longer than usual: the machine is so busy that a limit for the time of this process
   * must be as much higher.
   */
  busyMs = 0;

  /** Returns how many of `count` callers a machine as busy as this one can serve. */
  callers(count: number): number {
    return Math.ceil((count * USUAL_START_MS) / (USUAL_START_MS + this.busyMs));
  }

  /** Waits until the service listens. */
  static async start(folder: Folder, args: readonly string[], options?: ProgramOptions): Promise<Service> {
    const startedAt = performance.now();
    const service = new Service(folder, args, options);
    try {
      const [, url = ''] = await service.says(/"url":"(http:[^"]+)"/);
      service.url = url;
      service.busyMs = Math.max(0, performance.now() - startedAt - USUAL_START_MS);
      return service;
    } catch (error) {
      await service.kill();
      throw error;
    }
  }

  constructor(folder: Folder, args: readonly string[], { env, ...options }: ProgramOptions = {}) {
    super(folder, args, { ...options, env: { LOG_LEVEL: 'trace', ...env } });
  }

  call(token: string, method: string, path: string, body?: unknown): Promise<TestResponse> {
    return this.send({ token, method, path, body });
  }

  send(request: TestRequest): Promise<TestResponse> {
    return send(this.url, request);
  }
}

/** Runs the program until it exits. */
export async function run(folder: Folder, args: readonly string[], options?: ProgramOptions): Promise<Exit> {
  await using program = new Program(folder, args, options);
  return await program.exit();
}

const host = new CommandHost();

/**
 * Runs a command as `run` does, but in a process that runs other commands before and after it: for a command
 * that prepares a test, and for one of several runs whose arguments, files or data differ.
 */
export async function runHosted(
  folder: Folder,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<Exit> {
  const { env = {}, command, program } = options;
  if (command !== undefined || program !== undefined || EXECUTABLE !== undefined)
    return run(folder, args, options);
  watch.learn(Object.values(env).join('\n'));
  const exit = await host.run({ args, env: environment(env), folder: folder.path }, LIMIT_MS);
  const { stdout, stderr } = exit;
  if (printsSecrets(args)) watch.learn(stdout);
  else watch.printed(nameOf(args), stdout);
  watch.printed(nameOf(args), stderr);
  refuseSplitBatch(stdout.split('\n'));
  return { ...exit, signal: null };
}

/** Starts `serve` on the default database of the folder and a free port, and waits until it listens. */
export function serve(
  folder: Folder,
  { args = [], ...options }: ProgramOptions & { args?: readonly string[] } = {},
): Promise<Service> {
  return Service.start(folder, ['serve', ...args], options);
}

/** Creates an API token with the command `api-token create`, in the default database of the folder. */
export async function createApiToken(
  folder: Folder,
  args: readonly string[] = [],
  options: ProgramOptions = {},
): Promise<{ id: number; token: string }> {
  const create = ['api-token', 'create', '--workspace', 'default', '--json', ...args];
  const env = { ...PATIENT, ...options.env };
  const { stdout, stderr, code } = await runHosted(folder, create, { ...options, env });
  if (code !== 0) throw new Error(`api-token create exited with ${code}: ${redact(stderr)}`);
  return JSON.parse(stdout);
}

/** Service on its own database, and an API token of the workspace `default`. */
export class ServedDatabase implements AsyncDisposable {
  readonly folder = new Folder();
  database!: TestDatabase;
  service!: Service;
  token = '';

  /** Returns the service of a suite, which runs from before its tests until after them. */
  static of(kind: DatabaseKind, args?: readonly string[]): ServedDatabase {
    const served = new ServedDatabase();
    before(() => served.#start(kind, args));
    after(() => served[Symbol.asyncDispose]());
    return served;
  }

  static async start(kind: DatabaseKind, args?: readonly string[]): Promise<ServedDatabase> {
    const served = new ServedDatabase();
    await served.#start(kind, args);
    return served;
  }

  /** `args` are those of `api-token create`. */
  async #start(kind: DatabaseKind, args?: readonly string[]): Promise<void> {
    this.database = await kind.create();
    this.token = (await this.apiToken(args)).token;
    this.service = await serve(this.folder, { env: this.database.env });
  }

  /** Options of a command that uses the database. */
  get onDatabase(): { env: TestDatabase['env'] } {
    return { env: { ...PATIENT, ...this.database.env } };
  }

  apiToken(args?: readonly string[]): ReturnType<typeof createApiToken> {
    return createApiToken(this.folder, args, this.onDatabase);
  }

  call(method: string, path: string, body?: unknown, token = this.token): Promise<TestResponse> {
    return this.service.call(token, method, path, body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service?.kill();
    await this.database?.drop();
    this.folder[Symbol.dispose]();
  }
}

/**
 * Polls until the probe returns neither null nor false. Time without a processor does not count towards the limit, up to
 * `LIMIT_MS`.
 */
export async function eventually<Found>(
  what: string,
  probe: () => Promise<Found | null | false> | Found | null | false,
  limitMs = LIMIT_MS,
): Promise<Found> {
  const [startedAt, before] = [performance.now(), threadStarvedMs(process.pid)];
  const hasTime = () => {
    const elapsedMs = performance.now() - startedAt;
    return elapsedMs < LIMIT_MS && elapsedMs - (threadStarvedMs(process.pid) - before) < limitMs;
  };
  for (let pauseMs = POLL_MS.first; hasTime(); pauseMs *= POLL_MS.growth) {
    const found = await probe();
    if (found !== null && found !== false) return found;
    await sleep(Math.min(pauseMs, POLL_MS.longest));
  }
  throw new Error(`timed out after ${limitMs} ms waiting for ${what}`);
}

/**
 * Returns the response to a call that prepares a test; repeats the call while the service is too busy for it.
 */
export function served(call: () => Promise<TestResponse>): Promise<TestResponse> {
  return eventually('a response other than 503', async () => {
    const response = await call();
    return response.status === 503 ? null : response;
  });
}

/**
 * Repeats a call while the service is too busy for it, or while its response is incomplete, and if this process waited for
 * a processor, also after another 503, which may be late.
 */
export function admitted(
  call: () => Promise<TestResponse>,
  isComplete: (response: TestResponse) => boolean = () => true,
): Promise<TestResponse> {
  let refusal = '';
  const probe = async () => {
    const response = await unlessStarved(call, (each) => each.status === 503 && !isBusy(each));
    const isRefused = isBusy(response);
    if (!isRefused && isComplete(response)) return response;
    refusal = response.text;
    return null;
  };
  return eventually('a service that is not busy', probe).catch((error) => {
    throw new Error(`${error.message}: ${refusal}`, { cause: error });
  });
}

function isBusy({ status, text }: TestResponse): boolean {
  return status === 503 && BUSY.test(text);
}

function nameOf(args: readonly string[]): string {
  return args.slice(0, 2).join(' ');
}

function printsSecrets(args: readonly string[]): boolean {
  return PRINTS_SECRETS.test(nameOf(args)) || args.includes('--show-token');
}

/** Throws if a batch has failed, which callers do not notice. */
export function refuseSplitBatch(logLines: readonly string[]): void {
  const split = logLines.find((line) => line.includes(SPLIT_BATCH) && !MISSING_NAME.test(line));
  if (split !== undefined) throw new Error(split);
}

function environment(env: Record<string, string>): NodeJS.ProcessEnv {
  const { PATH = '', HOME, TMPDIR, UGS_THREADS } = process.env;
  return {
    // The executable of an installed package runs with the first `node` in PATH.
    PATH: `${dirname(process.execPath)}${delimiter}${PATH}`,
    HOME,
    TMPDIR,
    // For rigs: `UGS_THREADS=4 npm run rig:crash`.
    ...(UGS_THREADS && { UGS_THREADS }),
    PORT: '0',
    ...env,
  };
}
