// Concurrent queries are pipelined on one connection: what happens to the others if one fails.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bucket } from '../../src/domain/bucket.ts';
import type { TokenDigest } from '../../src/domain/token.ts';
import { listStart } from '../../src/domain/user-group/cursor.ts';
import type { Query } from '../../src/store/port.ts';
import { ConnectionPool } from '../../src/store/postgres/client/pool.ts';
import { runQueries } from '../../src/store/postgres/query-executors.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { postgres } from '../support/database.ts';
import { MessageSplitter } from '../support/faults/protocol.ts';
import { FaultProxy } from '../support/faults/proxy.ts';
import { optionsFor } from '../support/postgres/options.ts';

const LIST = { workspaceId: 1, environment: 'Customer', search: '' } as const;

it('Queries send nothing more on a released connection after one of them has failed', async () => {
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
    proxy.onClientData = (bytes) => {
      sent += bytes.toString('latin1');
    };
    await sleep(200);
    assert.equal(sent, '');
  } finally {
    await store.close();
    await database.drop();
  }
});

it('A statement executed twice concurrently on a connection where it is not prepared yet returns both results', () =>
  withPool(async (pool) => {
    const statement = { name: 'double', sql: 'select $1::integer * 2' };
    const rows = await pool.transaction(
      (session) => session.pipelined(() => [session.query(statement, [1]), session.query(statement, [2])]),
      true,
    );
    assert.deepEqual(rows, [[[2]], [[4]]]);
  }));

it('A transaction that the server rolled back is not reported as committed', () =>
  withPool(async (pool) => {
    const rolledBack = pool.transaction(async (session) => {
      await session.query({ name: 'divide', sql: 'select 1 / 0' }).catch(() => {});
    }, true);
    await assert.rejects(rolledBack, /ROLLBACK/);
  }));

it('A statement is described only once, even if it returns no columns', () =>
  withPool(async (pool, proxy) => {
    const statement = {
      name: 'set_nothing',
      sql: "update id_blocks set next = next where sequence = 'none'",
    };
    const transact = () => pool.transaction((session) => session.query(statement), true);
    await openPostgresStore(optionsFor(proxy.url)).then((store) => store.close());
    await transact();
    const sent: Buffer[] = [];
    proxy.onClientData = (bytes) => sent.push(bytes);
    await transact();
    // Parse, Bind and Execute for BEGIN, which is unnamed; Bind and Execute; Sync; and Query for COMMIT.
    assert.equal(typesOf(Buffer.concat(sent)), 'PBEBESQ');
  }));

it('Texts in an array arrive as they are', () =>
  withPool(async (pool) => {
    const texts = [
      '',
      'NULL',
      '{"a":"\\\\"}',
      '"\n"',
      '\\\t',
      '"\u007f\u0085',
      'a, {b}',
      '"\u{1f600}" ü\u2028',
      "'",
    ];
    const statement = { name: 'texts', sql: 'select text from unnest($1::text[]) as text' };
    const rows = await pool.run((session) => session.query(statement, [texts]));
    assert.deepEqual(rows.flat(), texts);
  }));

it('Queries of nested pipelines are sent in one pipeline, and later queries in another', () =>
  withPool(async (pool, proxy) => {
    const double = { name: 'double', sql: 'select $1::integer * 2' };
    const sent: Buffer[] = [];
    await pool.run(async (session) => {
      await session.query(double, [0]);
      proxy.onClientData = (bytes) => sent.push(bytes);
      await session.pipelined(() => [
        session.pipelined(() => [session.query(double, [1]), session.query(double, [2])]),
        session.query(double, [3]),
      ]);
      await session.query(double, [4]);
    });
    assert.equal(typesOf(Buffer.concat(sent)), 'BEBEBESBES');
  }));

it('Queries of a kind that has a statement for each of them travel together', () =>
  withPool(async (pool, proxy) => {
    await openPostgresStore(optionsFor(proxy.url)).then((store) => store.close());
    const queries = Array.from({ length: 20 }, (_, index): Query => {
      const endpoint = { workspaceId: 1, environment: 'Customer', endpointId: `endpoint-${index}` } as const;
      return { kind: 'findEndpointHealth', endpoint, atMost: 1 };
    });
    const countRoundTrips = async (batch: readonly Query[]) => {
      const sent: Buffer[] = [];
      proxy.onClientData = (bytes) => sent.push(bytes);
      await runQueries(pool, batch);
      return typesOf(Buffer.concat(sent)).split('S').length - 1;
    };
    await runQueries(pool, queries);
    const ofOne = await countRoundTrips(queries.slice(0, 1));
    const ofAll = await countRoundTrips(queries);
    assert.ok(ofAll < 2 * ofOne, `${ofAll} instead of ${ofOne} round trips`);
  }));

/** Returns the type of each message of a client, which is its first letter. */
function typesOf(sent: Buffer): string {
  return new MessageSplitter('server')
    .push(sent)
    .map((message) => message.toString('latin1', 0, 1))
    .join('');
}

async function withPool(work: (pool: ConnectionPool, proxy: FaultProxy) => Promise<void>): Promise<void> {
  const database = await postgres.create();
  await using proxy = await FaultProxy.start(database.url);
  const pool = new ConnectionPool(optionsFor(proxy.url));
  try {
    await work(pool, proxy);
  } finally {
    await pool.close();
    await database.drop();
  }
}

function findByUnknownToken(): Query {
  const address = { bucket: 0 as Bucket, digest: 'unknown' as TokenDigest };
  return { kind: 'findUserGroupByToken', address, tenant: null };
}

function search(): Query {
  return { kind: 'listUserGroups', list: LIST, from: listStart(LIST), limit: 10, maxBytes: 1_000 };
}
