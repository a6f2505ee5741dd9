// Processes that serve one database together, and that are killed and restarted.

import { setTimeout as sleep } from 'node:timers/promises';
import type { TestDatabase } from '../../test/support/database.ts';
import { type Folder, Service, serve } from '../../test/support/process.ts';
import { type IntegrityChecker, namedSettings } from './integrity-checker.ts';
import { QUIET } from './program.ts';
import type { Random } from './random.ts';

interface Member {
  service: Service;
  env: Record<string, string>;
}

interface FleetOptions {
  folder: Folder;
  database: TestDatabase;
  checker: IntegrityChecker;
  random: Random;
  size: number;
}

export class Fleet implements AsyncDisposable {
  readonly #options: FleetOptions;
  readonly #members: Member[] = [];
  #urls: string[] = [];
  #started = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  /** URL of a random process of the last start. Calls fail if the process has been killed since. */
  get url(): string {
    return this.#options.random.pick(this.#urls);
  }

  /** Starts the missing processes. */
  async start(): Promise<void> {
    while (this.#members.length < this.#options.size) {
      const env = this.#nextEnv();
      this.#members.push({ service: await serve(this.#options.folder, { env }), env });
    }
    this.#urls = this.#members.map(({ service }) => service.url);
  }

  /** Kills one process with SIGKILL. */
  async killOne(): Promise<void> {
    const victim = this.#options.random.pick(this.#members);
    await victim.service.kill();
    this.#members.splice(this.#members.indexOf(victim), 1);
    await this.#options.checker.waitForDisconnect(victim.env);
  }

  /** Starts a process and kills it after the delay, in whatever state it is. */
  async killStarting(afterMs: number): Promise<void> {
    const env = this.#nextEnv();
    await using service = new Service(this.#options.folder, ['serve'], { env });
    await sleep(afterMs);
    await service.kill();
    await this.#options.checker.waitForDisconnect(env);
  }

  #nextEnv(): Record<string, string> {
    return { ...namedSettings(this.#options.database, `rig-${++this.#started}`), ...QUIET };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.map(({ service }) => service.kill()));
  }
}
