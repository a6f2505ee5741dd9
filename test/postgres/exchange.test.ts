// What is asked at one time travels together on one connection: what becomes of the rest where a part of it fails.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bucket } from '../../src/domain/bucket.ts';
import { startOf } from '../../src/domain/cursor.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { TokenDigest } from '../../src/domain/token.ts';
import type { PostgresOptions } from '../../src/store/postgres/options.ts';
import { ConnectionPool } from '../../src/store/postgres/pool.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import type { Query } from '../../src/store/store.ts';
import { postgres } from '../database.ts';
import { MessageSplitter } from '../faults/protocol.ts';
import { FaultProxy } from '../faults/proxy.ts';

const LIST = { workspaceId: 1, environment: 'Customer', search: '' } as const;

it('Queries of which one has failed ask nothing more on the connection that they have given back', async () => {
  const database = await postgres.create();
  await using proxy = await FaultProxy.start(database.url);
  const store = await openPostgresStore(optionsFor(proxy.url));
  try {
    proxy.delayMs = 10;
    proxy.decide = (subject) =>
      subject === 'find_user_groups_by_previous_token' ? { code: '57014' } : 'pass';
    const lists = Array.from({ length: 20 }, () => search());
    await assert.rejects(
      async () => store.read([...lists, findByUnknownToken()]),
      /PostgreSQL: refused by a test/,
    );
    let sent = '';
    proxy.listen = (bytes) => {
      sent += bytes.toString('latin1');
    };
    await sleep(200);
    assert.equal(sent, '');
  } finally {
    await store.close();
    await database.drop();
  }
});

it('One statement that is asked for twice at one time, on a connection that does not know it yet, is answered twice', () =>
  withPool(async (pool) => {
    const statement = { name: 'double', sql: 'select $1::integer * 2' };
    const rows = await pool.transaction(
      (session) => Promise.all([session.query(statement, [1]), session.query(statement, [2])]),
      true,
    );
    assert.deepEqual(rows, [[[2]], [[4]]]);
  }));

it('A transaction that the server has undone is not told as done', () =>
  withPool(async (pool) => {
    const undone = pool.transaction(async (session) => {
      await session.query({ name: 'divide', sql: 'select 1 / 0' }).catch(() => {});
    }, true);
    await assert.rejects(undone, /ROLLBACK/);
  }));

it('What was described once is not described again, also where it has no columns', () =>
  withPool(async (pool, proxy) => {
    const statement = {
      name: 'set_nothing',
      sql: "update id_blocks set next = next where sequence = 'none'",
    };
    const transact = () => pool.transaction((session) => session.query(statement), true);
    await openPostgresStore(optionsFor(proxy.url)).then((store) => store.close());
    await transact();
    const sent: Buffer[] = [];
    proxy.listen = (bytes) => sent.push(bytes);
    await transact();
    // Parse, Bind and Execute to begin, as it has no name; Bind and Execute; Sync; and the Query to commit.
    assert.equal(typesOf(Buffer.concat(sent)), 'PBEBESQ');
  }));

/** Each message of a client begins with a letter for its type. */
function typesOf(sent: Buffer): string {
  return new MessageSplitter('server')
    .push(sent)
    .map((message) => message.toString('latin1', 0, 1))
    .join('');
}

async function withPool(work: (pool: ConnectionPool, proxy: FaultProxy) => Promise<void>): Promise<void> {
  const database = await postgres.create();
  await using proxy = await FaultProxy.start(database.url);
  const pool = new ConnectionPool(optionsFor(proxy.url), false);
  try {
    await work(pool, proxy);
  } finally {
    await pool.close();
    await database.drop();
  }
}

function optionsFor(url: string): PostgresOptions {
  return {
    url: new Secret(url),
    poolSize: 1,
    connectTimeoutMs: 5_000,
    statementTimeoutMs: 5_000,
    sessionSettings: true,
    preparedStatements: true,
  };
}

function findByUnknownToken(): Query {
  return { kind: 'findUserGroupByToken', address: { bucket: 0 as Bucket, digest: 'unknown' as TokenDigest } };
}

function search(): Query {
  return { kind: 'searchUserGroups', list: LIST, from: startOf(LIST), limit: 10, maxBytes: 1_000 };
}
