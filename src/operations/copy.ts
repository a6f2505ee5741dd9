// Moves everything from one database to another, whatever their engines. Rows go in the order of their keys and in
// pages that are stored whole or not at all. So what an interrupted copy leaves is a beginning of the source, and
// the next one goes on where it ends.

import { createHash } from 'node:crypto';
import type { KeyRing } from '../domain/key-ring.ts';
import type { UserGroup } from '../domain/user-group.ts';
import type { BatchedStore } from '../store/batched-store.ts';
import type { ApiTokenRow, IdSequence, Workspace } from '../store/store.ts';
import { gatherStatistics } from './statistics.ts';
import { openStoredToken } from './stored-token.ts';

/** The target holds what the source does not, or is not what the source is when the copy is done. */
export class DatabasesDiffer extends Error {
  override readonly name = 'DatabasesDiffer';
}

export interface Copying {
  from: BatchedStore;
  to: BatchedStore;
  /** Opens the tokens of the source, and after it those of the target: they are copied as they are sealed. */
  keyRing: KeyRing;
  now: number;
}

export interface CopiedDatabase {
  workspaces: CopiedTable;
  apiTokens: CopiedTable;
  userGroups: CopiedTable;
}

export interface CopiedTable {
  /** Rows of the source and, after the copy, of the target. */
  count: number;
  /** Of them, those that no earlier copy had brought. */
  copied: number;
  /** SHA-256 over all rows, the same on both sides. */
  digest: string;
}

export type CopyStep = 'compared' | 'copied' | 'verified';
type OnProgress = (step: CopyStep, userGroups: number) => void;

const PAGE = 256;
const sequences: readonly IdSequence[] = ['team_id', 'workspace_id', 'api_token_id'];

/**
 * Copies what the target lacks, and compares all of both. Nobody may serve either of them meanwhile. Throws
 * `DatabasesDiffer`, before anything is written where the target holds other data; `StoredTokenUnreadable` where the
 * ring does not open the tokens of the source.
 */
export async function copyDatabase(copying: Copying, onProgress: OnProgress): Promise<CopiedDatabase> {
  const { from, to } = copying;
  await openSample(copying);
  const userGroups = new TableCopy(userGroupTable, from, to, onProgress);
  const workspaces = new TableCopy(workspaceTable, from, to);
  const apiTokens = new TableCopy(apiTokenTable, from, to);
  // API tokens come last: a target that somebody serves before all is there refuses every caller.
  const tables = [userGroups, workspaces, apiTokens];
  for (const table of tables) await table.compare();
  await refuseOtherKeys(copying);
  await copyKeyIds(copying);
  await copyIds(copying);
  for (const table of tables) await table.copyRest();
  await gatherStatistics(to);
  return {
    workspaces: await workspaces.verify(),
    apiTokens: await apiTokens.verify(),
    userGroups: await userGroups.verify(),
  };
}

/** The ring has all keys that the source names. Whether they open what it holds is tried before anything is written. */
async function openSample({ from, keyRing }: Copying): Promise<void> {
  for (const userGroup of await userGroupTable.page(from, null, PAGE)) {
    openStoredToken(userGroup, keyRing);
  }
}

/** A target may know keys too, of an interrupted copy or of a service that has been started on it. */
async function refuseOtherKeys({ to, keyRing }: Copying): Promise<void> {
  const others = keyRing.missing(await to.read({ kind: 'listTokenKeyIds' }));
  if (others.length === 0) return;
  throw new DatabasesDiffer(
    `the target was served with the token key ${others.join(', ')}, which the key ring of the source lacks, and nothing was changed: ` +
      'empty the target, or add the line of that key to the ring',
  );
}

/** Before the groups: a service that lacks one of the keys must not start on the target. */
async function copyKeyIds({ from, to, now }: Copying): Promise<void> {
  for (const keyId of await from.read({ kind: 'listTokenKeyIds' })) {
    await to.write({ kind: 'addTokenKeyId', keyId, now });
  }
}

/** No id that the source has given away is given away by the target. */
async function copyIds({ from, to }: Copying): Promise<void> {
  for (const sequence of sequences) {
    const count = (await nextId(from, sequence)) - (await nextId(to, sequence));
    if (count > 0) await to.write({ kind: 'leaseIds', sequence, count });
  }
}

async function nextId(store: BatchedStore, sequence: IdSequence): Promise<number> {
  return (await store.write({ kind: 'leaseIds', sequence, count: 0 })).first;
}

