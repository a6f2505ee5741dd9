// The writer thread recovers from changes to its file, and the service recovers from failures of the thread.

import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { copyFileSync, existsSync, renameSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { Injection } from '../../reliability/support/injection.ts';
import { canTrace } from '../../reliability/support/strace.ts';
import { type Command, type Store, StoreUnavailable } from '../../src/store/port.ts';
import { openServingStore, openThreadStore } from '../../src/store/sqlite/store.ts';
import { sqlite } from '../support/database.ts';
import { assertProblem } from '../support/problem.ts';
import { Folder } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const FILE = 'data/user-groups.db';
const RESULT_TIMEOUT_MS = 10_000;
const NO_THREAD = { call: 'clone3,clone', error: 'EAGAIN', when: '1' } as const;

let lastId = 0;

describe('The SQLite writer thread', () => {
  const onStore = async (work: (store: Store, folder: Folder) => Promise<void>): Promise<void> => {
    using folder = new Folder();
    const store = openServingStore(folder.join(FILE));
    try {
      await work(store, folder);
    } finally {
      await store.close();
    }
  };

  it('rejects writes while the file is missing, creates no new file, and continues when the file is back', () =>
    onStore(async (store, folder) => {
      // Moved before the thread opens it.
      renameSync(folder.join(FILE), folder.join('moved'));
      await assert.rejects(store.write([ensureWorkspace('One')]), StoreUnavailable);
      assert.equal(existsSync(folder.join(FILE)), false);
      renameSync(folder.join('moved'), folder.join(FILE));
      assert.equal(await isCreated(store, 'One'), true);
    }));

  it('rejects writes while the path no longer refers to its file, and continues when it does again', () =>
    onStore(async (store, folder) => {
      assert.equal(await isCreated(store, 'One'), true);
      renameSync(folder.join(FILE), folder.join('moved'));
      await assert.rejects(store.write([ensureWorkspace('Two')]), StoreUnavailable);
      copyFileSync(folder.join('moved'), folder.join(FILE));
      await assert.rejects(store.write([ensureWorkspace('Two')]), /was replaced after the service opened it/);
      renameSync(folder.join('moved'), folder.join(FILE));
      assert.equal(await isCreated(store, 'Two'), true);
    }));

  it('is restarted after it exits, and its commands in flight are rejected or applied', () =>
    onStore(async (store) => {
      const thread = await threadOf(async () => assert.equal(await isCreated(store, 'One'), true));
      const cutOff = isCreated(store, 'Two').catch((error: unknown) => error);
      await thread.terminate();
      const result = await cutOff;
      assert.ok(result === true || result instanceof StoreUnavailable, String(result));
      assert.equal(await isCreated(store, 'One'), false);
      assert.equal(await isCreated(store, 'Three'), true);
    }));

  it('does not mix up the results of batches after one could not be sent to it', () =>
    onStore(async (store) => {
      const unsendable = { ...ensureWorkspace('One'), now: 1n as unknown as number };
      await assert.rejects(async () => store.write([unsendable]), TypeError);
      const created = Promise.all([isCreated(store, 'One'), isCreated(store, 'One')]);
      assert.deepEqual(await Promise.race([created, sleep(RESULT_TIMEOUT_MS, null, { ref: false })]), [
        true,
        false,
      ]);
    }));
});

describe('A writer thread that another thread cannot connect to', () => {
  it('makes the store unavailable, and is connected to for the next batch', async () => {
    using folder = new Folder();
    const path = folder.join(FILE);
    const owner = openServingStore(path);
    // Errors lose their class between threads.
    const failure = Promise.reject(new Error('SQLite: cannot start the writer thread'));
    const connections = [() => failure, async () => owner.connectWriter()];
    const store = openThreadStore(path, () => connections.shift()!());
    try {
      await assert.rejects(store.write([ensureWorkspace('One')]), StoreUnavailable);
      assert.equal(await isCreated(store, 'One'), true);
    } finally {
      await store.close();
      await owner.close();
    }
  });

  it('does not keep the store from closing while connecting fails', async () => {
    using folder = new Folder();
    const path = folder.join(FILE);
    const owner = openServingStore(path);
    const store = openThreadStore(path, () => Promise.reject(new Error('the owner is closing')));
    const refused = assert.rejects(store.write([ensureWorkspace('One')]), StoreUnavailable);
    await store.close();
    await refused;
    await owner.close();
  });
});

describe('A writer thread that gets batches of two threads at the same time', () => {
  it('fails only the one that the database refuses', async () => {
    using folder = new Folder();
    const path = folder.join(FILE);
    const owner = openServingStore(path);
    const store = openThreadStore(path, async () => owner.connectWriter());
    try {
      assert.deepEqual([await isCreated(owner, 'One'), await isCreated(store, 'One')], [true, false]);
      const lock = new DatabaseSync(path);
      lock.exec('begin immediate');
      // Waits for the lock, and the others for it.
      const first = isCreated(owner, 'Two');
      await sleep(100);
      const refused = assert.rejects(
        async () => owner.write([{ ...ensureWorkspace('Three'), name: null } as unknown as Command]),
        /NOT NULL/,
      );
      const created = isCreated(store, 'Three');
      await sleep(100);
      lock.exec('rollback');
      lock.close();
      await refused;
      assert.deepEqual([await first, await created], [true, true]);
    } finally {
      await store.close();
      await owner.close();
    }
  });
});

describe('A writer thread that cannot be started', {
  skip: canTrace() ? false : 'strace is not installed or not permitted',
}, () => {
  it('causes a 503, and is started for the next call', async () => {
    using folder = new Folder();
    let service!: TestService;
    const thread = await threadOf(async () => {
      service = await TestService.start(sqlite, { returnsOverloaded: true });
    });
    try {
      // Starts the threads of Node's thread pool, which would otherwise fail to start below.
      await stat(folder.path);
      await thread.terminate();
      const target = { paths: [], output: folder.join('trace') };
      const injection = await Injection.attach(process.pid, target, [NO_THREAD]);
      const refused = await service.get({ user_group_id: 'new', name: 'New' });
      const next = await service.get({ user_group_id: 'new', name: 'New' });
      await injection.end();
      assertProblem(refused, 'database_unavailable');
      assert.deepEqual([next.status, next.json.new_user_group], [200, true]);
      const logged = service.logLines.filter((line) => line.includes('database_unavailable'));
      assert.match(logged.join(''), /SQLite: cannot start the writer thread/);
    } finally {
      await service.end();
    }
  });
});

/** Returns the thread that is started during the work. */
async function threadOf(work: () => Promise<void>): Promise<Worker> {
  const threads: Worker[] = [];
  const onThread = (message: unknown): number => threads.push((message as { worker: Worker }).worker);
  channel('worker_threads').subscribe(onThread);
  await work();
  channel('worker_threads').unsubscribe(onThread);
  return threads[0]!;
}

/** With an id of its own, as each command of the service has. */
function ensureWorkspace(name: string): Command {
  return { kind: 'ensureWorkspace', workspaceId: ++lastId, name, now: 1 };
}

async function isCreated(store: Store, name: string): Promise<boolean> {
  const [result] = await store.write([ensureWorkspace(name)]);
  return (result as { created: boolean }).created;
}
