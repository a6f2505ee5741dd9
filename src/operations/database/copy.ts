// Copies all data from one database to another, of any engine. Rows are copied in key order, in pages that are stored
// atomically. An interrupted copy therefore leaves a prefix of the source in the target, and the next copy resumes at
// its end.

import { createHash } from 'node:crypto';
import type { Document } from '../../domain/document.ts';
import type { StoredEvent } from '../../domain/event/event.ts';
import type { KeyRing } from '../../domain/key-ring.ts';
import { isSameTenant, tenantOf } from '../../domain/tenant.ts';
import { isImported } from '../../domain/token.ts';
import type { UsageCount } from '../../domain/usage.ts';
import type { Rename } from '../../domain/user-group/rename.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import type { Delivery } from '../../domain/webhook-endpoint/delivery.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import {
  type ApiTokenRow,
  type EventPage,
  type FailingEndpoint,
  type IdSequence,
  idSequences,
  type Workspace,
} from '../../store/port.ts';
import type { CopiedTable } from '../../store/tables.ts';
import { pagesAfter } from '../pages.ts';
import { openStoredToken } from './open-stored-token.ts';

/** The target contains data that the source lacks, or differs from the source after the copy. */
export class DatabasesDiffer extends Error {
  override readonly name = 'DatabasesDiffer';
}

interface CopyJob {
  from: BatchingStore;
  to: BatchingStore;
  /**
   * Decrypts the tokens of the source, and later those of the target: tokens are copied in encrypted form.
   */
  keyRing: KeyRing;
  now: number;
}

export interface TableReport {
  /** Plural noun. */
  rows: string;
  /** Number of rows, in the source and in the target. */
  count: number;
  /** Number of rows that this copy added; an earlier, interrupted copy may have added the others. */
  copied: number;
  /** SHA-256 of all rows, equal for source and target. */
  digest: string;
}

/** Called with the number of rows of each page. */
type OnRows = (rows: number) => void;
/** Called when a step begins, with the number of rows in all tables. */
type StartStep = (step: 'compared' | 'copied' | 'verified', total: number) => OnRows;

const PAGE = 256;

/**
 * Copies the rows that the target lacks, and verifies that both databases are identical. Neither may be served at the
 * same time. Throws `DatabasesDiffer`, before anything is written if the target contains other data, or
 * `StoredTokenUnreadable` if the key ring does not decrypt the tokens of the source.
 */
export async function copyDatabase(job: CopyJob, startStep: StartStep): Promise<Map<string, TableReport>> {
  await verifyKeyRing(job);
  const tables = (Object.keys(copiedTables) as CopiedTable[]).map((name) => new TableCopy(name, job));
  const total = await countRows(job.from, tables);
  const existing = await countRows(job.to, tables);
  const onCompared = startStep('compared', existing);
  for (const table of tables) await table.compare(onCompared);
  await refuseOtherKeys(job);
  await copyKeyIds(job);
  await copyIds(job);
  await copyEventFloor(job);
  // API tokens are copied last: a target that is served before the copy is complete rejects every caller.
  const inOrder = tables.toSorted(
    (a, b) => Number(a.name === 'api_tokens') - Number(b.name === 'api_tokens'),
  );
  const onCopied = startStep('copied', total - existing);
  for (const table of inOrder) await table.copyMissing(onCopied);
  // Statistics affect only query plans, and the database gathers them automatically later.
  await job.to.write({ kind: 'gatherStatistics' }).catch(() => {});
  const onVerified = startStep('verified', total);
  const reports = new Map<string, TableReport>();
  for (const table of tables) reports.set(table.reportedAs, await table.verify(onVerified));
  return reports;
}

async function countRows(store: BatchingStore, tables: readonly { name: CopiedTable }[]): Promise<number> {
  let count = 0;
  for (const { name: table } of tables) count += await store.read({ kind: 'countRows', table });
  return count;
}

/**
 * Verifies before any write that the key ring decrypts tokens; loading it verified only that no key id is
 * missing.
 */
async function verifyKeyRing({ from, keyRing }: CopyJob): Promise<void> {
  for (const userGroup of await userGroupTable.page(from, null, PAGE)) {
    openStoredToken(userGroup, keyRing);
  }
}

/** The target may have keys registered by an interrupted copy, or by a service that was started on it. */
async function refuseOtherKeys({ to, keyRing }: CopyJob): Promise<void> {
  const others = keyRing.missing(await to.read({ kind: 'listTokenKeyIds' }));
  if (others.length === 0) return;
  throw new DatabasesDiffer(
    `the target was served with the token key ${others.join(', ')}, which the key ring of the source lacks; nothing was changed. ` +
      'Empty the target, or add the line of that key to the key ring',
  );
}

