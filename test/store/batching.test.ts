// Requests queued for the database: how many are admitted, how they are batched, and when they time out.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { computeBucket } from '../../src/domain/bucket.ts';
import { digestToken } from '../../src/domain/token.ts';
import { IdLease } from '../../src/operations/machinery/id-lease.ts';
import { ThreadSum } from '../../src/scheduling/thread-sum.ts';
import { type BatchingOptions, BatchingStore } from '../../src/store/batching-store.ts';
import {
  type Command,
  type CommandKind,
  type Query,
  StartedTooLate,
  type Store,
  StoreUnavailable,
  WaitedTooLong,
} from '../../src/store/port.ts';
import { block } from '../support/block.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { storeOf } from '../support/store.ts';

const LIMITS = { maxBatch: 256, maxInFlight: 1, maxLingerMs: 0, maxQueued: 100 };
/** Maximum wait: new work that would wait longer is rejected. */
const MAX_WAIT_MS = 100;
/** The same for an admitted request that has to write. */
const MAX_WRITE_WAIT_MS = 500;
/** Time without an answer after which the database may hang. */
const MAX_SILENCE_MS = 300;
/** Time limit of a request, longer than two small writes take on a busy machine. */
const REQUEST_MS = 500;
/** Reads that take longer are slow. */
const FAST_READ_MS = 20;
const LEASE = { kind: 'leaseIds', sequence: 'api_token_id', count: 1 } as const;
/** Rotation of a token that no group has. */
const LOST_ROTATION: Command<'rotateToken'> = {
  kind: 'rotateToken',
  bucket: computeBucket(1, 'default', 'Lost'),
  providedId: 'Lost',
  teamId: 1,
  currentDigest: digestToken('none'),
  forgottenDigest: null,
  tokenDigest: digestToken('new'),
  sealedToken: { keyId: 'key', ciphertext: 'token' },
  previousTokenExpiresAt: null,
  now: 1,
};
const TENANT = { workspaceId: 1, environment: 'Customer' } as const;
const CLEARING = { kind: 'deleteDeliveries', endpoint: { ...TENANT, endpointId: 'crm' }, limit: 1 } as const;
const REFUSED_CHANGE = { kind: 'changeConfig', tenant: TENANT, version: 12_345, changes: [] } as const;
/** Exceeds two blocks of ids. */
const IDS = 2_500;

