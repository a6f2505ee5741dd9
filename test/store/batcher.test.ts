// Batches with large items or results are split, and the event loop runs in between.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import { TenantActivity } from '../../src/scheduling/tenant-activity.ts';
import { ThreadSum } from '../../src/scheduling/thread-sum.ts';
import { ListCooldown } from '../../src/store/admission.ts';
import { Batcher, type Cooldown } from '../../src/store/batcher.ts';
import { StoreUnavailable, WaitedTooLong } from '../../src/store/port.ts';
import { block } from '../support/block.ts';

interface Item {
  kind: 'item';
  value: number;
}

/** Longer than any item waits. */
const REFUSED_IN_MS = 2_000;
/** Makes the average duration of batches that of a slow database. */
const SLOW_MS = 1_000;
const LIMITS = { maxBatch: 256, maxInFlight: 1, maxLingerMs: 0, maxQueued: 1_000 };
const NEVER = { startBy: Number.POSITIVE_INFINITY };
const items = Array.from({ length: 10 }, (_, value): Item => ({ kind: 'item', value }));

const sizesOf = (batches: number[][]) => batches.map(({ length }) => length);

/** Returns a function that runs batches, and the values in each. */
function recorder<Kind = Item['kind']>() {
  const batches: number[][] = [];
  const run = async (batch: { kind: Kind; value: number }[]): Promise<number[]> => {
    const values = batch.map(({ value }) => value);
    batches.push(values);
    return values;
  };
  return { batches, run };
}

/** The same, of batches that end only on request. `end` ends the last one. */
function heldRecorder() {
  const recorded = recorder();
  let end = (): void => {};
  const run = async (batch: Item[]): Promise<number[]> => {
    const values = recorded.run(batch);
    await new Promise<void>((resolve) => (end = resolve));
    return values;
  };
  return { batches: recorded.batches, run, end: () => end() };
}

