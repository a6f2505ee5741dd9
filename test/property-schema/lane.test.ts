// Threads that check properties, and which checks run at the same time.

import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, describe, it } from 'node:test';
import threads from 'node:worker_threads';
import { jsonText } from '../../src/domain/json/json-tree.ts';
import { Lane } from '../../src/operations/property-schema/validator/lane.ts';
import type { Check } from '../../src/operations/property-schema/validator/validator-thread.ts';
import { unlessStarved } from '../support/starvation.ts';

/** Short limits: even on a busy machine, a check spends this processor time before it counts as stalled. */
const limits = { compileMs: 100, checkMs: 20, niceness: 0 };
const HOSTILE = 1;
const OTHER = 2;

const ordinary: Check = {
  tenant: OTHER,
  schema: jsonText({ required: ['plan'] }),
  properties: [jsonText({ plan: 'gold' })],
};
/** One step of this check exceeds the limit, and the thread cannot interrupt it. */
const endless: Check = {
  tenant: HOSTILE,
  schema: jsonText({ properties: { a: { pattern: `${'(.*)'.repeat(2_000)}b$` } } }),
  properties: [jsonText({ a: 'ab'.repeat(30_000) })],
};

describe('A lane with two threads', () => {
  let lane: Lane;
  afterEach(() => lane.close());

  /** Runs the checks; returns how each ended, in the order in which they ended. */
  async function ended(...checks: Check[]): Promise<string[]> {
    const order: string[] = [];
    const run = async (check: Check): Promise<void> => {
      const { result } = await lane.run(check, {
        isLowPriority: false,
        startBy: performance.now() + 60_000,
      });
      order.push(`${check.tenant} ${result}`);
    };
    await Promise.all(checks.map(run));
    return order;
  }

  /** Does the same in a lane whose threads have started, unless a check gets no processor time. */
  function endedInBoth(...checks: Check[]): Promise<string[]> {
    const run = async () => {
      await lane?.close();
      lane = new Lane({ limits, threads: 2 });
      await startBoth(lane);
      return ended(...checks);
    };
    return unlessStarved(run, (order) => order.some((end) => end.endsWith(' stalled')));
  }

  it('checks the properties of a tenant while the check of another takes too long', async () => {
    assert.deepEqual(await endedInBoth(endless, ordinary), [`${OTHER} checked`, `${HOSTILE} exceeded`]);
  });

  it('gives no tenant both threads', async () => {
    const order = await endedInBoth(endless, endless, ordinary);
    assert.deepEqual(order, [`${OTHER} checked`, `${HOSTILE} exceeded`, `${HOSTILE} exceeded`]);
  });

  it('runs no check whose tenant is no longer admitted after the one before it', async () => {
    let isAdmitted = true;
    const onSpent = (): void => {
      isAdmitted = false;
    };
    lane = new Lane({ limits, threads: 2, admits: () => isAdmitted, onSpent });
    assert.deepEqual(await ended(endless, endless), [`${HOSTILE} exceeded`, `${HOSTILE} stalled`]);
  });

  it('stalls the checks that come while the system creates no thread, and runs later ones', async () => {
    lane = new Lane({ limits, threads: 2 });
    {
      using _ = limitedThreads(0);
      assert.deepEqual(await ended(ordinary, ordinary), [`${OTHER} stalled`, `${OTHER} stalled`]);
    }
    assert.deepEqual(await ended(ordinary), [`${OTHER} checked`]);
  });

  it('runs all checks in one thread while the system creates no other', async () => {
    lane = new Lane({ limits, threads: 2 });
    using _ = limitedThreads(1);
    const another = { ...ordinary, tenant: HOSTILE };
    assert.equal((await ended(ordinary, another, ordinary, another)).filter(isChecked).length, 4);
  });

  it('refuses checks that wait too long in several turns of the event loop', async ({ mock }) => {
    lane = new Lane({ limits, threads: 2 });
    const inTurn = [0];
    let isOver = false;
    const tick = (): void => {
      inTurn.push(0);
      if (!isOver) setImmediate(tick);
    };
    tick();
    let now = 0;
    mock.method(performance, 'now', () => now);
    const run = async (): Promise<void> => {
      await lane.run(ordinary, { isLowPriority: false, startBy: 1 });
      inTurn[inTurn.length - 1]!++;
    };
    const runs = Array.from({ length: 500 }, run);
    // They are late when the first thread has started.
    now = 2;
    await Promise.all(runs);
    isOver = true;
    assert.ok(Math.max(...inTurn) <= 64, `${inTurn}`);
  });

  it('replaces a thread that had to be ended', async () => {
    lane = new Lane({ limits, threads: 2 });
    await ended(endless, endless);
    assert.deepEqual(await ended(ordinary, ordinary), [`${OTHER} checked`, `${OTHER} checked`]);
  });
});

function isChecked(end: string): boolean {
  return end.endsWith(' checked');
}

/** Makes the system create only this many more threads. */
function limitedThreads(count: number): Disposable {
  let created = 0;
  return replaceWorker(
    (Worker) =>
      class extends Worker {
        constructor(...args: ConstructorParameters<typeof Worker>) {
          if (created++ >= count)
            throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
          super(...args);
        }
      },
  );
}

/** Starts both threads: a check could otherwise reach its limit while the second one is still loading. */
async function startBoth(lane: Lane): Promise<void> {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  const started = [first, second];
  using _ = replaceWorker(
    (Worker) =>
      class extends Worker {
        constructor(...args: ConstructorParameters<typeof Worker>) {
          super(...args);
          this.once('message', started.shift()!.resolve);
        }
      },
  );
  await lane.run(ordinary, { isLowPriority: false, startBy: performance.now() + 60_000 });
  await Promise.all([first.promise, second.promise]);
}

type WorkerClass = typeof threads.Worker;

function replaceWorker(replacement: (Worker: WorkerClass) => WorkerClass): Disposable {
  const { Worker } = threads;
  threads.Worker = replacement(Worker);
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]: () => {
      threads.Worker = Worker;
      syncBuiltinESMExports();
    },
  };
}
