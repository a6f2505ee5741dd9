// CPU-bound work is spread over turns of the event loop, each with a budget.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CpuQueue, SMALL_BYTES, STEP_BYTES, TURN_BYTES } from '../../src/operations/machinery/cpu-queue.ts';
import type { Problem } from '../../src/problem.ts';
import { StartedTooLate, StoreUnavailable } from '../../src/store/port.ts';
import { block } from '../support/block.ts';
import { severalTenants } from '../support/tenant-activity.ts';

const LARGE_BYTES = 4 * TURN_BYTES;
const NO_LIMIT = Number.POSITIVE_INFINITY;

/** Counts turns of the event loop until it is disposed of. */
class TurnCounter implements Disposable {
  turn = 0;
  #next = setImmediate(() => this.#count());

  #count(): void {
    this.turn++;
    this.#next = setImmediate(() => this.#count());
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#next);
  }
}

/** Returns the number of bytes started in each turn. */
async function startedInTurns(queue: CpuQueue, sizes: readonly number[]): Promise<number[]> {
  using counter = new TurnCounter();
  const bytes: number[] = [];
  const start = async (size: number): Promise<void> => {
    await queue.turn(size);
    bytes[counter.turn] = (bytes[counter.turn] ?? 0) + size;
  };
  await Promise.all(sizes.map(start));
  return bytes.filter((each) => each > 0);
}