/** Runs before groups are copied, so that a service that lacks one of the keys refuses to start on the target. */
async function copyKeyIds({ from, to, now }: CopyJob): Promise<void> {
  for (const keyId of await from.read({ kind: 'listTokenKeyIds' })) {
    await to.write({ kind: 'addTokenKeyId', keyId, now });
  }
}

/** Advances the sequences of the target, so that it never issues an id that the source has issued. */
async function copyIds({ from, to }: CopyJob): Promise<void> {
  for (const sequence of idSequences) {
    const count = (await nextId(from, sequence)) - (await nextId(to, sequence));
    if (count > 0) await to.write({ kind: 'leaseIds', sequence, count });
  }
}

/** Keeps the cursors of readers before the new events of the target, also if the events of the cursors were deleted. */
async function copyEventFloor({ from, to }: CopyJob): Promise<void> {
  await to.write({ kind: 'raiseEventFloor', floor: await from.read({ kind: 'findEventFloor' }) });
}

async function nextId(store: BatchingStore, sequence: IdSequence): Promise<number> {
  return (await store.write({ kind: 'leaseIds', sequence, count: 0 })).first;
}

interface Table<Row> {
  /** Plural noun for messages. */
  rows: string;
  /** Name in the reports; that of the table if absent. */
  reportedAs?: string;
  /** Returns up to `limit` rows in key order that follow `after`; null starts at the first row. */
  page(store: BatchingStore, after: Row | null, limit: number): Promise<Row[]>;
  /** Stores the rows atomically. */
  add(store: BatchingStore, rows: readonly Row[]): Promise<unknown>;
  /** Throws `DatabasesDiffer` if the store lacks data that belongs to the rows but is stored elsewhere. */
  verify?(store: BatchingStore, rows: readonly Row[]): Promise<unknown>;
}

const userGroupTable: Table<UserGroup> = {
  rows: 'user groups',
  page: (store, after, limit) => store.read({ kind: 'scanUserGroups', after, limit }),
  add: (store, userGroups) => store.write({ kind: 'copyUserGroups', userGroups }),
  verify: (store, userGroups) =>
    Promise.all(userGroups.map((userGroup) => verifyImportedTokens(store, userGroup))),
};

/**
 * Verifies the separate table in which imported tokens are looked up, which the rows of groups do not show.
 */
async function verifyImportedTokens(store: BatchingStore, userGroup: UserGroup): Promise<void> {
  for (const digest of [userGroup.tokenDigest, userGroup.previousTokenDigest]) {
    if (digest === null || !isImported(digest)) continue;
    const bucket = await store.read({ kind: 'findImportedToken', digest });
    if (bucket === userGroup.bucket) continue;
    const id = JSON.stringify(userGroup.providedId);
    throw new DatabasesDiffer(
      `the copy lacks an imported token of the user group ${id}: empty the target and copy again`,
    );
  }
}

const workspaceTable: Table<Workspace> = {
  rows: 'workspaces',
  page: (store, after, limit) => store.read({ kind: 'listWorkspaces', after: after?.name ?? null, limit }),
  // Commands that are written in the same turn of the event loop form one transaction.
  add: (store, workspaces) =>
    Promise.all(
      workspaces.map(({ workspaceId, name, createdAt }) =>
        store.write({ kind: 'ensureWorkspace', workspaceId, name, now: createdAt }),
      ),
    ),
};

const apiTokenTable: Table<ApiTokenRow> = {
  rows: 'API tokens',
  page: (store, after, limit) =>
    store.read({ kind: 'listApiTokens', tenant: null, after: after?.apiTokenId ?? 0, limit }),
  add: (store, apiTokens) =>
    Promise.all(apiTokens.map((apiToken) => store.write({ kind: 'createApiToken', ...apiToken }))),
};

const documentTable: Table<Document> = {
  rows: 'documents',
  page: (store, after, limit) => store.read({ kind: 'scanDocuments', after, limit }),
  add: (store, documents) => store.write({ kind: 'copyDocuments', documents }),
};

/** Events are copied one environment at a time, in feed order. */
const eventTable: Table<StoredEvent> = {
  rows: 'events',
  page: async (store, after, limit) => {
    const events: StoredEvent[] = [];
    let tenant = after ?? (await store.read({ kind: 'findNextTenant', after: null }));
    while (tenant !== null && events.length < limit) {
      const position = events.at(-1) ?? after;
      const { last, isEnd, ...page }: EventPage = await store.read({
        kind: 'listEvents',
        tenant: tenantOf(tenant),
        target: null,
        type: null,
        order: 'oldest',
        after: position !== null && isSameTenant(position, tenant) ? position : null,
        limit: limit - events.length,
        scanLimit: limit,
        maxBytes: PAGE_BYTES,
        // Otherwise, a transaction in any other database of the server would hold up the feed.
        readsToEnd: true,
      });
      events.push(...page.events);
      if (isEnd) tenant = await store.read({ kind: 'findNextTenant', after: tenant });
    }
    return events;
  },
  add: (store, events) => store.write({ kind: 'copyEvents', events }),
};

