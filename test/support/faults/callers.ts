// Callers that use the service during a database fault, retry failed calls, and record the acknowledged
// results. Afterwards, the database must contain exactly those results.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProblemCode } from '../../../src/problem.ts';
import type { TestResponse } from '../http.ts';
import { assertProblem } from '../problem.ts';
import type { Service } from '../process.ts';
import { starvedMs } from '../starvation.ts';

/** Maximum response time during any database fault, on a machine that is not busy. */
export const RESPONSE_LIMIT_MS = 5_000;
/** Maximum response time on any machine. */
const BUSY_LIMIT_MS = 30_000;
/** Pause of a caller after a rejected call and between two groups, so that callers do not use up the processor. */
const PAUSE_MS = 100;
/** Number of concurrent checks, below the admission limit of the service. */
const CHECK_CONCURRENCY = 50;

/** Last acknowledged state of a user group. */
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

/** Sends a call once. The response must arrive within the limit, and errors of the service must have an expected code. */
export async function callOnce(
  service: Service,
  token: string,
  call: Call,
  refusals: readonly ProblemCode[] = ['database_unavailable'],
): Promise<TestResponse> {
  const startedAt = performance.now();
  const before = starvedMs(service.id);
  const timer = new AbortController();
  const timeout = sleep(BUSY_LIMIT_MS, null, { signal: timer.signal });
  timeout.catch(() => {});
  const response = await Promise.race([service.send({ token, ...call }), timeout]);
  timer.abort();
  const what = `${call.method ?? 'GET'} ${call.path ?? '/api/user'}`;
  assert.ok(response !== null, `${what} got no response within ${BUSY_LIMIT_MS} ms`);
  if (response.status >= 500) {
    assert.ok(refusals.includes(response.json?.code), response.text);
    assertProblem(response, response.json.code);
  }
  const tookMs = Math.round(performance.now() - startedAt);
  const limitMs = RESPONSE_LIMIT_MS + service.busyMs;
  assert.ok(
    tookMs < limitMs + 2 * (starvedMs(service.id) - before),
    `${what} got a response after ${tookMs} ms`,
  );
  return response;
}

export class Callers implements Disposable {
  readonly #services: readonly Service[];
  readonly #token: string;
  readonly #prefix: string;
  readonly #acknowledged = new Map<string, Acknowledged>();
  readonly #teamIds = new Set<number>();
  readonly #calls: Promise<void>[];
  #hasStopped = false;
  #isDisposed = false;
  #next = 0;
  served = 0;
  unavailable = 0;
  slowestMs = 0;

  constructor(services: readonly Service[], token: string, count = 8, pauseMs = PAUSE_MS) {
    this.#services = services;
    this.#token = token;
    this.#prefix = `group-${performance.now().toFixed()}`;
    this.#calls = Array.from({ length: count }, async () => {
      while (!this.#hasStopped) {
        await this.#runLifecycle(`${this.#prefix}-${this.#next++}`);
        await sleep(pauseMs);
      }
    });
    // Failures are reported when the callers stop.
    for (const calls of this.#calls) calls.catch(() => {});
  }

  /** Summary for the test output. */
  get summary(): string {
    const counts = `${this.served} served, ${this.unavailable} rejected with 503`;
    return `${counts}, slowest response after ${Math.round(this.slowestMs)} ms`;
  }

  /**
   * Lets each caller finish its calls, for which the database must be available, and then checks the stored
   * groups.
   */
  async stopAndCheck(): Promise<void> {
    this.#hasStopped = true;
    await Promise.all(this.#calls);
    assert.ok(this.#acknowledged.size > 0, 'at least one caller was served');
    const remaining = [...this.#acknowledged];
    while (remaining.length > 0)
      await Promise.all(remaining.splice(0, CHECK_CONCURRENCY).map((entry) => this.#check(entry)));
  }

  async #check([id, acknowledged]: [string, Acknowledged]): Promise<void> {
    for (const service of this.#services) {
      const { json, headers } = await this.#call(service, { body: { user_group_id: id } });
      const { token, name } = json.user_group;
      assert.deepEqual(
        { token, name, etag: headers.etag },
        acknowledged,
        `${id} matches its last acknowledged state`,
      );
    }
  }

  [Symbol.dispose](): void {
    this.#hasStopped = true;
    this.#isDisposed = true;
  }

  /**
   * Runs the lifecycle of a group: requests it through every process concurrently, updates it, and rotates
   * its token.
   */
  async #runLifecycle(id: string): Promise<void> {
    const service = this.#services[this.#next % this.#services.length]!;
    const old = await this.#create(id);
    const name = `${id} updated`;
    await this.#call(service, { method: 'PUT', body: { user_group_id: id, name } });
    const rotated = await this.#call(service, { method: 'POST', body: { current_token: old } });
    const { token, team_id: teamId } = rotated.json.user_group;
    // One lifecycle has three versions, however often a call was retried: no change was applied twice.
    const etag = `"${teamId}-3"`;
    assert.equal(rotated.headers.etag, etag);
    for (const other of this.#services) {
      const resolve = (body: object) => this.#call(other, { method: 'POST', path: '/v1/resolve', body });
      assert.equal((await resolve({ token })).json.user_group.name, name);
      assert.equal((await resolve({ token: old })).status, 404, 'a rotated token no longer resolves');
    }
    this.#acknowledged.set(id, { token, name, etag });
  }

  /** Requests the same group twice through each process, and returns the token that all callers must get. */
  async #create(id: string): Promise<string> {
    const created: number[] = [];
    const responses = await Promise.all(
      [...this.#services, ...this.#services].map((service) =>
        this.#call(service, { body: { user_group_id: id, name: id } }),
      ),
    );
    for (const { json } of responses) if (json.new_user_group) created.push(json.user_group.team_id);
    assert.ok(created.length <= 1, `${id} is new for at most one caller`);
    const groups = responses.map(({ json }) => json.user_group);
    assert.equal(new Set(groups.map(({ token }) => token)).size, 1, `${id} has one token`);
    const [{ team_id: teamId, token }] = groups;
    assert.ok(groups.every((group) => group.team_id === teamId));
    assert.ok(!this.#teamIds.has(teamId), 'no two groups share a team_id');
    this.#teamIds.add(teamId);
    return token;
  }

  /** Retries the call until it is served. */
  async #call(service: Service, call: Call): Promise<TestResponse> {
    for (;;) {
      const startedAt = performance.now();
      const response = await callOnce(service, this.#token, call);
      this.slowestMs = Math.max(this.slowestMs, performance.now() - startedAt);
      if (response.status < 500) {
        this.served++;
        return response;
      }
      this.unavailable++;
      assert.ok(!this.#isDisposed, 'the callers were disposed before the call was served');
      await sleep(PAUSE_MS);
    }
  }
}
