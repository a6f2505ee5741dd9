// The processes that serve one database together, which are killed and started again.

import { setTimeout as sleep } from 'node:timers/promises';
import type { TestDatabase } from '../test/database.ts';
import { type Folder, Service, serve } from '../test/process.ts';
import { type Examiner, namedSettings } from './examiner.ts';
import { QUIET } from './program.ts';
import type { Random } from './random.ts';

interface Member {
  service: Service;
  env: Record<string, string>;
}

export interface FleetOptions {
  folder: Folder;
  database: TestDatabase;
  examiner: Examiner;
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

  /** Of any one that was there at the last start. Callers learn the hard way that it has been killed. */
  get url(): string {
    return this.#options.random.pick(this.#urls);
  }

  /** Starts those that are not there. */
  async start(): Promise<void> {
    while (this.#members.length < this.#options.size) {
      const env = this.#nextEnv();
      this.#members.push({ service: await serve(this.#options.folder, { env }), env });
    }
    this.#urls = this.#members.map(({ service }) => service.url);
  }

  /** Kills one of them with SIGKILL. */
  async killOne(): Promise<void> {
    const victim = this.#options.random.pick(this.#members);
    await victim.service.kill();
    this.#members.splice(this.#members.indexOf(victim), 1);
    await this.#options.examiner.settle(victim.env);
  }

  /** Starts one and kills it so much later, whatever it is doing then. */
  async killStarting(afterMs: number): Promise<void> {
    const env = this.#nextEnv();
    await using service = new Service(this.#options.folder, ['serve'], { env });
    await sleep(afterMs);
    await service.kill();
    await this.#options.examiner.settle(env);
  }

  #nextEnv(): Record<string, string> {
    return { ...namedSettings(this.#options.database, `rig-${++this.#started}`), ...QUIET };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.map(({ service }) => service.kill()));
  }
}