describe('The CPU queue', () => {
  it('starts work immediately while the turn has capacity', () => {
    const queue = CpuQueue.create();
    for (let bytes = 0; bytes < TURN_BYTES; bytes += SMALL_BYTES)
      assert.equal(queue.turn(SMALL_BYTES), undefined);
    assert.notEqual(queue.turn(1), undefined);
    assert.equal(queue.turn(0), undefined);
  });

  it('starts small work up to the budget in one turn', async () => {
    const sizes = Array.from({ length: 200 }, () => SMALL_BYTES / 2);
    const bytes = await startedInTurns(CpuQueue.create(), sizes);
    assert.ok(Math.max(...bytes) <= TURN_BYTES, `${bytes}`);
  });

  it('starts work that exceeds the budget alone in a turn', async () => {
    const bytes = await startedInTurns(CpuQueue.create(), Array(10).fill(LARGE_BYTES));
    assert.deepEqual(bytes, Array(10).fill(LARGE_BYTES));
  });

  it('starts small work before larger work that arrived first, without starving the larger work', async () => {
    const queue = CpuQueue.create();
    const order: string[] = [];
    const start = async (name: string, bytes: number): Promise<void> => {
      await queue.turn(bytes);
      order.push(name);
    };
    const large = ['1', '2', '3'].map((name) => start(name, LARGE_BYTES));
    const small = Array.from({ length: 400 }, () => start('small', SMALL_BYTES));
    await Promise.all([...large, ...small]);
    assert.ok(order.indexOf('small') < order.indexOf('2'), `${order}`);
    assert.ok(order.indexOf('3') < order.lastIndexOf('small'), `${order}`);
  });

  it('finishes requests in progress before it starts later ones', async () => {
    const queue = CpuQueue.create();
    const now = performance.now();
    const order: string[] = [];
    const work = async (name: string, startBy: number): Promise<void> => {
      await queue.until(startBy).turn(LARGE_BYTES);
      order.push(`${name} 1`);
      await queue.until(startBy).turn(LARGE_BYTES);
      order.push(`${name} 2`);
    };
    await Promise.all([work('a', now + 60_000), work('b', now + 60_001), work('c', now + 60_002)]);
    assert.deepEqual(order, ['a 1', 'a 2', 'b 1', 'b 2', 'c 1', 'c 2']);
  });

  it('lets tenants take turns, whatever the deadlines of the others', async () => {
    const queue = CpuQueue.create();
    for (const bytes of [SMALL_BYTES, LARGE_BYTES]) {
      const order: number[] = [];
      const work = async (tenant: number, startBy: number): Promise<void> => {
        await queue.forTenant(tenant).until(startBy).turn(bytes);
        order.push(tenant);
      };
      await queue.turn(TURN_BYTES);
      const urgent = Array.from({ length: 50 }, () => work(1, performance.now() + 10_000));
      await Promise.all([...urgent, work(2, performance.now() + 60_000)]);
      assert.ok(order.indexOf(2) <= 2, `${order}`);
    }
  });

  it('lets a tenant with large work rest while others are active, but not the others', async () => {
    const queue = CpuQueue.create(severalTenants());
    const startedAt = new Map<string, number>();
    const work = async (tenant: number, name: string): Promise<void> => {
      await queue.forTenant(tenant).turn(LARGE_BYTES);
      startedAt.set(name, performance.now());
      block(10);
    };
    await queue.turn(TURN_BYTES);
    const busy = ['first', 'second', 'third'].map((name) => work(1, name));
    const other = work(2, 'other');
    const cpu = process.threadCpuUsage();
    await Promise.all([...busy, other]);
    const { user, system } = process.threadCpuUsage(cpu);
    const at = (name: string): number => startedAt.get(name)!;
    assert.ok(at('other') < at('second'), 'the other tenant does not wait for a pause');
    assert.ok(at('third') - at('second') >= 45, `${at('third') - at('second')} ms`);
    assert.ok((user + system) / 1_000 < 80, 'the queue does not keep the processor busy during a pause');
  });

  it('does not let small work wait while a tenant rests', async () => {
    const queue = CpuQueue.create(severalTenants()).forTenant(1);
    await queue.turn(TURN_BYTES);
    const work = async (): Promise<void> => {
      await queue.turn(LARGE_BYTES);
      block(100);
    };
    await work();
    const waiting = queue.turn(LARGE_BYTES);
    await nextTurn();
    await nextTurn();
    const before = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => queue.turn(SMALL_BYTES)));
    assert.ok(performance.now() - before < 200, `${performance.now() - before} ms`);
    await waiting;
  });

  it('lets large work start after some time if turns are long', async () => {
    const queue = CpuQueue.create();
    await queue.turn(LARGE_BYTES);
    const waits = [queue.turn(LARGE_BYTES), queue.turn(LARGE_BYTES)];
    const all = Promise.all(waits).then(() => true);
    let turns = 0;
    for (let isDone = false; !isDone; turns++) {
      block(15);
      isDone = await Promise.race([all, nextTurn(false)]);
    }
    assert.ok(turns < 12, `${turns} turns`);
  });

  it('rejects work that cannot start before its deadline with overloaded', async () => {
    const queue = CpuQueue.create();
    const late = queue.until(performance.now() - 1).turn(LARGE_BYTES);
    await assert.rejects(Promise.resolve(late), { code: 'overloaded', retryAfterSeconds: 1 });
    await queue.until(performance.now() - 1).turn(LARGE_BYTES, 60_000);
  });

  it('counts rejections towards the budget of a turn', async () => {
    using counter = new TurnCounter();
    const queue = CpuQueue.create().until(performance.now() - 1);
    const refused: number[] = [];
    const refuse = async (bytes: number): Promise<void> => {
      await assert.rejects(Promise.resolve(queue.turn(bytes)), { code: 'overloaded' });
      refused[counter.turn] = (refused[counter.turn] ?? 0) + 1;
    };
    await queue.turn(TURN_BYTES);
    const sizes = [...Array(200).fill(LARGE_BYTES), ...Array(200).fill(1)];
    await Promise.all(sizes.map(refuse));
    const most = Math.max(...refused.filter(Boolean));
    assert.ok(most <= TURN_BYTES / STEP_BYTES, `${most} in a turn`);
  });

  it('reports a request that reached the database too late as overloaded only if work has waited', async () => {
    const queue = CpuQueue.create();
    const tooLate = new StartedTooLate('too late');
    assert.equal(queue.asOverloaded(tooLate), tooLate);
    await Promise.all([queue.turn(LARGE_BYTES), queue.turn(LARGE_BYTES)]);
    assert.equal((queue.asOverloaded(tooLate) as Problem).code, 'overloaded');
    const other = new StoreUnavailable('unreachable');
    assert.equal(queue.asOverloaded(other), other);
  });

  it('lets sockets and timers run in between', async () => {
    const queue = CpuQueue.create();
    let isDone = false;
    const all = Promise.all(Array.from({ length: 50 }, () => queue.until(NO_LIMIT).turn(LARGE_BYTES)));
    void all.then(() => {
      isDone = true;
    });
    let turns = 0;
    for (; !isDone; turns++) await nextTurn();
    // The event loop accepts one connection per turn.
    assert.ok(turns > 1_000, `${turns} turns`);
  });

  it('starts no large work in the turns that stay free after other large work', async () => {
    const queue = CpuQueue.create();
    await queue.turn(LARGE_BYTES);
    await nextTurn();
    assert.notEqual(queue.turn(2 * SMALL_BYTES), undefined);
    assert.equal(queue.turn(SMALL_BYTES), undefined);
  });

  it('fails the work of a tenant at the deadline of its request', async () => {
    const queue = CpuQueue.create()
      .until(performance.now() - 1)
      .forTenant(1);
    assert.equal(queue.turn(TURN_BYTES), undefined);
    await assert.rejects(queue.turn(1)!, { code: 'overloaded' });
  });
});
