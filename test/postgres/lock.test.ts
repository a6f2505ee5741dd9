// Commands that come to several processes at once lock rows in one order. Where somebody else does not, PostgreSQL
// ends the deadlock and the command is tried again.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Secret } from '../../src/domain/secret.ts';
import type { TokenDigest } from '../../src/domain/token.ts';
import { keyOf } from '../../src/domain/user-group.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import type { Command, LeasedIds, Store } from '../../src/store/store.ts';
import { postgres, type TestDatabase } from '../database.ts';
import { inLanes } from '../http.ts';
import { TestService } from '../service.ts';
import { runSql } from '../sql.ts';

const PROCESSES = 3;
const ROUNDS = 200;
const KEYS = Array.from({ length: 20 }, (_, index) => keyOf(1, 'Customer', `group-${index}`));

describe('updates of the same user groups', () => {
  let database: TestDatabase;
  const stores: Store[] = [];
  before(async () => {
    database = await postgres.create();
    for (let index = 0; index < PROCESSES; index++) stores.push(await openStore(database.url));
    const [leased] = await stores[0]!.write([{ kind: 'leaseIds', sequence: 'team_id', count: KEYS.length }]);
    await stores[0]!.write(KEYS.map((key, index) => create(key, index, leased as LeasedIds)));
  });
  after(async () => {
    for (const store of stores) await store.close();
    await database.drop();
  });

  it('that come in any order to three processes at once do not deadlock', async () => {
    let longestMs = 0;
    const updating = [...stores, ...stores].map(async (store, lane) => {
      for (let round = 0; round < ROUNDS; round++) {
        const batch = shuffled(KEYS).slice(Math.random() * KEYS.length);
        const sentAt = performance.now();
        await store.write(batch.map((key) => update(key, `${lane} ${round}`)));
        longestMs = Math.max(longestMs, performance.now() - sentAt);
      }
    });
    await Promise.all(updating);
    // PostgreSQL looks for a deadlock when a lock has been waited for that long.
    assert.ok(longestMs < 1_000, `${longestMs} ms`);
  });

  it('that deadlock with a transaction of somebody else are tried again', async () => {
    const [first, second] = [KEYS[0]!, KEYS[1]!].sort((a, b) => a.bucket - b.bucket);
    const other = new pg.Client(database.url);
    await other.connect();
    try {
      await other.query('begin');
      await touch(other, second!.providedId);
      const updated = stores[0]!.write([update(first!, 'tried again'), update(second!, 'tried again')]);
      await sleep(200);
      await touch(other, first!.providedId);
      await other.query('commit');
      for (const group of await updated) assert.equal((group as { name: string }).name, 'tried again');
    } finally {
      await other.end();
    }
  });
});

describe('updates and rotations of the same user groups', () => {
  const GROUPS = 400;
  const BUSY_GROUPS = 6;
  const LANES = 32;
  const CALLS = 40;

  it('that come at once to two processes do not deadlock', async () => {
    const first = await TestService.start(postgres);
    const second = await TestService.start(postgres, { database: first.database });
    try {
      const ids = Array.from({ length: GROUPS }, (_, index) => `group-${index}`);
      const made = await inLanes(ids, (id) => first.get({ user_group_id: id, name: 'New' }));
      await runSql(first.database, 'analyze user_groups');
      const tokens = new Map(
        made.slice(0, BUSY_GROUPS).map(({ json }, index) => [ids[index]!, json.user_group.token as string]),
      );
      const lane = async (index: number): Promise<void> => {
        for (let call = 0; call < CALLS; call++) {
          const service = (index + call) % 2 === 0 ? first : second;
          const [id, token] = shuffled([...tokens])[0]!;
          // An update that changes nothing locks nothing, and the next one of the same group does.
          const answer = await [
            () => service.put({ user_group_id: id, name: `${index} ${call}` }),
            () => service.put({ user_group_id: id, name: 'Same' }),
            () => service.post({ current_token: token }),
          ][(call >> 1) % 3]!();
          assert.ok(answer.status === 200 || answer.json.code === 'user_group_token_not_found', answer.text);
          tokens.set(id, answer.json.user_group?.token ?? tokens.get(id));
        }
      };
      await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
    } finally {
      // PostgreSQL counts the deadlocks of a session when that ends.
      await Promise.all([first.stop(), second.stop()]);
    }
    const count = 'select deadlocks::integer from pg_stat_database where datname = current_database()';
    assert.deepEqual(await runSql(first.database, count), [{ deadlocks: 0 }]);
    await first.database.drop();
  });
});

function openStore(url: string): Promise<Store> {
  return openPostgresStore({
    url: new Secret(url),
    poolSize: 4,
    connectTimeoutMs: 5_000,
    statementTimeoutMs: 4_000,
    sessionSettings: true,
    preparedStatements: true,
  });
}

function create(
  key: (typeof KEYS)[number],
  index: number,
  { first, lease }: LeasedIds,
): Command<'createUserGroup'> {
  return {
    kind: 'createUserGroup',
    key,
    teamId: first + index,
    lease,
    name: 'New',
    mapping: null,
    properties: null,
    tokenDigest: `digest-${index}` as TokenDigest,
    sealedToken: { keyId: 'key', ciphertext: `ciphertext-${index}` },
    now: 1,
  };
}

function update(key: (typeof KEYS)[number], name: string): Command<'updateUserGroup'> {
  return { kind: 'updateUserGroup', key, name, now: 2 };
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
