// Two processes that are replaced in turn, over and over, while callers use them as the client package does: each
// repeats what it was not served, at the other address. No call may fail, and nothing may be lost.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Fetch, UserGroupClient } from '../client/src/index.ts';
import { postgres, type TestDatabase } from '../test/database.ts';
import { Folder, type Service, serve } from '../test/process.ts';
import { DatabaseIssuer } from './issuer.ts';

export interface RollingRestartOptions {
  restarts: number;
  onRestart: (restarts: number) => void;
}

export interface RollingRestartFigures extends Record<string, number> {
  restarts: number;
  calls: number;
  /** Requests that were not served, and so sent again. */
  repeated: number;
  failed: number;
  slowestMs: number;
  groups: number;
  /** Groups that are not as their caller was told. */
  lost: number;
}

const PROCESSES = 2;
const CALLERS = 16;
/** Under load, before a process ends and after it is back. */
const BETWEEN_MS = 500;

export async function restartInTurn(options: RollingRestartOptions): Promise<RollingRestartFigures> {
  using folder = new Folder();
  const database = await postgres.create();
  const processes: Service[] = [];
  try {
    while (processes.length < PROCESSES) processes.push(await serve(folder, { env: database.env }));
    await using issuer = await DatabaseIssuer.open(database);
    const { token } = await issuer.create('default', 'Customer');
    const addresses = processes.map(({ url }) => url);
    const callers = Array.from({ length: CALLERS }, (_, index) => new Caller(index, addresses, token));
    let isOver = false;
    const calling = Promise.all(callers.map((caller) => caller.callUntil(() => isOver)));
    for (let restarts = 0; restarts < options.restarts; options.onRestart(++restarts)) {
      await sleep(BETWEEN_MS);
      await replace(processes, restarts % PROCESSES, folder, database);
    }
    await sleep(BETWEEN_MS);
    isOver = true;
    await calling;
    return await figuresOf(options.restarts, callers);
  } finally {
    await Promise.all(processes.map((process) => process.kill()));
    await database.drop();
  }
}

/** Ends a process in order and starts one in its place. */
async function replace(processes: Service[], index: number, folder: Folder, { env }: TestDatabase) {
  const old = processes[index]!;
  old.signal('SIGTERM');
  const { code, stdout, stderr } = await old.exit();
  if (code !== 0) throw new Error(`a process has ended with ${code}: ${stdout}${stderr}`);
  processes[index] = await serve(folder, { env: { ...env, PORT: new URL(old.url).port } });
}

async function figuresOf(restarts: number, callers: readonly Caller[]): Promise<RollingRestartFigures> {
  const sum = (of: (caller: Caller) => number): number =>
    callers.reduce((total, caller) => total + of(caller), 0);
  const lost = await Promise.all(callers.map((caller) => caller.lost()));
  return {
    restarts,
    calls: sum(({ calls }) => calls),
    repeated: sum(({ attempts, calls }) => attempts - calls),
    failed: sum(({ failed }) => failed),
    slowestMs: Math.round(Math.max(...callers.map(({ slowestMs }) => slowestMs))),
    groups: sum(({ groups }) => groups),
    lost: lost.reduce((total, count) => total + count, 0),
  };
}

/** Leads one life of a group after the other, and keeps in mind what the last answers said. */
class Caller {
  readonly #index: number;
  readonly #client: UserGroupClient;
  readonly #told = new Map<string, { name: string; token: string }>();
  /** Of the attempts of the last call, to be told where it fails. */
  #outcomes: string[] = [];
  calls = 0;
  attempts = 0;
  failed = 0;
  slowestMs = 0;

  constructor(index: number, addresses: readonly string[], apiToken: string) {
    this.#index = index;
    const fetch = atAnyOf(addresses, index, (outcome) => {
      this.attempts++;
      this.#outcomes.push(outcome);
    });
    this.#client = new UserGroupClient({ url: addresses[0]!, apiToken, fetch });
  }

  get groups(): number {
    return this.#told.size;
  }

  async callUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) await this.#live(`rolling-${this.#index}-${this.groups}`);
  }

  /** Groups that are not as they were told to be. */
  async lost(): Promise<number> {
    let lost = 0;
    for (const [id, told] of this.#told) {
      const { user_group: found } = await this.#client.getOrCreate({ user_group_id: id, name: 'Lost' });
      if (found.name !== told.name || found.token !== told.token) lost++;
    }
    return lost;
  }

  async #live(id: string): Promise<void> {
    const client = this.#client;
    const name = `${id} updated`;
    try {
      const created = await this.#call(() => client.getOrCreate({ user_group_id: id, name: id }));
      this.#told.set(id, created.user_group);
      const updated = await this.#call(() => client.update({ user_group_id: id, name }));
      this.#told.set(id, updated.user_group);
      const { token } = updated.user_group;
      const rotated = await this.#call(() => client.rotate({ current_token: token }));
      this.#told.set(id, rotated.user_group);
      const { user_group: seen } = await this.#call(() => client.resolve(rotated.user_group.token));
      if (seen.name !== name) this.failed++;
    } catch (error) {
      this.failed++;
      console.error(this.#outcomes.join(', then '), error);
    }
  }

  async #call<Result>(call: () => Promise<Result>): Promise<Result> {
    const startedAt = performance.now();
    this.calls++;
    this.#outcomes = [];
    const result = await call();
    this.slowestMs = Math.max(this.slowestMs, performance.now() - startedAt);
    return result;
  }
}

/** Stays with an address for as long as it serves. */
function atAnyOf(addresses: readonly string[], first: number, note: (outcome: string) => void): Fetch {
  let at = first;
  return async (url, request) => {
    const address = addresses[at % addresses.length]!;
    try {
      const answer = await fetch(url.replace(addresses[0]!, address), request);
      note(`${answer.status} of ${address}`);
      if (answer.status === 503) at++;
      return answer;
    } catch (error) {
      note(`${(error as Error).cause} of ${address}`);
      at++;
      throw error;
    }
  };
}
