// Callers who use the service while something is wrong with its database, who repeat what was not served, and who
// write down what they were told. Afterwards the database must hold just that.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProblemCode } from '../../src/problem.ts';
import type { TestAnswer } from '../http.ts';
import { assertProblem } from '../problem.ts';
import type { Service } from '../process.ts';

/** Nobody waits longer for an answer, whatever happens to the database. */
export const ANSWER_LIMIT_MS = 5_000;
const PAUSE_MS = 20;
/** Fewer than the service calls too many. */
const CHECKED_AT_ONCE = 50;

/** What callers were told last of a user group. */
interface Acknowledged {
  token: string;
  name: string;
  etag: string;
}

export interface Call {
  method?: string;
  path?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** The one answer to a call: in time, and if the service has not served it, it says so in one of these ways. */
export async function callOnce(
  service: Service,
  token: string,
  call: Call,
  refusals: readonly ProblemCode[] = ['database_unavailable'],
): Promise<TestAnswer> {
  const startedAt = performance.now();
  const timer = new AbortController();
  const late = sleep(ANSWER_LIMIT_MS, null, { signal: timer.signal });
  late.catch(() => {});
  const answer = await Promise.race([service.send({ token, ...call }), late]);
  timer.abort();
  const what = `${call.method ?? 'GET'} ${call.path ?? '/api/user'}`;
  assert.ok(answer !== null, `${what} had no answer within ${ANSWER_LIMIT_MS} ms`);
  if (answer.status >= 500) {
    assert.ok(refusals.includes(answer.json?.code), answer.text);
    assertProblem(answer, answer.json.code);
  }
  const tookMs = Math.round(performance.now() - startedAt);
  assert.ok(tookMs < ANSWER_LIMIT_MS, `${what} was answered after ${tookMs} ms`);
  return answer;
}

export class Callers implements Disposable {
  readonly #services: readonly Service[];
  readonly #token: string;
  readonly #prefix: string;
  readonly #acknowledged = new Map<string, Acknowledged>();
  readonly #teamIds = new Set<number>();
  readonly #calls: Promise<void>[];
  #hasStopped = false;
  #hasGone = false;
  #next = 0;
  served = 0;
  unavailable = 0;
  slowestMs = 0;

  constructor(services: readonly Service[], token: string, count = 16) {
    this.#services = services;
    this.#token = token;
    this.#prefix = `group-${performance.now().toFixed()}`;
    this.#calls = Array.from({ length: count }, async () => {
      while (!this.#hasStopped) await this.#liveOneLife(`${this.#prefix}-${this.#next++}`);
    });
    // They are looked at when the callers stop.
    for (const calls of this.#calls) calls.catch(() => {});
  }

  /** What they have lived through, for whoever reads the output of the tests. */
  get story(): string {
    const answers = `${this.served} served, ${this.unavailable} refused with 503`;
    return `${answers}, the slowest answer after ${Math.round(this.slowestMs)} ms`;
  }

  /** Lets each caller end what it has begun, for which the database must be there; then looks at what it holds. */
  async stopAndCheck(): Promise<void> {
    this.#hasStopped = true;
    await Promise.all(this.#calls);
    assert.ok(this.#acknowledged.size > 0, 'some caller was served');
    const left = [...this.#acknowledged];
    while (left.length > 0)
      await Promise.all(left.splice(0, CHECKED_AT_ONCE).map((life) => this.#check(life)));
  }

  async #check([id, acknowledged]: [string, Acknowledged]): Promise<void> {
    for (const service of this.#services) {
      const { json, headers } = await this.#call(service, { body: { user_group_id: id } });
      const { token, name } = json.user_group;
      assert.deepEqual(
        { token, name, etag: headers.etag },
        acknowledged,
        `${id} is as its callers were told`,
      );
    }
  }

  [Symbol.dispose](): void {
    this.#hasStopped = true;
    this.#hasGone = true;
  }

  /** All that callers do with a group: asked for through every process at once, updated, and its token rotated. */
  async #liveOneLife(id: string): Promise<void> {
    const service = this.#services[this.#next % this.#services.length]!;
    const old = await this.#create(id);
    const name = `${id} updated`;
    await this.#call(service, { method: 'PUT', body: { user_group_id: id, name } });
    const rotated = await this.#call(service, { method: 'POST', body: { current_token: old } });
    const { token, team_id: teamId } = rotated.json.user_group;
    // One life has three versions, however often a call had to be repeated: nothing was done twice.
    const etag = `"${teamId}-3"`;
    assert.equal(rotated.headers.etag, etag);
    for (const other of this.#services) {
      const resolve = (body: object) => this.#call(other, { method: 'POST', path: '/v1/resolve', body });
      assert.equal((await resolve({ token })).json.user_group.name, name);
      assert.equal((await resolve({ token: old })).status, 404, 'a rotated token is dead');
    }
    this.#acknowledged.set(id, { token, name, etag });
  }

  /** Two callers in each process ask for the same group; the token that all of them get. */
  async #create(id: string): Promise<string> {
    const created: number[] = [];
    const answers = await Promise.all(
      [...this.#services, ...this.#services].map((service) =>
        this.#call(service, { body: { user_group_id: id, name: id } }),
      ),
    );
    for (const { json } of answers) if (json.new_user_group) created.push(json.user_group.team_id);
    assert.ok(created.length <= 1, `${id} is new to one caller at most`);
    const groups = answers.map(({ json }) => json.user_group);
    assert.equal(new Set(groups.map(({ token }) => token)).size, 1, `${id} has one token`);
    const [{ team_id: teamId, token }] = groups;
    assert.ok(groups.every((group) => group.team_id === teamId));
    assert.ok(!this.#teamIds.has(teamId), 'no two groups share a team_id');
    this.#teamIds.add(teamId);
    return token;
  }

  /** Repeats the call until it is served. */
  async #call(service: Service, call: Call): Promise<TestAnswer> {
    for (;;) {
      const startedAt = performance.now();
      const answer = await callOnce(service, this.#token, call);
      this.slowestMs = Math.max(this.slowestMs, performance.now() - startedAt);
      if (answer.status < 500) {
        this.served++;
        return answer;
      }
      this.unavailable++;
      assert.ok(!this.#hasGone, 'somebody waits for the answer');
      await sleep(PAUSE_MS);
    }
  }
}