describeOnEachDatabase('The batching store', (kind) => {
  const opened = storeOf(kind);

  function batchedStore(maxQueued: number): BatchingStore {
    const limits = { ...LIMITS, maxQueued };
    return BatchingStore.create(opened.store, { read: limits, write: { ...limits, isOfOneKind: true } });
  }

  /** Returns a store that answers no read before the promise resolves. */
  function slowStore(released: Promise<void>, maxBatch: number, options?: BatchingOptions): BatchingStore {
    const read = async (queries: readonly Query[]) => {
      await released;
      return opened.store.read(queries);
    };
    const limits = { read: { ...LIMITS, maxBatch }, write: LIMITS };
    return BatchingStore.create({ ...opened.store, read }, limits, options);
  }

  for (const access of ['read', 'list', 'write'] as const) {
    it(`admits ${access} requests up to the limit`, async () => {
      const store = batchedStore(2);
      const submit = {
        read: () => store.read({ kind: 'ping' }),
        list: () => store.read({ kind: 'countRows', table: 'user_groups' }),
        write: () => store.write(LEASE),
      }[access];
      assert.equal(store.admits(access), true);
      const first = submit();
      assert.equal(store.admits(access), true);
      const second = submit();
      assert.equal(store.admits(access), false);
      await Promise.all([first, second]);
      assert.equal(store.admits(access), true);
    });
  }

  it('admits requests that may have to write while writes wait, but not to a slow database', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let durationMs = 0;
    const read = async (queries: readonly Query[]) => {
      await setTimeout(durationMs);
      return opened.store.read(queries);
    };
    const write = async (commands: readonly Command[]) => {
      await released;
      return opened.store.write(commands);
    };
    const limits = { read: LIMITS, write: { ...LIMITS, maxQueued: 2, isOfOneKind: true } };
    const store = BatchingStore.create({ ...opened.store, read, write }, limits);
    const running = store.write(LEASE);
    await setImmediate();
    const waiting = [store.write(LEASE), store.write(LEASE)];
    assert.deepEqual(
      [store.admits('either'), store.admits('write'), store.admitsWrite()],
      [true, false, false],
    );
    durationMs = 10 * FAST_READ_MS;
    await store.read({ kind: 'ping' });
    assert.equal(store.admits('either'), false);
    assert.equal(store.admits('read'), true);
    release();
    await Promise.all([running, ...waiting]);
    assert.equal(store.admits('either'), true);
  });

  it('ends a wait for other requests otherwise if the database answers them than if it hangs or fails, even after an answer', async (t) => {
    const held: (() => void)[] = [];
    const whenReleased = () => new Promise<void>((resolve) => held.push(resolve));
    const down = new StoreUnavailable('down');
    let isDown = false;
    const read = async (queries: readonly Query[]) => {
      await whenReleased();
      if (isDown) throw down;
      return opened.store.read(queries);
    };
    const write = (commands: readonly Command[]) => whenReleased().then(() => opened.store.write(commands));
    const store = BatchingStore.create({ ...opened.store, read, write }, { read: LIMITS, write: LIMITS });
    const answer = async (call: Promise<unknown>): Promise<void> => {
      await setImmediate();
      held.shift()!();
      await call;
    };
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const wait = () =>
      store
        .until(performance.now())
        .inTime(new Promise<never>(() => {}))
        .catch((error: Error) => error);
    const end = (waiting: Promise<Error>): Promise<Error> => {
      t.mock.timers.tick(1);
      return waiting;
    };
    assert.equal((await end(wait())).constructor, StartedTooLate);
    const busy = wait();
    await answer(store.read({ kind: 'ping' }));
    assert.equal((await end(busy)).constructor, WaitedTooLong);
    const hanging = wait();
    await answer(store.read({ kind: 'ping' }));
    const written = store.write(LEASE);
    await setImmediate();
    block(MAX_SILENCE_MS);
    assert.equal((await end(hanging)).constructor, StartedTooLate);
    await answer(written);
    const failing = wait();
    await answer(store.read({ kind: 'ping' }));
    isDown = true;
    await assert.rejects(answer(store.read({ kind: 'ping' })), down);
    assert.equal((await end(failing)).constructor, StartedTooLate);
  });

  it('ends a late call as one that may have had an effect if its request has written more than a preparation or refused change', async () => {
    const store = batchedStore(100);
    const commands = [LEASE, CLEARING, LOST_ROTATION, REFUSED_CHANGE, { kind: 'pingWrite' }] as const;
    const requests = commands.map(() => store.until(performance.now() + REQUEST_MS));
    for (const [index, command] of commands.entries()) await requests[index]!.write<CommandKind>(command);
    await setTimeout(REQUEST_MS + 1);
    for (const [index, request] of requests.entries()) {
      const waiting = request.inTime(new Promise<never>(() => {}));
      const late = await Promise.allSettled([waiting, request.read({ kind: 'ping' }), request.write(LEASE)]);
      for (const { reason } of late as PromiseRejectedResult[])
        assert.deepEqual(
          [reason instanceof StoreUnavailable, reason instanceof StartedTooLate],
          [true, commands[index]!.kind !== 'pingWrite'],
        );
    }
  });

  it('refuses no admitted request that has to write as soon as new ones', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const write = async (commands: readonly Command[]) => {
      await released;
      return opened.store.write(commands);
    };
    const limits = { read: LIMITS, write: { ...LIMITS, maxBatch: 1 } };
    const store = BatchingStore.create({ ...opened.store, write }, limits);
    const running = store.write(LEASE);
    await setImmediate();
    const submittedAt = performance.now();
    const waiting = [store.write(LEASE), store.write(LEASE)];
    await setTimeout(2 * MAX_WAIT_MS);
    assert.equal(store.admits('write'), false);
    assert.ok(store.admitsWrite() || performance.now() - submittedAt > MAX_WRITE_WAIT_MS);
    release();
    await Promise.all([running, ...waiting]);
  });

  it('admits no request that would wait too long behind batches as slow as the last ones', async () => {
    let durationMs = 5 * MAX_WAIT_MS;
    const read = async (queries: readonly Query[]) => {
      await setTimeout(durationMs);
      return opened.store.read(queries);
    };
    const limits = { read: { ...LIMITS, maxBatch: 1 }, write: LIMITS };
    const store = BatchingStore.create({ ...opened.store, read }, limits);
    await store.read({ kind: 'ping' });
    durationMs = 0;
    const waiting = [1, 2, 3].map(() => store.read({ kind: 'ping' }));
    assert.equal(store.admits('read'), false);
    await Promise.all(waiting);
  });

  it('pauses the lists of a tenant for nine times their duration while other requests arrive', async () => {
    const startedAt: number[] = [];
    const read = async (queries: readonly Query[]) => {
      startedAt.push(performance.now());
      block(30);
      return opened.store.read(queries);
    };
    const store = BatchingStore.create({ ...opened.store, read }, { read: LIMITS, write: LIMITS });
    const list = () => store.forTenant(1).read({ kind: 'countRows', table: 'user_groups' });
    assert.equal(store.admits('read'), true);
    await list();
    await list();
    const betweenMs = startedAt[1]! - startedAt[0]!;
    assert.ok(betweenMs >= 9 * 30, `${betweenMs} ms`);
  });

  it('admits the requests of a tenant while the queue of another does not move', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const store = slowStore(released, 1);
    const running = store.forTenant(1).read({ kind: 'ping' });
    await setImmediate();
    const waiting = [1, 2, 3].map(() => store.forTenant(1).read({ kind: 'ping' }));
    await setTimeout(2 * MAX_WAIT_MS);
    assert.equal(store.forTenant(1).admits('read'), false);
    assert.equal(store.forTenant(2).admits('read'), true);
    release();
    await Promise.all([running, ...waiting]);
  });

  it('admits requests of a tenant whose earlier ones are in the next batch while the queue does not move', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const store = slowStore(released, 4);
    const running = store.forTenant(1).read({ kind: 'ping' });
    await setImmediate();
    const waiting = [1, 1, 1, 1, 1, 2].map((tenant) => store.forTenant(tenant).read({ kind: 'ping' }));
    await setTimeout(2 * MAX_WAIT_MS);
    assert.equal(store.forTenant(1).admits('read'), false);
    assert.equal(store.forTenant(2).admits('read'), true);
    release();
    await Promise.all([running, ...waiting]);
  });

  it('admits no more requests while a queue longer than a batch does not move', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const store = slowStore(released, 1);
    const running = store.read({ kind: 'ping' });
    await setImmediate();
    const waiting = [store.read({ kind: 'ping' }), store.read({ kind: 'ping' })];
    assert.equal(store.admits('read'), true);
    await setTimeout(MAX_WAIT_MS + 50);
    assert.equal(store.admits('read'), false);
    release();
    await Promise.all([running, ...waiting]);
    assert.equal(store.admits('read'), true);
  });

  it('admits requests of a tenant while those of another fill the queue, up to twice its length in total', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const store = slowStore(released, 256);
    const requests = [store.forTenant(1).read({ kind: 'ping' })];
    await setImmediate();
    /** Returns how many requests of the tenant are admitted. */
    const fill = (tenant: number): number => {
      let admitted = 0;
      for (; store.forTenant(tenant).admits('read') && admitted < 10 * LIMITS.maxQueued; admitted++)
        requests.push(store.forTenant(tenant).read({ kind: 'ping' }));
      return admitted;
    };
    const admitted = Array.from({ length: 100 }, (_, index) => fill(index + 1));
    const again = fill(1);
    release();
    await Promise.all(requests);
    assert.deepEqual(admitted.slice(0, 4), [LIMITS.maxQueued, 50, 25, 13]);
    assert.equal(
      admitted.reduce((sum, count) => sum + count),
      2 * LIMITS.maxQueued,
    );
    assert.equal(again, 0);
  });

  it('admits up to the limit in all threads of a process, and a tenant in each while another fills the queue', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const memory = ThreadSum.allocate(2);
    const threads = [0, 1].map((thread) => {
      const length = new ThreadSum(memory, thread);
      return slowStore(released, 256, { queueLengths: { read: length, list: length, write: length } });
    });
    const requests = threads.map((store) => store.forTenant(1).read({ kind: 'ping' }));
    await setImmediate();
    const admit = (store: BatchingStore): boolean => {
      const isAdmitted = store.admits('read');
      if (isAdmitted) requests.push(store.read({ kind: 'ping' }));
      return isAdmitted;
    };
    let admitted = 0;
    while (threads.map((store) => admit(store.forTenant(1))).includes(true) && admitted < LIMITS.maxQueued)
      admitted++;
    const others = threads.map((store) => admit(store.forTenant(2)));
    release();
    await Promise.all(requests);
    assert.equal(admitted, LIMITS.maxQueued / 2);
    assert.deepEqual(others, [true, true]);
  });

  it('admits no more requests than it can start in time while batches are cut, and as many as ever afterwards', async () => {
    let durationMs = 20;
    const read = async (queries: readonly Query[]) => {
      await setTimeout(durationMs);
      return opened.store.read(queries.slice(0, 1));
    };
    const store = BatchingStore.create({ ...opened.store, read }, { read: LIMITS, write: LIMITS });
    const submit = (tenant: number, count: number) =>
      Array.from({ length: count }, () => store.forTenant(tenant).read({ kind: 'ping' }));
    const first = submit(1, 50);
    await first[10];
    const other = submit(2, 20);
    const admits = [1, 2, 3].map((tenant) => store.forTenant(tenant).admits('read'));
    durationMs = 0;
    await Promise.all([...first, ...other]);
    const second = submit(1, 50);
    const admitsAfterwards = store.forTenant(1).admits('read');
    await Promise.all(second);
    assert.deepEqual(admits, [false, true, true]);
    assert.equal(admitsAfterwards, true);
  });

  it('writes no more than some hundred webhook deliveries at a time', async () => {
    const sizes: number[] = [];
    const write = async (commands: readonly unknown[]) => {
      sizes.push(commands.length);
      return commands.map(() => null);
    };
    const store = BatchingStore.create({ ...opened.store, write } as Store, { read: LIMITS, write: LIMITS });
    const endpoints = Array.from({ length: 100 }, (_, index) => `endpoint-${index}`);
    const command = {
      kind: 'deleteUserGroup',
      event: { endpoints },
    } as unknown as Command<'deleteUserGroup'>;
    await Promise.all(Array.from({ length: 8 }, () => store.write(command)));
    assert.deepEqual(sizes, [6, 2]);
  });

  it('writes no more than a megabyte of documents at a time', async () => {
    const sizes: number[] = [];
    const write = async (commands: readonly unknown[]) => {
      sizes.push(commands.length);
      return commands.map(() => null);
    };
    const alike = { ...opened.store, write, executesSingly: () => false } as Store;
    const store = BatchingStore.create(alike, { read: LIMITS, write: LIMITS });
    const document = { body: 'x'.repeat(200_000) };
    const change = { before: document, after: document, event: undefined };
    const commands = [
      { kind: 'putDocument', ...document, limit: { documents: 1 } },
      { kind: 'changeConfig', changes: [change] },
      { kind: 'renameUserGroup', config: { changes: [change] } },
      { kind: 'renameUserGroup', config: { changes: [] } },
    ] as unknown as Command[];
    await Promise.all([...commands, ...commands].map((command) => store.write(command)));
    assert.deepEqual(sizes, [5, 3]);
  });

  it('writes few commands at a time, those of tenants in turn, if each takes round trips of its own', async () => {
    const batches: unknown[][] = [];
    const write = async (commands: readonly { key: unknown }[]) => {
      batches.push(commands.map(({ key }) => key));
      return commands.map(() => null);
    };
    const executesSingly = (kind: CommandKind) => kind === 'putDocument';
    const slow = { ...opened.store, write, executesSingly } as unknown as Store;
    const store = BatchingStore.create(slow, { read: LIMITS, write: LIMITS });
    const limit = { documents: 1 };
    const put = (tenant: number) =>
      store
        .forTenant(tenant)
        .write({ kind: 'putDocument', key: tenant, limit } as unknown as Command<'putDocument'>);
    await Promise.all([...Array.from({ length: 40 }, () => put(1)), put(2)]);
    const sizes = batches.map(({ length }) => length);
    assert.deepEqual(sizes, [16, 16, 9]);
    assert.ok(batches[0]!.includes(2));
  });

  it('does not start a command after its deadline', async () => {
    const store = batchedStore(100);
    const late = store.until(performance.now() - 1);
    const lease = { kind: 'leaseIds', sequence: 'team_id', count: 0 } as const;
    const { first } = await store.write(lease);
    await assert.rejects(late.write({ ...lease, count: 7 }), StoreUnavailable);
    assert.equal((await store.write(lease)).first, first);
  });

  it('returns each command its own result if commands of several kinds arrive together', async () => {
    const store = batchedStore(100);
    const ping = store.write({ kind: 'pingWrite' });
    const revoke = store.write({ kind: 'revokeApiToken', apiTokenId: 1, now: 1 });
    assert.deepEqual(await Promise.all([ping, revoke]), [null, false]);
  });

  it('leases distinct ids to several leases in one batch', async () => {
    const store = batchedStore(100);
    const counts = [3, 1, 2];
    const leases = await Promise.all(
      counts.map((count) => store.write({ kind: 'leaseIds', sequence: 'workspace_id', count })),
    );
    const ids = leases.flatMap(({ first }, index) =>
      Array.from({ length: counts[index]! }, (_, offset) => first + offset),
    );
    assert.equal(new Set(ids).size, 6);
  });

  it('leases distinct ids to two processes, even if both exhaust their blocks', async () => {
    const store = batchedStore(100);
    const processes = [new IdLease(store), new IdLease(store)];
    const ids = new Set<number>();
    for (let count = 0; count < IDS; count++) {
      for (const process of processes) ids.add((await process.next(store)).id);
    }
    assert.equal(ids.size, processes.length * IDS);
  });
});
