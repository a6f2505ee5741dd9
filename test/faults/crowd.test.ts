// Hundreds of callers at once, on connections of their own, while the database is away: each has its answer in time,
// and what the processes hold meanwhile has a bound.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Service } from '../process.ts';
import { callOnce } from './callers.ts';
import { FAULT_MS, Installation, within } from './installation.ts';
import { OwnServer } from './server.ts';

/** More callers than a batch takes may be told that they are too many. */
const REFUSALS = ['database_unavailable', 'overloaded'] as const;
const PROCESSES = 2;
/** Of each process. The tests open as many connections to it. */
const CALLERS = 250;
const POOL_SIZE = 8;
/** Of a caller between two calls: the crowd is to wait, and not to wear the machine out. */
const PAUSE_MS = 500;
/** All of them, on a machine that has much else to do. */
const ALL_LIMIT_MS = 20_000;
const SAMPLE_MS = 200;
/** What a process may hold more than with the same crowd on a database that is well. */
const MORE_BYTES = 100_000_000;

describe('A crowd of callers', () => {
  let server: OwnServer;
  let site: Installation;
  before(async () => {
    server = await OwnServer.start();
    const env = { UGS_POSTGRES_POOL_SIZE: String(POOL_SIZE) };
    site = await Installation.start({ processes: PROCESSES, database: server.database, env });
  });
  after(() => site[Symbol.asyncDispose]());

  for (const [title, begin, end] of [
    ['restarts', () => server.stop('in order'), () => server.start()],
    ['crashes', () => server.stop('by a crash'), () => server.start()],
    ['falls silent', async () => site.proxy.silence('all'), async () => site.proxy.heal()],
    ['cannot be reached', () => site.proxy.refuse(), () => site.proxy.accept()],
  ] as const) {
    it(`is answered in time while the database ${title}, and served soon after`, async (test) => {
      await using crowd = new Crowd(site);
      await within(ALL_LIMIT_MS, 'everybody to be served', () => crowd.isServed());
      const bytes = await memoryOf(site.services);
      await begin();
      const watching = watch(site, FAULT_MS);
      await sleep(FAULT_MS);
      await end();
      crowd.forget();
      const [backMs] = await Promise.all([
        within(ALL_LIMIT_MS, 'everybody to be served again', () => crowd.isServed()),
        site.untilBack(test),
      ]);
      const { mostBytes, mostConnections } = await watching;
      await crowd.stop();
      test.diagnostic(
        `all ${PROCESSES * CALLERS} are served again ${Math.round(backMs)} ms after the database`,
      );
      const more = Math.round((mostBytes - bytes) / 1_000_000);
      test.diagnostic(`${more} MB more than before, ${mostConnections} connections to the database`);
      assert.ok(crowd.unavailable > 0);
      assert.ok(mostConnections <= PROCESSES * POOL_SIZE, `${mostConnections} connections to the database`);
      assert.ok(mostBytes - bytes < MORE_BYTES, `${mostBytes - bytes} bytes more than before`);
    });
  }
});

class Crowd implements AsyncDisposable {
  readonly #served = new Set<number>();
  readonly #callers: Promise<void>[];
  readonly #failures: unknown[] = [];
  #hasStopped = false;
  unavailable = 0;

  constructor({ services, token }: Installation) {
    this.#callers = services.flatMap((service, process) =>
      Array.from({ length: CALLERS }, async (_, index) => {
        const id = `crowd-${process}-${index}`;
        const calls = [{ body: { user_group_id: id, name: id } }, { path: `/v1/user-groups/${id}` }];
        for (let time = 0; !this.#hasStopped; time++) {
          const { status } = await callOnce(service, token, calls[time % calls.length]!, REFUSALS);
          if (status === 200) this.#served.add(process * CALLERS + index);
          else this.unavailable++;
          await sleep(PAUSE_MS);
        }
      }),
    );
    for (const calls of this.#callers) calls.catch((error) => this.#failures.push(error));
  }

  /** Whether each of them has been served since it was last forgotten. */
  async isServed(): Promise<boolean> {
    if (this.#failures.length > 0) throw this.#failures[0];
    return this.#served.size === this.#callers.length;
  }

  forget(): void {
    this.#served.clear();
  }

  async stop(): Promise<void> {
    this.#hasStopped = true;
    await Promise.all(this.#callers);
  }

  /** The next crowd finds nobody of this one on its way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasStopped = true;
    await Promise.allSettled(this.#callers);
  }
}

async function watch(
  { services, proxy }: Installation,
  forMs: number,
): Promise<{ mostBytes: number; mostConnections: number }> {
  let [mostBytes, mostConnections] = [0, 0];
  const end = performance.now() + forMs;
  while (performance.now() < end) {
    mostBytes = Math.max(mostBytes, await memoryOf(services));
    mostConnections = Math.max(mostConnections, proxy.open);
    await sleep(SAMPLE_MS);
  }
  return { mostBytes, mostConnections };
}

/** Of the process that has most. */
async function memoryOf(services: readonly Service[]): Promise<number> {
  const ids = services.map(({ id }) => String(id));
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', ids.join(',')]);
  return 1_024 * Math.max(...stdout.trim().split('\n').map(Number));
}
