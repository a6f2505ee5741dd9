// A process that another one can replace at the same address, and that reports its current phase.

import type { TestDatabase } from '../../test/support/database.ts';
import { type Folder, PROGRAM, type Service, serve } from '../../test/support/process.ts';
import { threadStarvedMs } from '../../test/support/starvation.ts';

export interface Restart {
  tookMs: number;
  /** Without the time in which the new process or the rig waited for a processor, as its other threads do. */
  workedMs: number;
}

type Phase = 'serving' | 'ending' | 'starting';

export class RestartedProcess implements AsyncDisposable {
  readonly #folder: Folder;
  readonly #database: TestDatabase;
  #service: Service;
  #processNumber = 1;
  #phase: Phase = 'serving';
  #since = performance.now();

  static async start(folder: Folder, database: TestDatabase, program = PROGRAM): Promise<RestartedProcess> {
    return new RestartedProcess(folder, database, await serve(folder, { env: database.env, program }));
  }

  /** Output of the current process. */
  get log(): string {
    return this.#service.stdout;
  }

  private constructor(folder: Folder, database: TestDatabase, service: Service) {
    this.#folder = folder;
    this.#database = database;
    this.#service = service;
  }

  get url(): string {
    return this.#service.url;
  }

  /** For example `port 8080, process 3, ending for 12 ms`. */
  get state(): string {
    const { port } = new URL(this.url);
    return `port ${port}, process ${this.#processNumber}, ${this.#phase} for ${Math.round(performance.now() - this.#since)} ms`;
  }

  /** Shuts the process down cleanly and starts a new one in its place, of this version or of `program`. */
  async restart(program = PROGRAM): Promise<Restart> {
    const { env } = this.#database;
    const startedAt = performance.now();
    const before = threadStarvedMs(process.pid);
    this.#enter('ending');
    this.#service.signal('SIGTERM');
    const { code, stdout, stderr } = await this.#service.exit();
    if (code !== 0) throw new Error(`a process exited with ${code}: ${stdout}${stderr}`);
    this.#processNumber++;
    this.#enter('starting');
    this.#service = await serve(this.#folder, { env: { ...env, PORT: new URL(this.url).port }, program });
    this.#enter('serving');
    const tookMs = Math.round(performance.now() - startedAt);
    const starvedMs = Math.max(threadStarvedMs(this.#service.id), threadStarvedMs(process.pid) - before);
    return { tookMs, workedMs: Math.round(tookMs - 2 * starvedMs) };
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#since = performance.now();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service.kill();
  }
}
