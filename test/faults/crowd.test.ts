// Hundreds of concurrent callers on separate connections while the database is unreachable: each gets a
// response within the limit, and the memory and connections of the processes are bounded.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { callOnce } from '../support/faults/callers.ts';
import { FAULT_MS, Installation } from '../support/faults/installation.ts';
import { DedicatedServer } from '../support/faults/server.ts';
import type { Service } from '../support/process.ts';

/** Expected errors: callers beyond the batch size may be rejected as overloaded. */
const REFUSALS = ['database_unavailable', 'overloaded'] as const;
const PROCESSES = 2;
/** Callers of each process, each with one connection; fewer on a busy machine, which could not serve all of them. */
const CALLERS = 250;
const POOL_SIZE = 8;
/** Pause of a caller between two calls, so that the callers do not use up the CPU. */
const PAUSE_MS = 1_000;
/** Limit for all callers, on a busy machine. */
const ALL_LIMIT_MS = 20_000;
const SAMPLE_MS = 200;
/** Permitted memory growth, compared with the same callers on a working database. */
const MAX_GROWTH_BYTES = 100_000_000;

describe('Many concurrent callers', () => {
  let server: DedicatedServer;
  let site: Installation;
  before(async () => {
    server = await DedicatedServer.start();
    const env = { UGS_POSTGRES_POOL_SIZE: String(POOL_SIZE) };
    site = await Installation.start({ processes: PROCESSES, database: server.database, env });
  });
  after(() => site[Symbol.asyncDispose]());

  for (const [title, startFault, endFault] of [
    ['restarts', () => server.stop('clean'), () => server.start()],
    ['crashes', () => server.stop('crash'), () => server.start()],
    ['is unresponsive', async () => site.proxy.silence('all'), async () => site.proxy.heal()],
    ['is unreachable', () => site.proxy.refuse(), () => site.proxy.accept()],
  ] as const) {
    it(`get responses within the limit while the database ${title}, and are served soon after`, async (test) => {
      await using crowd = new Crowd(site);
      await site.within(ALL_LIMIT_MS, 'all callers to be served', () => crowd.isServed());
      const bytes = await memoryOf(site.services);
      await startFault();
      const monitoring = monitor(site, FAULT_MS);
      await sleep(FAULT_MS);
      await endFault();
      crowd.reset();
      const [backMs] = await Promise.all([
        site.within(ALL_LIMIT_MS, 'all callers to be served again', () => crowd.isServed()),
        site.waitForRecovery(test),
      ]);
      const { maxBytes, maxConnections } = await monitoring;
      await crowd.stop();
      test.diagnostic(
        `all ${crowd.size} callers are served again ${Math.round(backMs)} ms after the recovery of the database`,
      );
      const growthMb = Math.round((maxBytes - bytes) / 1_000_000);
      test.diagnostic(`${growthMb} MB more than before, ${maxConnections} connections to the database`);
      assert.ok(crowd.unavailable > 0);
      assert.ok(maxConnections <= PROCESSES * POOL_SIZE, `${maxConnections} connections to the database`);
      assert.ok(maxBytes - bytes < MAX_GROWTH_BYTES, `${maxBytes - bytes} bytes more than before`);
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
    const length = Math.min(...services.map((service) => service.callers(CALLERS)));
    this.#callers = services.flatMap((service, process) =>
      Array.from({ length }, async (_, index) => {
        const id = `crowd-${process}-${index}`;
        const calls = [{ body: { user_group_id: id, name: id } }, { path: `/v1/user-groups/${id}` }];
        for (let time = 0; !this.#hasStopped; time++) {
          const { status } = await callOnce(service, token, calls[time % calls.length]!, REFUSALS);
          if (status === 200) this.#served.add(process * length + index);
          else this.unavailable++;
          await sleep(PAUSE_MS);
        }
      }),
    );
    for (const calls of this.#callers) calls.catch((error) => this.#failures.push(error));
  }

  get size(): number {
    return this.#callers.length;
  }

  /** Returns whether every caller has been served since the last reset. */
  async isServed(): Promise<boolean> {
    if (this.#failures.length > 0) throw this.#failures[0];
    return this.#served.size === this.#callers.length;
  }

  reset(): void {
    this.#served.clear();
  }

  async stop(): Promise<void> {
    this.#hasStopped = true;
    await Promise.all(this.#callers);
  }

  /** Waits for all calls to end, so that they do not affect the next test. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#hasStopped = true;
    await Promise.allSettled(this.#callers);
  }
}

async function monitor(
  { services, proxy }: Installation,
  forMs: number,
): Promise<{ maxBytes: number; maxConnections: number }> {
  let [maxBytes, maxConnections] = [0, 0];
  const end = performance.now() + forMs;
  while (performance.now() < end) {
    maxBytes = Math.max(maxBytes, await memoryOf(services));
    maxConnections = Math.max(maxConnections, proxy.open);
    await sleep(SAMPLE_MS);
  }
  return { maxBytes, maxConnections };
}

/** Returns the resident memory of the largest process, in bytes. */
async function memoryOf(services: readonly Service[]): Promise<number> {
  const ids = services.map(({ id }) => String(id));
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', ids.join(',')]);
  return 1_024 * Math.max(...stdout.trim().split('\n').map(Number));
}
