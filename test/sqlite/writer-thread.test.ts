// The thread that writes outlives what happens to its file, and the service what happens to the thread.

import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { existsSync, renameSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { openServingStore } from '../../src/store/sqlite/store.ts';
import { type Command, type Store, StoreUnavailable } from '../../src/store/store.ts';
import { Folder } from '../process.ts';

const FILE = 'data/user-groups.db';
const ANSWER_LIMIT_MS = 10_000;
const WORKSPACES = ['One', 'Two', 'Three'];

describe('The thread that writes to a SQLite file', () => {
  const onStore = async (work: (store: Store, folder: Folder) => Promise<void>): Promise<void> => {
    using folder = new Folder();
    const store = openServingStore(folder.join(FILE));
    try {
      await work(store, folder);
    } finally {
      await store.close();
    }
  };

  it('refuses what it cannot write, makes no other file, and goes on when the file is back', () =>
    onStore(async (store, folder) => {
      // Before the thread has opened it.
      renameSync(folder.join(FILE), folder.join('away'));
      await assert.rejects(store.write([ensureWorkspace('One')]), StoreUnavailable);
      assert.equal(existsSync(folder.join(FILE)), false);
      renameSync(folder.join('away'), folder.join(FILE));
      assert.equal(await isCreated(store, 'One'), true);
    }));

  it('is started again when it has ended, and what it worked on is refused or done', () =>
    onStore(async (store) => {
      const threads: Worker[] = [];
      const onThread = (message: unknown): number => threads.push((message as { worker: Worker }).worker);
      channel('worker_threads').subscribe(onThread);
      assert.equal(await isCreated(store, 'One'), true);
      channel('worker_threads').unsubscribe(onThread);
      const cutOff = isCreated(store, 'Two').catch((error: unknown) => error);
      await threads[0]!.terminate();
      const result = await cutOff;
      assert.ok(result === true || result instanceof StoreUnavailable, String(result));
      assert.equal(await isCreated(store, 'One'), false);
      assert.equal(await isCreated(store, 'Three'), true);
    }));

  it('gives nobody the answer to another batch where one could not be sent to it', () =>
    onStore(async (store) => {
      const unsendable = { ...ensureWorkspace('One'), now: 1n as unknown as number };
      await assert.rejects(async () => store.write([unsendable]), TypeError);
      const created = Promise.all([isCreated(store, 'One'), isCreated(store, 'One')]);
      assert.deepEqual(await Promise.race([created, sleep(ANSWER_LIMIT_MS)]), [true, false]);
    }));
});

function ensureWorkspace(name: string): Command {
  return { kind: 'ensureWorkspace', workspaceId: WORKSPACES.indexOf(name) + 1, name, now: 1 };
}

async function isCreated(store: Store, name: string): Promise<boolean> {
  const [result] = await store.write([ensureWorkspace(name)]);
  return (result as { created: boolean }).created;
}