const renameTable: Table<Rename> = {
  rows: 'renames of user groups',
  reportedAs: 'renames',
  page: (store, after, limit) => store.read({ kind: 'scanRenames', after, limit }),
  add: (store, renames) => store.write({ kind: 'copyRenames', renames }),
};

const deliveryTable: Table<Delivery> = {
  rows: 'webhook deliveries',
  page: (store, after, limit) => store.read({ kind: 'scanDeliveries', after, limit }),
  add: (store, deliveries) => store.write({ kind: 'copyDeliveries', deliveries }),
};

/** The time of the first failure decides when an endpoint is disabled. */
const failingEndpointTable: Table<FailingEndpoint> = {
  rows: 'failing webhook endpoints',
  page: (store, after, limit) => store.read({ kind: 'scanFailingEndpoints', after, limit }),
  add: (store, endpoints) =>
    Promise.all(
      endpoints.map(({ failingSince: since, ...endpoint }) =>
        store.write({ kind: 'setFailingSince', endpoint, since }),
      ),
    ),
};

const usageTable: Table<UsageCount> = {
  rows: 'counts of usage',
  reportedAs: 'usage',
  page: (store, after, limit) => store.read({ kind: 'scanUsage', after, limit }),
  add: (store, counts) => store.write({ kind: 'copyUsage', counts }),
};

/** In the order in which they are compared: events of other API tokens differ too. */
const copiedTables: Record<CopiedTable, Table<object>> = {
  user_groups: userGroupTable,
  workspaces: workspaceTable,
  api_tokens: apiTokenTable,
  documents: documentTable,
  events: eventTable,
  user_group_renames: renameTable,
  deliveries: deliveryTable,
  failing_webhook_endpoints: failingEndpointTable,
  usage_counts: usageTable,
};

const PAGE_BYTES = 1024 * 1024;

class TableCopy {
  readonly name: CopiedTable;
  readonly #table: Table<object>;
  readonly #from: BatchingStore;
  readonly #to: BatchingStore;
  /** Last row that the target already had. */
  #last: object | null = null;
  #existing = 0;
  #copied = 0;

  constructor(name: CopiedTable, { from, to }: CopyJob) {
    this.name = name;
    this.#table = copiedTables[name];
    this.#from = from;
    this.#to = to;
  }

  get reportedAs(): string {
    return this.#table.reportedAs ?? this.name;
  }

  /** Throws `DatabasesDiffer` if the rows of the target are not a prefix of the rows of the source. */
  async compare(onRows: OnRows): Promise<void> {
    for await (const page of this.#pages(this.#to, null)) {
      const expected = await this.#table.page(this.#from, this.#last, page.length);
      if (comparedText(page) !== comparedText(expected))
        throw new DatabasesDiffer(
          `the target contains ${this.#table.rows} that differ from those of the source; nothing was changed. Copy needs an empty target, ` +
            'or one left by an interrupted copy of the same source. If the source has changed since that copy, empty the target first',
        );
      this.#last = expected.at(-1)!;
      this.#existing += page.length;
      onRows(page.length);
    }
  }

  async copyMissing(onRows: OnRows): Promise<void> {
    for await (const page of this.#pages(this.#from, this.#last)) {
      await this.#table.add(this.#to, page);
      this.#copied += page.length;
      onRows(page.length);
    }
  }

  /** Throws `DatabasesDiffer` if source and target differ. */
  async verify(onRows: OnRows): Promise<TableReport> {
    const [source, target] = await Promise.all([
      this.#digest(this.#from, (page) => onRows(page.length)),
      this.#digest(this.#to, (page) => this.#table.verify?.(this.#to, page)),
    ]);
    if (source.digest !== target.digest) {
      throw new DatabasesDiffer(
        `verification failed, the target differs from the source: digests differ; the source has ${source.count} ${this.#table.rows}, the target ${target.count}. ` +
          'A process may have served one of them during the copy: stop it, empty the target and run copy again',
      );
    }
    return { ...source, rows: this.#table.rows, copied: this.#copied };
  }

  async #digest(
    store: BatchingStore,
    onPage: (page: object[]) => unknown,
  ): Promise<{ count: number; digest: string }> {
    const hash = createHash('sha256');
    let count = 0;
    for await (const page of this.#pages(store, null)) {
      for (const row of page) hash.update(`${comparedText([row])}\n`);
      count += page.length;
      await onPage(page);
    }
    return { count, digest: hash.digest('hex') };
  }

  #pages(store: BatchingStore, first: object | null): AsyncGenerator<object[]> {
    return pagesAfter(first, (after) => this.#table.page(store, after, PAGE));
  }
}

/** Leaves out the positions of events, which are numbered differently in each database. */
function comparedText(rows: readonly object[]): string {
  return JSON.stringify(rows.map((row) => ({ ...row, position: undefined })));
}