interface Table<Row> {
  /** What its rows are called. */
  rows: string;
  /** At most `limit` rows in the order of their keys after `after`, from the first where it is null. */
  page(store: BatchedStore, after: Row | null, limit: number): Promise<Row[]>;
  /** Stores all of the rows or none. */
  add(store: BatchedStore, rows: readonly Row[]): Promise<unknown>;
}

const userGroupTable: Table<UserGroup> = {
  rows: 'user groups',
  page: (store, after, limit) => store.read({ kind: 'listUserGroups', after, limit }),
  add: (store, userGroups) => store.write({ kind: 'copyUserGroups', userGroups }),
};

const workspaceTable: Table<Workspace> = {
  rows: 'workspaces',
  page: async (store, after, limit) => {
    const all = await store.read({ kind: 'listWorkspaces' });
    const start = all.findIndex(({ workspaceId }) => workspaceId === after?.workspaceId) + 1;
    return all.slice(start, start + limit);
  },
  // What is written in one turn is one transaction.
  add: (store, workspaces) =>
    Promise.all(
      workspaces.map(({ workspaceId, name, createdAt }) =>
        store.write({ kind: 'ensureWorkspace', workspaceId, name, now: createdAt }),
      ),
    ),
};

const apiTokenTable: Table<ApiTokenRow> = {
  rows: 'API tokens',
  page: (store, after, limit) => store.read({ kind: 'listApiTokens', after: after?.apiTokenId ?? 0, limit }),
  add: (store, apiTokens) =>
    Promise.all(apiTokens.map((apiToken) => store.write({ kind: 'createApiToken', ...apiToken }))),
};

class TableCopy<Row> {
  readonly #table: Table<Row>;
  readonly #from: BatchedStore;
  readonly #to: BatchedStore;
  readonly #onProgress: OnProgress;
  /** The last row that the target has, and how many it has. */
  #last: Row | null = null;
  #there = 0;
  #copied = 0;

  constructor(table: Table<Row>, from: BatchedStore, to: BatchedStore, onProgress: OnProgress = () => {}) {
    this.#table = table;
    this.#from = from;
    this.#to = to;
    this.#onProgress = onProgress;
  }

  /** Throws `DatabasesDiffer` where what the target has is not how the source begins. */
  async compare(): Promise<void> {
    for await (const page of this.#pages(this.#to, null)) {
      const expected = await this.#table.page(this.#from, this.#last, page.length);
      if (JSON.stringify(page) !== JSON.stringify(expected)) throw this.#otherData();
      this.#last = page.at(-1)!;
      this.#there += page.length;
      this.#onProgress('compared', this.#there);
    }
  }

  async copyRest(): Promise<void> {
    for await (const page of this.#pages(this.#from, this.#last)) {
      await this.#table.add(this.#to, page);
      this.#copied += page.length;
      this.#onProgress('copied', this.#there + this.#copied);
    }
  }

  /** Throws `DatabasesDiffer` where the two sides are not the same. */
  async verify(): Promise<CopiedTable> {
    const [source, target] = await Promise.all([
      this.#digest(this.#from, (seen) => this.#onProgress('verified', seen)),
      this.#digest(this.#to, () => {}),
    ]);
    if (source.digest !== target.digest) {
      throw new DatabasesDiffer(
        `the copy is not the same as the source: the source has ${source.count} ${this.#table.rows}, the copy ${target.count}, with other digests. ` +
          'Has a process served one of them meanwhile? Stop it, empty the target and copy again',
      );
    }
    return { ...source, copied: this.#copied };
  }

  async #digest(
    store: BatchedStore,
    onSeen: (rows: number) => void,
  ): Promise<{ count: number; digest: string }> {
    const hash = createHash('sha256');
    let count = 0;
    for await (const page of this.#pages(store, null)) {
      for (const row of page) hash.update(`${JSON.stringify(row)}\n`);
      count += page.length;
      onSeen(count);
    }
    return { count, digest: hash.digest('hex') };
  }

  async *#pages(store: BatchedStore, after: Row | null): AsyncGenerator<Row[]> {
    for (let last = after; ; ) {
      const page = await this.#table.page(store, last, PAGE);
      if (page.length === 0) return;
      yield page;
      last = page.at(-1)!;
    }
  }

  #otherData(): DatabasesDiffer {
    return new DatabasesDiffer(
      `the target holds ${this.#table.rows} that are not those of the source, and nothing was changed: copy needs an empty database, ` +
        'or one that an interrupted copy of this source has begun. Where the source has changed since then, empty the target first',
    );
  }
}