describe('A batch', () => {
  it('with partial results is continued in later turns of the event loop, in order', async () => {
    let turn = 0;
    const many = Array.from({ length: 600 }, (_, value): Item => ({ kind: 'item', value }));
    const runTurns: number[] = [];
    const batcher = new Batcher((batch: Item[]) => {
      runTurns.push(turn);
      return batch.slice(0, 100).map(({ value }) => value);
    }, LIMITS);
    const count = (): void => {
      turn++;
      if (runTurns.length < 6) setImmediate(count);
    };
    setImmediate(count);
    const results = await Promise.all(many.map((item) => batcher.submit(item, NEVER)));
    assert.deepEqual(
      results,
      many.map(({ value }) => value),
    );
    assert.equal(new Set(runTurns).size, runTurns.length, `turns ${runTurns}`);
  });

  it('is limited to one megabyte of commands', async () => {
    const { batches, run } = recorder();
    const batcher = new Batcher(run, LIMITS, { countCharacters: () => 400_000 });
    await Promise.all(items.map((item) => batcher.submit(item, NEVER)));
    assert.deepEqual(sizesOf(batches), [3, 3, 3, 1]);
  });

  it('is limited to an eighth of that while several tenants are active', async () => {
    const { batches, run } = recorder();
    const activity = new TenantActivity();
    const batcher = new Batcher(run, LIMITS, { activity, countCharacters: () => 50_000 });
    const submit = () => Promise.all(items.map((item) => batcher.submit(item, NEVER)));
    activity.seen(1);
    await submit();
    activity.seen(2);
    await submit();
    assert.deepEqual(sizesOf(batches), [10, 3, 3, 3, 1]);
  });

  it('has at most 64 items while several tenants are active', async () => {
    const { batches, run } = recorder();
    const activity = new TenantActivity();
    const batcher = new Batcher(run, LIMITS, { activity });
    const submit = () =>
      Promise.all(Array.from({ length: 150 }, (_, value) => batcher.submit({ kind: 'item', value }, NEVER)));
    activity.seen(1);
    await submit();
    activity.seen(2);
    await submit();
    assert.deepEqual(sizesOf(batches), [150, 64, 64, 22]);
  });

  it('is as small as the last results of its tenants were large', async () => {
    const { batches, run } = recorder();
    const countInResult = (value: number) => (value < 1_000 ? 60_000 : 0);
    const batcher = new Batcher(run, LIMITS, { countInResult });
    const submit = (tenant: number, value: number) =>
      batcher.submit({ kind: 'item', value }, { ...NEVER, tenant });
    const large = () => Array.from({ length: 200 }, (_, value) => submit(1, value));
    await Promise.all(large());
    assert.equal(batches.length, 1);
    await Promise.all([...large(), submit(2, 1_000)]);
    assert.ok(batches[1]!.includes(1_000));
    for (const { length } of batches.slice(1)) assert.ok(length < 25, `${length}`);
    const small = () => Promise.all(Array.from({ length: 200 }, (_, value) => submit(1, 1_000 + value)));
    for (let round = 0; round < 3; round++) await small();
    batches.length = 0;
    await small();
    assert.equal(batches.length, 1);
  });

  it('has the items of tenants in turn while more wait than fit into it', async () => {
    const { batches, run } = recorder();
    const batcher = new Batcher(run, { ...LIMITS, maxBatch: 4 });
    const submit = (tenant: number, value: number) =>
      batcher.submit({ kind: 'item', value }, { ...NEVER, tenant });
    const first = [0, 1, 2, 3].map((value) => submit(1, value));
    const many = Array.from({ length: 20 }, (_, index) => submit(1, 100 + index));
    assert.deepEqual(batcher.tenantQueue(2).queued, 1);
    assert.ok(batcher.tenantQueue(1).queued >= 20);
    await Promise.all([...first, ...many, submit(2, 200), submit(2, 201)]);
    assert.deepEqual(batches.slice(0, 2), [
      [0, 1, 2, 3],
      [200, 201, 100, 101],
    ]);
  });

  it('has the items of tenants in turn while these are larger than a batch', async () => {
    const { batches, run } = recorder();
    const countCharacters = ({ value }: Item) => (value < 200 ? 600_000 : 0);
    const batcher = new Batcher(run, LIMITS, { countCharacters });
    const submit = (tenant: number, value: number) =>
      batcher.submit({ kind: 'item', value }, { ...NEVER, tenant });
    await Promise.all([...[100, 101, 102, 103].map((value) => submit(1, value)), submit(2, 200)]);
    assert.deepEqual(batches, [
      [100, 200, 101],
      [102, 103],
    ]);
  });

  it('has all small items of a tenant before the next large one of another, which gets a batch of its own', async () => {
    const { batches, all, endNext } = behindLarge();
    while (batches.length < 4) await endNext();
    await endNext();
    await Promise.all(all);
    assert.deepEqual(batches, [[100], items.map(({ value }) => value), [101], [102]]);
  });

  it('is not expected to be late by a tenant with many small items because of large ones of another', async () => {
    const { batcher, batches, all, endNext } = behindLarge();
    await nextTurn();
    await setTimeout(50);
    await endNext();
    assert.ok(batcher.tenantQueue(1).cutMs > 10);
    assert.ok(batcher.tenantQueue(2).cutMs < 0.1);
    while (batches.length < 4) await endNext();
    await endNext();
    await Promise.all(all);
  });

  /** Submits large items of one tenant and, while the first one runs, small ones of another. */
  function behindLarge() {
    const { batches, run, end } = heldRecorder();
    const endNext = async (): Promise<void> => {
      await nextTurn();
      end();
      await nextTurn();
    };
    const countCharacters = ({ value }: Item) => (value < 100 ? 100 : 10_000_000);
    const batcher = new Batcher(run, LIMITS, { countCharacters });
    const large = [100, 101, 102].map((value) =>
      batcher.submit({ kind: 'item', value }, { ...NEVER, tenant: 1 }),
    );
    const small = nextTurn().then(() => items.map((item) => batcher.submit(item, { ...NEVER, tenant: 2 })));
    return { batcher, batches, endNext, all: [...large, small] };
  }

  it('has the items of tenants in turn while fewer of them are run than it has', async () => {
    const batches: number[][] = [];
    const run = (batch: Item[]): number[] => {
      batches.push(batch.slice(0, 2).map(({ value }) => value));
      return batches.at(-1)!;
    };
    const batcher = new Batcher(run, LIMITS);
    const submit = (tenant: number, value: number) =>
      batcher.submit({ kind: 'item', value }, { ...NEVER, tenant });
    await Promise.all([...[100, 101, 102, 103].map((value) => submit(1, value)), submit(2, 200)]);
    assert.deepEqual(batches, [[100, 101], [200, 102], [103]]);
  });

  it('that ends early leaves its other items behind those of a tenant that came meanwhile', async () => {
    const { batches, run } = recorder();
    const ofAnother: Promise<number>[] = [];
    const batcher: Batcher<Item, number> = new Batcher((batch: Item[]) => {
      if (ofAnother.length === 0) ofAnother.push(submit(2, 200));
      return run(batch.slice(0, 1));
    }, LIMITS);
    const submit = (tenant: number, value: number) =>
      batcher.submit({ kind: 'item', value }, { ...NEVER, tenant });
    await Promise.all([100, 101, 102].map((value) => submit(1, value)));
    assert.deepEqual(batches.flat(), [100, 200, 101, 102]);
  });

  it('has the items of tenants in turn if it may have only one kind of them', async () => {
    const { batches, run } = recorder<number>();
    const batcher = new Batcher(run, { ...LIMITS, isOfOneKind: true });
    const kinds = [0, 1, 2, 3].map((kind) => batcher.submit({ kind, value: kind }, { ...NEVER, tenant: 1 }));
    await Promise.all([...kinds, batcher.submit({ kind: 4, value: 4 }, { ...NEVER, tenant: 2 })]);
    assert.deepEqual(batches, [[0], [4], [1], [2], [3]]);
  });

  it('waits for the pause of its own tenant only', async () => {
    const { batches, run } = recorder();
    const until = new Map<number, number>();
    const cooldown: Cooldown = {
      remainingMs: (tenant) => (until.get(tenant) ?? 0) - performance.now(),
      start: (tenant) => (resume) => {
        until.set(tenant, performance.now() + (tenant === 1 ? 200 : 0));
        resume();
      },
    };
    const batcher = new Batcher(run, { ...LIMITS, maxBatch: 1 }, { cooldown });
    const submit = (tenant: number, value: number) =>
      batcher.submit({ kind: 'item', value }, { ...NEVER, tenant });
    const first = [100, 101, 102].map((value) => submit(1, value));
    await first[0];
    await nextTurn();
    await Promise.all([...first, ...[200, 201, 202].map((value) => submit(2, value))]);
    assert.deepEqual(batches, [[100], [200], [201], [202], [101], [102]]);
  });

  it('that waits too long for a pause fails otherwise than one that waits for the database', async () => {
    let isPaused = false;
    const cooldown: Cooldown = {
      remainingMs: () => (isPaused ? REFUSED_IN_MS : 0),
      start: () => (resume) => {
        isPaused = true;
        resume();
      },
    };
    const answer = Promise.withResolvers<number[]>();
    const batcher = new Batcher(() => answer.promise, { ...LIMITS, maxBatch: 1 }, { cooldown });
    const submit = (options: { startBy: number }) => batcher.submit({ kind: 'item' }, options);
    const [first, second] = [submit(NEVER), submit({ startBy: performance.now() })];
    await assert.rejects(second, (error) => !(error instanceof WaitedTooLong));
    const third = submit({ startBy: performance.now() });
    answer.resolve([1]);
    await first;
    await assert.rejects(third, WaitedTooLong);
  });

  it('that waits too long for many others fails otherwise than one that waits for a slow database', async () => {
    const { run, end } = heldRecorder();
    const batcher = new Batcher(run, { ...LIMITS, maxBatch: 1 });
    const submit = (options = NEVER) => batcher.submit({ kind: 'item', value: 0 }, options);
    const lateAfter = async (batchMs: number): Promise<unknown> => {
      const others = [submit(), submit()];
      await setTimeout(batchMs);
      await nextTurn();
      const late = submit({ startBy: performance.now() }).catch((error: unknown) => error);
      for (const other of others) {
        end();
        await other;
        await nextTurn();
      }
      return late;
    };
    assert.ok((await lateAfter(0)) instanceof WaitedTooLong);
    assert.ok(!((await lateAfter(SLOW_MS)) instanceof WaitedTooLong));
  });

  it('that waits too long for a database that answered others before it hung fails as one that waits for it', async () => {
    const { run, end } = heldRecorder();
    const batcher = new Batcher(run, { ...LIMITS, maxBatch: 1 });
    const submit = (startBy: number) => batcher.submit({ kind: 'item', value: 0 }, { startBy });
    const [answered, hanging] = [submit(NEVER.startBy), submit(NEVER.startBy)];
    const late = submit(performance.now() + 600);
    await nextTurn();
    end();
    await answered;
    await assert.rejects(late, (error) => !(error instanceof WaitedTooLong));
    end();
    await hanging;
  });

  it('has all items of its kind although a large one of another kind waits', async () => {
    const { batches, run } = recorder<string>();
    const countCharacters = ({ kind }: { kind: string }) => (kind === 'large' ? 10_000_000 : 0);
    const batcher = new Batcher(run, { ...LIMITS, isOfOneKind: true }, { countCharacters });
    const kinds = ['small', 'large', 'small'];
    await Promise.all(
      kinds.map((kind, value) => batcher.submit({ kind, value }, { ...NEVER, tenant: value })),
    );
    assert.deepEqual(batches, [[0, 2], [1]]);
  });

  it('has an urgent item before all others, also those of other tenants', async () => {
    const { batches, run } = recorder<number>();
    const batcher = new Batcher(run, { ...LIMITS, isOfOneKind: true });
    const submit = (value: number, options: { tenant: number; isUrgent?: boolean }) =>
      batcher.submit({ kind: value, value }, { ...NEVER, ...options });
    const others = [submit(0, { tenant: 1 }), submit(1, { tenant: 1 }), submit(2, { tenant: 2 })];
    await Promise.all([...others, submit(3, { tenant: 1, isUrgent: true })]);
    assert.deepEqual(batches, [[3], [0], [2], [1]]);
  });

  it('does not run beside another one that changes the same thing, and lets the others go ahead', async () => {
    const batches: number[][] = [];
    const ends: (() => void)[] = [];
    const run = (batch: Item[]): Promise<number[]> => {
      const values = batch.map(({ value }) => value);
      batches.push(values);
      return new Promise((resolve) => ends.push(() => resolve(values)));
    };
    const limits = { ...LIMITS, maxInFlight: 2, isOfOneKind: true };
    const batcher = new Batcher(run, limits, { changedBy: ({ value }) => `group ${value % 10}` });
    const submit = (value: number) => batcher.submit({ kind: 'item', value }, NEVER);
    const first = [1, 2].map(submit);
    await nextTurn();
    const second = [11, 3, 21, 12, 4].map(submit);
    await nextTurn();
    assert.deepEqual(batches, [
      [1, 2],
      [3, 4],
    ]);
    ends[0]!();
    assert.deepEqual(await Promise.all(first), [1, 2]);
    await nextTurn();
    assert.deepEqual(batches[2], [11, 21, 12], 'in the order of their submission');
    ends[1]!();
    ends[2]!();
    assert.deepEqual(await Promise.all(second), [11, 3, 21, 12, 4]);
  });

  it('waits for one that changes the same thing however many items it has', async () => {
    const sizes: number[] = [];
    let end = (): void => {};
    const run = (batch: Item[]): Promise<number[]> => {
      sizes.push(batch.length);
      const values = batch.map(({ value }) => value);
      return sizes.length > 1
        ? Promise.resolve(values)
        : new Promise((resolve) => (end = () => resolve(values)));
    };
    const batcher = new Batcher(run, { ...LIMITS, maxInFlight: 2 }, { changedBy: () => 'group' });
    const first = batcher.submit(items[0]!, NEVER);
    await nextTurn();
    const rest = Array.from({ length: 300 }, (_, value) => batcher.submit({ kind: 'item', value }, NEVER));
    await nextTurn();
    assert.deepEqual(sizes, [1]);
    end();
    await Promise.all([first, ...rest]);
    assert.deepEqual(sizes, [1, 256, 44]);
  });

  it('has the items of tenants in turn regardless of what they cost before the queue was empty', async () => {
    const { batches, run } = recorder<number>();
    const countCharacters = ({ value }: { value: number }) => (value === 100 ? 900_000 : 0);
    const batcher = new Batcher(run, { ...LIMITS, isOfOneKind: true }, { countCharacters });
    const submit = (tenant: number, value: number) =>
      batcher.submit({ kind: value, value }, { ...NEVER, tenant });
    await submit(1, 100);
    await Promise.all([submit(1, 101), submit(2, 200), submit(2, 201)]);
    assert.deepEqual(batches, [[100], [101], [200], [201]]);
  });

  it('that does not end delays the refusal of no item that waits for it', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const run = async (batch: Item[]): Promise<number[]> => {
      await released;
      return batch.map(({ value }) => value);
    };
    const queueLengths = new ThreadSum(ThreadSum.allocate(1), 0);
    const batcher = new Batcher(run, LIMITS, { queueLengths });
    const running = batcher.submit(items[0]!, NEVER);
    await nextTurn();
    assert.equal(queueLengths.total, 0);
    const start = performance.now();
    const waiting = [50, 800].map((ms) => batcher.submit(items[1]!, { startBy: start + ms }));
    // The timers of the queue do not keep the process alive.
    const refused = (index: number) =>
      assert.rejects(Promise.race([waiting[index], setTimeout(REFUSED_IN_MS)]), StoreUnavailable);
    await refused(0);
    assert.equal(queueLengths.total, 1);
    await refused(1);
    assert.equal(queueLengths.total, 0);
    release();
    assert.equal(await running, 0);
  });

  it('waits for more items only while another one is in flight', async () => {
    const { batches, run, end } = heldRecorder();
    const batcher = new Batcher(run, { ...LIMITS, maxInFlight: 2, maxLingerMs: 60_000 });
    const first = batcher.submit(items[0]!, NEVER);
    await nextTurn();
    assert.deepEqual(batches, [[0]]);
    const others = [1, 2].map((value) => batcher.submit(items[value]!, NEVER));
    await nextTurn();
    assert.deepEqual(batches, [[0]]);
    end();
    await first;
    assert.deepEqual(batches, [[0], [1, 2]]);
    end();
    await Promise.all(others);
  });

  it('is not repeated if the database was unavailable, nor if it has only one item', async () => {
    for (const [error, count] of [
      [new StoreUnavailable('unreachable'), 2],
      [new Error('bug'), 1],
    ] as const) {
      let runs = 0;
      const run = (): Promise<number[]> => {
        runs++;
        return Promise.reject(error);
      };
      const batcher = new Batcher(run, LIMITS);
      const submitted = items.slice(0, count).map((item) => batcher.submit(item, NEVER));
      for (const each of submitted) await assert.rejects(each, error);
      assert.equal(runs, 1, error.message);
    }
  });

  it('that is split starts no item too late, and ends with the last of them', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const batches: number[][] = [];
    const run = async (batch: Item[]): Promise<number[]> => {
      const values = batch.map(({ value }) => value);
      batches.push(values);
      if (values.length > 1) throw new Error('refused');
      await released;
      return values;
    };
    const batcher = new Batcher(run, { ...LIMITS, maxInFlight: 2 }, { changedBy: () => 'group' });
    const startBy = performance.now() + 300;
    const submitted = [
      batcher.submit(items[0]!, NEVER),
      batcher.submit(items[1]!, { startBy }),
      batcher.submit(items[2]!, NEVER),
    ];
    const refused = assert.rejects(submitted[1]!, StoreUnavailable);
    await nextTurn();
    submitted.push(batcher.submit(items[3]!, NEVER));
    await setTimeout(350);
    release();
    await refused;
    await Promise.all([submitted[0], submitted[2], submitted[3]]);
    assert.deepEqual(batches, [[0, 1, 2], [0], [2], [3]]);
  });
});

describe('The pause after a list', () => {
  it('does not grow with the work of other requests in the next turn', async () => {
    const cooldown = new ListCooldown();
    cooldown.otherWorkArrived();
    const end = cooldown.start(1);
    setImmediate(() => block(100));
    const pauseMs = await new Promise<number>((resolve) => end(() => resolve(cooldown.remainingMs(1))));
    assert.ok(pauseMs < 400, `${pauseMs} ms`);
  });

  it('grows with the work of the response', async () => {
    const cooldown = new ListCooldown();
    cooldown.otherWorkArrived();
    const end = cooldown.start(1);
    const paused = new Promise<number>((resolve) => end(() => resolve(cooldown.remainingMs(1))));
    Promise.resolve()
      .then(() => {})
      .then(() => block(100));
    assert.ok((await paused) > 400);
  });
});
