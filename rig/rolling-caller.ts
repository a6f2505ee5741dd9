// A caller with the client package who goes to the other address where they are not served, and who can tell what
// became of each attempt of a call.

import { type Fetch, UserGroupClient } from '../client/src/index.ts';
import { PromiseBroken } from './ledger.ts';
import type { RestartedProcess } from './restarted-process.ts';

/** One of the attempts of a call. */
interface Attempt {
  startedAt: number;
  tookMs: number;
  /** The status and, of a refusal, its code; or why there was no answer. */
  outcome: string;
  /** Of the process, when the attempt began and when it was over. */
  states: [string, string];
}

/** Leads one life of a group after the other, and keeps in mind what the last answers said. */
export class RollingCaller {
  readonly #index: number;
  readonly #client: UserGroupClient;
  readonly #onFailure: (failure: string) => void;
  readonly #told = new Map<string, { name: string; token: string }>();
  #lives = 0;
  /** Of the call that is under way. */
  #attempts: Attempt[] = [];
  calls = 0;
  /** Attempts beyond the first of each call. */
  repeated = 0;
  /** The same of the one call that had the most. */
  mostRepeated = 0;
  slowestMs = 0;
  failed = 0;

  constructor(
    index: number,
    processes: readonly RestartedProcess[],
    apiToken: string,
    onFailure: (failure: string) => void,
  ) {
    this.#index = index;
    this.#onFailure = onFailure;
    const fetch = atAnyOf(processes, index, (attempt) => this.#attempts.push(attempt));
    this.#client = new UserGroupClient({ url: processes[0]!.url, apiToken, fetch });
  }

  get groups(): number {
    return this.#told.size;
  }

  async callUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) await this.#live(`rolling-${this.#index}-${this.#lives++}`);
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
      const created = await this.#call('create', () => client.getOrCreate({ user_group_id: id, name: id }));
      const { token } = created.user_group;
      await this.#call('update', () => client.update({ user_group_id: id, name }));
      const rotated = await this.#call('rotate', () => client.rotate({ current_token: token }));
      const { user_group: seen } = await this.#call('resolve', () =>
        client.resolve(rotated.user_group.token),
      );
      if (seen.name !== name)
        throw new PromiseBroken(`${id} is named "${seen.name}", and was named "${name}"`);
      this.#told.set(id, rotated.user_group);
    } catch (error) {
      this.failed++;
      this.#onFailure(String(error));
    }
  }

  async #call<Result>(operation: string, call: () => Promise<Result>): Promise<Result> {
    const startedAt = performance.now();
    this.calls++;
    this.#attempts = [];
    try {
      return await call();
    } catch (error) {
      throw new PromiseBroken(`${operation}: ${error}\n${this.#attempts.map(lineOf).join('\n')}`);
    } finally {
      this.slowestMs = Math.max(this.slowestMs, performance.now() - startedAt);
      this.repeated += this.#attempts.length - 1;
      this.mostRepeated = Math.max(this.mostRepeated, this.#attempts.length - 1);
    }
  }
}

function lineOf({ startedAt, tookMs, outcome, states }: Attempt, _index: number, all: Attempt[]): string {
  const afterMs = Math.round(startedAt - all[0]!.startedAt);
  return `  after ${afterMs} ms, for ${Math.round(tookMs)} ms: ${outcome}; ${states.join(', then ')}`;
}

function outcomeOf({ status, headers }: Response, text: string): string {
  const code = /"code":"(\w+)"/.exec(text)?.[1] ?? '';
  return `${status} ${code}, Retry-After ${headers.get('retry-after')}`;
}

/** Stays with a process for as long as that serves. */
function atAnyOf(
  processes: readonly RestartedProcess[],
  first: number,
  note: (attempt: Attempt) => void,
): Fetch {
  let at = first;
  return async (url, request) => {
    const process = processes[at % processes.length]!;
    const [startedAt, state] = [performance.now(), process.state];
    const end = (outcome: string): void =>
      note({ startedAt, tookMs: performance.now() - startedAt, outcome, states: [state, process.state] });
    try {
      const answer = await fetch(url.replace(processes[0]!.url, process.url), request);
      const text = await answer.text();
      if (answer.status === 503) at++;
      end(outcomeOf(answer, text));
      return { status: answer.status, headers: answer.headers, text: async () => text };
    } catch (error) {
      at++;
      end(`${error}, ${(error as Error).cause}`);
      throw error;
    }
  };
}
