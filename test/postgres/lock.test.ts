// Concurrent commands of several processes lock rows in the same order. If another client does not,
// PostgreSQL resolves the deadlock and the command is retried.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Bucket } from '../../src/domain/bucket.ts';
import type { DocumentKey } from '../../src/domain/document.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { environments, type Tenant } from '../../src/domain/tenant.ts';
import type { TokenDigest } from '../../src/domain/token.ts';
import { type UserGroupKey, userGroupKey } from '../../src/domain/user-group/user-group.ts';
import type {
  Delivery,
  FinishedAttempt,
  WebhookEndpointKey,
} from '../../src/domain/webhook-endpoint/delivery.ts';
import type { Command, LeasedIds, Store } from '../../src/store/port.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { postgres, type TestDatabase } from '../support/database.ts';
import { mapConcurrently } from '../support/http.ts';
import { optionsFor } from '../support/postgres/options.ts';
import { eventually, served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { runSql, SqlConnection } from '../support/sql.ts';
import { suiteStack } from '../support/suite.ts';

const ROUNDS = 60;
const RENAME_ROUNDS = 20;
const RENAMES = 5;
const DOCUMENT_ROUNDS = 10;
const IMPORTS = 15;
const IMPORTED = 200;
/** On a busy machine, waiting for a lock may take seconds without a deadlock. */
const LONG_STATEMENT_MS = 30_000;
const TENANT = { workspaceId: 1, environment: 'Customer' } as const;
const ENVIRONMENTS: readonly Tenant[] = [1, 2, 3].flatMap((workspaceId) =>
  environments.map((environment) => ({ workspaceId, environment })),
);
const KEYS = Array.from({ length: 20 }, (_, index) => userGroupKey(TENANT, `group-${index}`));

describe('updates of the same user groups', () => {
  const stack = suiteStack();
  let database: TestDatabase;
  let store: Store;
  before(async () => {
    database = stack.use(await postgres.create());
    store = await openStore(database.url);
    stack.defer(() => store.close());
    const [leased] = await store.write([{ kind: 'leaseIds', sequence: 'team_id', count: KEYS.length }]);
    await store.write(KEYS.map((key, index) => create(key, index, leased as LeasedIds)));
  });

  it('sent concurrently in random order to three processes do not deadlock', async () => {
    const deadlocks = await deadlocksOf(database, 3, (stores) => {
      const updating = [...stores, ...stores].map(async (each, lane) => {
        for (let round = 0; round < ROUNDS; round++) {
          const batch = shuffled(KEYS).slice(Math.random() * KEYS.length);
          await each.write(batch.map((key) => update(key, `${lane} ${round}`)));
        }
      });
      return Promise.all(updating);
    });
    assert.equal(deadlocks, 0);
  });

  it('and renames between their ids do not deadlock', async () => {
    const deadlocks = await deadlocksOf(database, 3, (stores) => {
      const renaming = [...stores, ...stores].map(async (each) => {
        for (let round = 0; round < RENAME_ROUNDS; round++) {
          const keys = shuffled(KEYS);
          const batch = keys.slice(0, RENAMES).map((key, index) => rename(key, keys.at(-1 - index)!));
          for (const command of batch) assert.deepEqual(await each.write([command]), ['id_taken']);
        }
      });
      return Promise.all(renaming);
    });
    assert.equal(deadlocks, 0);
  });

  it('and renames of a group that is created meanwhile do not deadlock', async () => {
    const appearing = userGroupKey(TENANT, 'appearing');
    await store.write([put(TENANT, 0)]);
    await using holder = await SqlConnection.open(database.url);
    await using other = await SqlConnection.open(database.url);
    const deadlocks = await deadlocksOf(
      database,
      1,
      async ([renaming]) => {
        const lock = 'select 1 from environments for update';
        await holder.query(`begin; ${lock}`);
        // Stale because of the configuration, whose environment it has locked by then.
        const first = {
          ...rename(KEYS[0]!, userGroupKey(TENANT, 'free')),
          expected: { keyId: 'key', ciphertext: 'ciphertext-0' },
          config: { tenant: TENANT, version: -1, changes: [] },
        };
        const renamed = renaming!.write([first, rename(KEYS[1]!, appearing)]);
        await eventually('the first rename to wait', async () => (await countWaiting(holder)) === 1);
        const [leased] = await store.write([{ kind: 'leaseIds', sequence: 'team_id', count: 1 }]);
        const created = create(appearing, 0, leased as LeasedIds);
        await store.write([{ ...created, tokenDigest: 'digest-appearing' as TokenDigest }]);
        await other.query("begin; select 1 from user_groups where provided_id = 'appearing' for update");
        const locked = other.query(lock);
        await eventually('the other transaction to wait', async () => (await countWaiting(holder)) === 2);
        await holder.query('commit');
        await locked;
        await other.query('commit');
        assert.equal((await renamed)[0], 'stale');
      },
      LONG_STATEMENT_MS,
    );
    assert.equal(deadlocks, 0);
  });

  it('and changes of documents of several environments in random order do not deadlock', async () => {
    const deadlocks = await deadlocksOf(database, 3, (stores) => {
      const changing = stores.map(async (each) => {
        for (let round = 0; round < DOCUMENT_ROUNDS; round++) {
          await each.write(shuffled(ENVIRONMENTS).map((tenant) => put(tenant, round)));
          await each.write(shuffled(ENVIRONMENTS).map((tenant) => remove(tenant)));
          await each.write(shuffled(ENVIRONMENTS).map((tenant) => change(tenant)));
        }
      });
      return Promise.all(changing);
    });
    assert.equal(deadlocks, 0);
  });

  it('and renames in several environments in random order do not deadlock with changes of documents', async () => {
    const [leased] = await store.write([
      { kind: 'leaseIds', sequence: 'team_id', count: ENVIRONMENTS.length },
    ]);
    const keys = ENVIRONMENTS.map((tenant) => userGroupKey(tenant, 'moving'));
    await store.write(
      keys.map((key, index) => ({
        ...create(key, index, leased as LeasedIds),
        tokenDigest: `digest-moving-${index}` as TokenDigest,
      })),
    );
    // Stale because of the configuration, whose row they have locked by then.
    const stale = (key: UserGroupKey): Command => {
      const { workspaceId, environment } = key;
      const index = keys.indexOf(key);
      return {
        ...rename(key, userGroupKey(key, 'moved')),
        expected: { keyId: 'key', ciphertext: `ciphertext-${index}` },
        config: { tenant: { workspaceId, environment }, version: -1, changes: [] },
      };
    };
    const deadlocks = await deadlocksOf(database, 3, (stores) => {
      const changing = stores.map(async (each, process) => {
        for (let round = 0; round < DOCUMENT_ROUNDS; round++) {
          if (process === 0) {
            for (const key of shuffled(keys)) assert.deepEqual(await each.write([stale(key)]), ['stale']);
          } else await each.write(shuffled(ENVIRONMENTS).map((tenant) => put(tenant, round)));
        }
      });
      return Promise.all(changing);
    });
    assert.equal(deadlocks, 0);
  });

  it('and imports of the same tokens in opposite order do not deadlock', async () => {
    const deadlocks = await deadlocksOf(database, 2, async (stores) => {
      for (let round = 0; round < IMPORTS; round++) {
        const importing = stores.map(async (each, index) => {
          const [leased] = await each.write([{ kind: 'leaseIds', sequence: 'team_id', count: IMPORTED }]);
          const batch = Array.from({ length: IMPORTED }, (_, position) =>
            importOf(`import-${round}-${position}`, position, leased as LeasedIds),
          );
          await each.write(index === 0 ? batch : batch.toReversed());
        });
        await Promise.all(importing);
      }
    });
    assert.equal(deadlocks, 0);
  });

  it('lock groups in the order of keys, even if only the second update of the first group changes it', async () => {
    const [first, second] = [KEYS[0]!, KEYS[1]!].sort((a, b) => a.bucket - b.bucket);
    await store.write([update(first!, 'same'), update(second!, 'same')]);
    await using other = await SqlConnection.open(database.url);
    await other.query('begin');
    await touch(other, first!.providedId);
    const batch = [update(first!, 'same'), update(second!, 'changed'), update(first!, 'changed')];
    const updated = store.write(batch);
    await sleep(200);
    // Fails if the waiting batch has locked this row.
    const lock = 'select 1 from user_groups where provided_id = $1 for update nowait';
    await other.query(lock, [second!.providedId]);
    await other.query('commit');
    const names = (await updated).map((group) => (group as { name: string }).name);
    assert.deepEqual(names, ['same', 'changed', 'changed']);
  });

  it('that deadlock with a transaction of another client are retried', async () => {
    const [first, second] = [KEYS[0]!, KEYS[1]!].sort((a, b) => a.bucket - b.bucket);
    await using other = await SqlConnection.open(database.url);
    await other.query('begin');
    await touch(other, second!.providedId);
    const updated = store.write([update(first!, 'retried'), update(second!, 'retried')]);
    await sleep(200);
    await touch(other, first!.providedId);
    await other.query('commit');
    for (const group of await updated) assert.equal((group as { name: string }).name, 'retried');
  });
});

describe('updates and rotations of the same user groups', () => {
  const GROUPS = 400;
  const BUSY_GROUPS = 6;
  const LANES = 32;
  const CALLS = 40;

  it('sent concurrently to two processes do not deadlock', async () => {
    const env = { UGS_POSTGRES_STATEMENT_TIMEOUT_MS: String(LONG_STATEMENT_MS) };
    const first = await TestService.start(postgres, { env });
    const second = await TestService.start(postgres, { database: first.database, env });
    try {
      const ids = Array.from({ length: GROUPS }, (_, index) => `group-${index}`);
      const create = (id: string) => served(() => first.get({ user_group_id: id, name: 'New' }));
      const made = await mapConcurrently(ids, create);
      await runSql(first.database, 'analyze user_groups');
      const tokens = new Map(
        made.slice(0, BUSY_GROUPS).map(({ json }, index) => [ids[index]!, json.user_group.token as string]),
      );
      const lane = async (index: number): Promise<void> => {
        for (let call = 0; call < CALLS; call++) {
          const service = (index + call) % 2 === 0 ? first : second;
          const [id, token] = shuffled([...tokens])[0]!;
          // An update without a change locks nothing, but the next update of the same group does.
          const response = await [
            () => service.put({ user_group_id: id, name: `${index} ${call}` }),
            () => service.put({ user_group_id: id, name: 'Same' }),
            () => service.post({ current_token: token }),
          ][(call >> 1) % 3]!();
          assert.ok(
            response.status === 200 || response.json.code === 'user_group_token_not_found',
            response.text,
          );
          tokens.set(id, response.json.user_group?.token ?? tokens.get(id));
        }
      };
      await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
    } finally {
      await Promise.all([first.stop(), second.stop()]);
    }
    assert.equal(await countDeadlocks(first.database), 0);
    await first.database.drop();
  });
});

describe('changes of documents that wait for another process', () => {
  it('leave one of two batches to other workspaces', async () => {
    const env = { UGS_POSTGRES_STATEMENT_TIMEOUT_MS: String(LONG_STATEMENT_MS) };
    const service = await TestService.start(postgres, { env, returnsOverloaded: true });
    try {
      const { token } = await service.apiToken({ permission: 'admin', workspaceName: 'other' });
      const change = (method: string, path: string, body?: object) =>
        service.call(method, path, body, { token });
      for (const id of ['a', 'b']) await change('PUT', `/v1/schemas/${id}`, { name: id });
      const url = 'https://example.com';
      await change('PUT', '/v1/webhook-endpoints/hook', { url, event_types: ['user_group.created'] });
      await service.get({ user_group_id: 'acme', name: 'Acme' });
      await using other = await SqlConnection.open(service.database.url);
      // The row that every change of a document locks, for as long as another process applies a configuration.
      await other.query('begin; select 1 from environments for update');
      const changes = [
        change('PUT', '/v1/schemas/a', { name: 'changed' }),
        change('DELETE', '/v1/schemas/b'),
        change('PUT', '/v1/config', { version: 1, schemas: { c: { name: 'c' } } }),
        change('POST', '/v1/webhook-endpoints/hook/test'),
      ];
      await eventually('a change to wait', async () => (await countWaiting(other)) > 0);
      const { status } = await service.put({ user_group_id: 'acme', name: 'Changed' });
      assert.deepEqual([status, await countWaiting(other)], [200, 1]);
      await other.query('commit');
      await Promise.all(changes);
    } finally {
      await service.stop();
    }
    await service.database.drop();
  });
});

describe('changes of the same webhook deliveries', () => {
  const DELIVERY_ROUNDS = 5;
  const endpoints = ['a', 'b', 'c'].map((endpointId) => ({ ...TENANT, endpointId }));
  const deliveries = endpoints.flatMap((endpoint) =>
    Array.from({ length: 40 }, (_, index) => deliveryTo(endpoint, `evt_0${index + 10}`)),
  );

  it('sent concurrently to three processes do not deadlock', async () => {
    await using database = await postgres.create();
    const range = { before: Number.MAX_SAFE_INTEGER, limit: 30 };
    const pending = { tag: null, error: 'disabled', limit: 30 };
    const works: (() => Command[])[] = [
      () => shuffled(endpoints).map((endpoint) => claim(endpoint)),
      () => [{ kind: 'finishAttempts', attempts: shuffled(deliveries).map(failedAttempt) }],
      () => shuffled(endpoints).map((endpoint) => ({ kind: 'cancelDeliveries', endpoint, ...pending })),
      () => shuffled(endpoints).map((endpoint) => retryFailed(endpoint)),
      () =>
        shuffled(endpoints).map((endpoint) => ({
          kind: 'retryDelivery',
          endpoint,
          eventId: 'evt_010',
          now: 1,
        })),
      () => shuffled(endpoints).map((endpoint) => ({ kind: 'setFailingSince', endpoint, since: 1 })),
      () => shuffled(endpoints).map((endpoint) => ({ kind: 'setFailingSince', endpoint, since: null })),
      () => shuffled(endpoints).map((endpoint) => ({ kind: 'deleteOldDeliveries', endpoint, ...range })),
      () => [{ kind: 'copyDeliveries', deliveries }],
    ];
    let deleted = 0;
    const work = (stores: readonly Store[]) => {
      const changing = [...stores, ...stores].map(async (store) => {
        for (let round = 0; round < DELIVERY_ROUNDS; round++)
          for (const commands of shuffled(works))
            for (const result of await store.write(commands()))
              deleted += result instanceof Object && 'deleted' in result ? result.deleted : 0;
      });
      return Promise.all(changing);
    };
    assert.equal(await deadlocksOf(database, 3, work, LONG_STATEMENT_MS), 0);
    assert.ok(deleted > deliveries.length, `${deleted} deleted`);
  });
});

describe('deletions of old rows', () => {
  const range = { before: Number.MAX_SAFE_INTEGER, limit: 30 };
  const stack = suiteStack();
  let database: TestDatabase;
  let store: Store;
  before(async () => {
    database = stack.use(await postgres.create());
    await using owner = await SqlConnection.open(database.url);
    // Plans without it read rows in the order in which they are stored.
    await owner.query(`alter database ${owner.database} set enable_indexscan = off`);
    store = await openStore(database.url);
    stack.defer(() => store.close());
  });

  /** Fails if the command locks the second row before the first. */
  async function assertLocksFirst(first: string, second: string, command: Command): Promise<unknown> {
    await using other = await SqlConnection.open(database.url);
    await other.query(`begin; select 1 from ${first} for update`);
    const result = store.write([command]);
    await eventually('the command to wait', async () => (await countWaiting(other)) === 1);
    await other.query(`select 1 from ${second} for update nowait`);
    await other.query('commit');
    return (await result)[0];
  }

  it('lock webhook deliveries in the order of their events, as other changes of them do', async () => {
    const endpoint = { ...TENANT, endpointId: 'hook' };
    const deliveries = ['evt_02', 'evt_01'].map((id) => deliveryTo(endpoint, id));
    for (const command of [
      { kind: 'deleteOldDeliveries', endpoint, ...range },
      { kind: 'deleteDeliveries', endpoint, limit: 30 },
    ] as const) {
      await store.write([{ kind: 'copyDeliveries', deliveries }]);
      const [first, second] = ['evt_01', 'evt_02'].map((id) => `deliveries where event_id = '${id}'`);
      await assertLocksFirst(first!, second!, command);
      assert.deepEqual(await runSql(database, 'select event_id from deliveries'), [], command.kind);
    }
  });

  it('lock the positions before events, and these in the order of an erasure of changes', async () => {
    const [later, earlier] = [32, 16].map(
      (position) =>
        `(1, 1, 'Customer', 'user_group', 'acme', ${position}, 'evt_${position}', 'user_group.updated', 1, '')`,
    );
    const insert = `
      insert into events (bucket, workspace_id, environment, target_type, target_id, position, event_id, type, occurred_at, actor)
      values ${later}, ${earlier}`;
    const [first, second] = [16, 32].map((position) => `events where position = ${position}`);
    for (const [before, after] of [
      ['event_positions', first],
      [first, second],
    ]) {
      await runSql(database, insert);
      const deletion = { kind: 'deleteOldEvents', tenant: TENANT, ...range } as const;
      const result = await assertLocksFirst(before!, after!, deletion);
      assert.deepEqual(result, { deleted: 2, hasMore: false, next: [32] });
    }
  });
});

/** Returns the number of deadlocks between processes that work concurrently. */
async function deadlocksOf(
  database: TestDatabase,
  processes: number,
  work: (stores: readonly Store[]) => Promise<unknown>,
  statementTimeoutMs?: number,
): Promise<number> {
  const opening = Array.from({ length: processes }, () => openStore(database.url, statementTimeoutMs));
  const stores = await Promise.all(opening);
  try {
    await work(stores);
  } finally {
    for (const each of stores) await each.close();
  }
  return countDeadlocks(database);
}

/** Returns the number of deadlocks. PostgreSQL reports those of a session when the session ends. */
async function countDeadlocks(database: TestDatabase): Promise<number> {
  const count = 'select deadlocks::integer from pg_stat_database where datname = current_database()';
  const [row] = await runSql(database, count);
  return (row as { deadlocks: number }).deadlocks;
}

/** Counts the sessions that wait for a lock. */
async function countWaiting(connection: SqlConnection): Promise<number> {
  // Within a transaction, PostgreSQL returns the same list of sessions every time.
  await connection.query('select pg_stat_clear_snapshot()');
  const { rowCount } = await connection.query(
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  return rowCount!;
}

function openStore(url: string, statementTimeoutMs = 4_000): Promise<Store> {
  return openPostgresStore(optionsFor(url, { poolSize: 4, statementTimeoutMs }));
}

function create(key: UserGroupKey, index: number, { first, lease }: LeasedIds): Command<'createUserGroup'> {
  return {
    kind: 'createUserGroup',
    key,
    teamId: first + index,
    lease,
    name: 'New',
    mapping: null,
    properties: null,
    suspendedAt: null,
    tokenDigest: `digest-${index}` as TokenDigest,
    sealedToken: { keyId: 'key', ciphertext: `ciphertext-${index}` },
    now: 1,
  };
}

function importOf(providedId: string, index: number, leased: LeasedIds): Command<'importUserGroup'> {
  const claim = `~digest-${providedId}` as TokenDigest;
  const group = create(userGroupKey(TENANT, providedId), index, leased);
  return { ...group, kind: 'importUserGroup', tokenDigest: claim, claim, issued: null };
}

function update(key: UserGroupKey, name: string): Command<'updateUserGroup'> {
  return { kind: 'updateUserGroup', key, name, now: 2 };
}

function rename(key: UserGroupKey, to: UserGroupKey): Command<'renameUserGroup'> {
  const sealedToken = { keyId: 'key', ciphertext: 'renamed' };
  const tokenDigest = 'digest-renamed' as TokenDigest;
  return {
    kind: 'renameUserGroup',
    key,
    to,
    expected: sealedToken,
    tokenDigest,
    sealedToken,
    config: { tenant: TENANT, version: 0, changes: [] },
    now: 2,
  };
}

/** Returns a delivery that is due at 1, as the commands below leave it. */
function deliveryTo(endpoint: WebhookEndpointKey, eventId: string): Delivery {
  return {
    ...endpoint,
    bucket: 1 as Bucket,
    eventId,
    eventType: 'user_group.created',
    target: { type: 'user_group', id: 'acme' },
    position: 1,
    state: 'pending',
    attempts: 0,
    nextAttemptAt: 1,
    lastAttemptAt: null,
    responseStatus: null,
    error: null,
    createdAt: 1,
    attemptLog: null,
  };
}

function claim(endpoint: WebhookEndpointKey): Command<'claimDeliveries'> {
  return { kind: 'claimDeliveries', endpoint, due: { from: 0, to: 1 }, until: 1, limit: 30 };
}

function failedAttempt(key: Delivery): FinishedAttempt {
  const outcome = { responseStatus: null, error: 'failed', attemptLog: '[]' };
  return { key, claimedUntil: 1, state: 'pending', nextAttemptAt: 1, attemptedAt: 1, ...outcome };
}

function retryFailed(endpoint: WebhookEndpointKey): Command<'retryFailedDeliveries'> {
  return { kind: 'retryFailedDeliveries', endpoint, after: '', now: 1, limit: 30 };
}

function put(tenant: Tenant, round: number): Command<'putDocument'> {
  const limit = { documents: 10, bytes: 1_000 };
  return { kind: 'putDocument', key: documentKey(tenant), body: `{"n":${round}}` as JsonText, limit, now: 2 };
}

function remove(tenant: Tenant): Command<'deleteDocument'> {
  return { kind: 'deleteDocument', key: documentKey(tenant) };
}

function change(tenant: Tenant): Command<'changeConfig'> {
  return { kind: 'changeConfig', tenant, version: 0, changes: [] };
}

function documentKey(tenant: Tenant): DocumentKey {
  return { ...tenant, kind: 'schema', id: '40' };
}

function touch(client: pg.Client, providedId: string): Promise<unknown> {
  return client.query('update user_groups set updated_at = 3 where provided_id = $1', [providedId]);
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
