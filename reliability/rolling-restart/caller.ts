// Caller that uses the client package, tries the next address after a failure, and records every attempt of a
// call.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Fetch, UserGroupClient, UserGroupServiceError } from '../../client/src/index.ts';
import { PromiseBroken } from '../support/ledger.ts';

/** Address to which requests are sent: a process, or a load balancer in front of several. */
export interface Target {
  readonly url: string;
  /** State to show in the report of a failed call. */
  readonly state: string;
}

interface RollingCallerOptions {
  index: number;
  /** Targets, tried round-robin. */
  targets: readonly Target[];
  apiToken: string;
  /** undefined selects the default of the client. */
  maxRetries: number | undefined;
  onFailure: (failure: string) => void;
}

/** One attempt of a call. */
interface Attempt {
  startedAt: number;
  tookMs: number;
  /** Status and error code, if any; or why there was no response. */
  outcome: string;
  /** States of the process at the start and at the end of the attempt. */
  states: [string, string];
}

/** Pause after a failure: without it, a caller that is rejected immediately would send most of the calls. */
const AFTER_FAILURE_MS = 100;

/** Timeout of a call with more retries than by default. */
const PATIENT_TIMEOUT_MS = 300_000;

/** Creates, changes and suspends one group after the other, and remembers the last response for each. */
export class RollingCaller {
  readonly #index: number;
  readonly #client: UserGroupClient;
  readonly #onFailure: (failure: string) => void;
  readonly #expected = new Map<string, { name: string; token: string }>();
  #cycles = 0;
  /** Attempts of the call in flight. */
  #attempts: Attempt[] = [];
  calls = 0;
  /** Number of attempts beyond the first of each call. */
  repeated = 0;
  /** Highest number of repeated attempts of one call. */
  mostRepeated = 0;
  slowestMs = 0;
  failed = 0;
  /** Number of tokens that resolved although they must not. */
  wrong = 0;

  constructor({ index, targets, apiToken, maxRetries, onFailure }: RollingCallerOptions) {
    this.#index = index;
    this.#onFailure = onFailure;
    const fetch = fetchWithFailover(targets, index, (attempt) => this.#attempts.push(attempt));
    this.#client = new UserGroupClient({
      url: targets[0]!.url,
      apiToken,
      fetch,
      maxRetries,
      ...(maxRetries && { timeoutMs: PATIENT_TIMEOUT_MS }),
    });
  }

  get groups(): number {
    return this.#expected.size;
  }

  async callUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) await this.#cycle(`rolling-${this.#index}-${this.#cycles++}`);
  }

  /** Returns the number of groups that differ from the last response. */
  async lost(client: UserGroupClient): Promise<number> {
    let lost = 0;
    for (const [id, expected] of this.#expected) {
      const { user_group: found } = await client.getOrCreate({ user_group_id: id, name: 'Lost' });
      if (found.name !== expected.name || found.token !== expected.token) lost++;
    }
    return lost;
  }

  async #cycle(id: string): Promise<void> {
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
      if (seen.name !== name) throw new PromiseBroken(`${id} is named "${seen.name}", expected "${name}"`);
      await this.#expectDead('replaced', token);
      await this.#call('suspend', () => client.suspend(id));
      await this.#expectDead('suspended', rotated.user_group.token);
      await this.#call('resume', () => client.resume(id));
      this.#expected.set(id, rotated.user_group);
    } catch (error) {
      this.failed++;
      this.#onFailure(String(error));
      await sleep(AFTER_FAILURE_MS);
    }
  }

  async #expectDead(state: 'replaced' | 'suspended', token: string): Promise<void> {
    const found = await this.#call(`resolve a ${state} token`, () =>
      this.#client.resolve(token).catch(nullIfDead),
    );
    if (found === null) return;
    this.wrong++;
    throw new PromiseBroken(`a ${state} token of ${found.user_group.provided_id} resolves`);
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

function nullIfDead(error: unknown): null {
  if (error instanceof UserGroupServiceError && error.code === 'user_group_token_not_found') return null;
  throw error;
}

function lineOf({ startedAt, tookMs, outcome, states }: Attempt, _index: number, all: Attempt[]): string {
  const afterMs = Math.round(startedAt - all[0]!.startedAt);
  return `  after ${afterMs} ms, for ${Math.round(tookMs)} ms: ${outcome}; ${states.join(', then ')}`;
}

function outcomeOf({ status, headers }: Response, text: string): string {
  const code = /"code":"(\w+)"/.exec(text)?.[1] ?? '';
  return `${status} ${code}, Retry-After ${headers.get('retry-after')}`;
}

/** Sends requests to one target until it fails, then to the next. */
function fetchWithFailover(
  targets: readonly Target[],
  first: number,
  note: (attempt: Attempt) => void,
): Fetch {
  let at = first;
  return async (url, request) => {
    const target = targets[at % targets.length]!;
    const [startedAt, state] = [performance.now(), target.state];
    const end = (outcome: string): void =>
      note({ startedAt, tookMs: performance.now() - startedAt, outcome, states: [state, target.state] });
    try {
      const response = await fetch(url.replace(targets[0]!.url, target.url), request);
      const text = await response.text();
      if (response.status === 503) at++;
      end(outcomeOf(response, text));
      return { status: response.status, headers: response.headers, text: async () => text };
    } catch (error) {
      at++;
      end(`${error}, ${(error as Error).cause}`);
      throw error;
    }
  };
}
