// A service that starts before its database or during an outage: it retries transient failures, and exits
// with a one-line error for permanent ones.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { postgres } from '../support/database.ts';
import { Installation, RECOVERY_LIMIT_MS } from '../support/faults/installation.ts';
import { FaultProxy } from '../support/faults/proxy.ts';
import { eventually, Folder, Program, run } from '../support/process.ts';
import { runSql } from '../support/sql.ts';

const UNAVAILABLE = 69;
const CONFIG = 78;
const READ_ONLY = '25006';
const ONE_LINE = /^user-group-service: PostgreSQL: [^\n]+\n$/;
/** Much shorter than the maximum wait at start, even on a busy machine. */
const END_LIMIT_MS = 30_000;
/** Settings with which nothing that waits for a server ends within the limit. */
const LONG_TIMEOUTS = {
  UGS_POSTGRES_CONNECT_TIMEOUT_MS: '120000',
  UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '120000',
};
/** Longer than a server may take to respond by default. */
const LONG_MS = 3_000;
/** Delay of each response of a slow database. */
const SLOW_MS = 300;
const AWAY = /"reason":"PostgreSQL: [^"]+","msg":"database unavailable"/;

const UNDO_NEWEST_MIGRATIONS = `
  drop table usage_counts, environment_figures, user_group_renames;
  drop table environments, documents, event_positions, events, deliveries, failing_webhook_endpoints;
  alter table user_groups drop column suspended_at, drop column last_seen_at;
  drop index api_tokens_workspace_id_environment_api_token_id, api_tokens_expires_at, api_tokens_unrevoked, api_tokens_revoked;
  alter table api_tokens drop column previous_digest, drop column previous_expires_at, drop column last_used_at;
  delete from id_blocks where sequence = 'data_source_id';
  delete from schema_migrations where number >= 5`;

describe('A service that starts', () => {
  let site: Installation;
  before(async () => {
    // The token that it creates creates the tables.
    site = await Installation.start({ processes: 0 });
  });
  beforeEach(async () => {
    site.proxy.heal();
    await site.proxy.accept();
  });
  after(() => site[Symbol.asyncDispose]());

  // Concurrently, because these tests mostly wait.
  describe('while the database', { concurrency: true }, () => {
    for (const [title, fail] of [
      ['refuses connections', (proxy: FaultProxy) => proxy.refuse()],
      ['is unresponsive', async (proxy: FaultProxy) => proxy.silence('all')],
      [
        'is unresponsive after connecting',
        async (proxy: FaultProxy) => proxy.silenceAfter('show server_version'),
      ],
    ] as const)
      describe(title, { concurrency: false }, () => describeFailure(fail));
  });

  function describeFailure(fail: (proxy: FaultProxy) => Promise<void>): void {
    let proxy: FaultProxy;
    let env: Record<string, string>;
    beforeEach(async () => {
      proxy = await FaultProxy.start(site.database.url);
      env = { ...site.env, DATABASE_URL: proxy.url };
      await fail(proxy);
    });
    afterEach(() => proxy[Symbol.asyncDispose]());

    it('waits, logs that once, and serves soon after the database is available', async (test) => {
      const bootedAt = performance.now();
      await using program = new Program(site.folder, ['serve'], { env });
      await program.says(AWAY);
      // On a busy machine, the rest of the start takes as long as what precedes the first failure.
      const limitMs = Math.max(RECOVERY_LIMIT_MS, performance.now() - bootedAt);
      await sleep(2_000);
      const startedAt = performance.now();
      proxy.heal();
      await proxy.accept();
      await program.says(/"msg":"database available again"/);
      await program.says(/"msg":"listening"/);
      const tookMs = performance.now() - startedAt;
      assert.ok(tookMs < limitMs, `${tookMs} ms`);
      test.diagnostic(`listens ${Math.round(tookMs)} ms after the database`);
      assert.equal(program.stdout.match(/"msg":"database unavailable"/g)?.length, 1);
      program.signal('SIGTERM');
      const { code, stderr } = await program.exit();
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    });

    it('exits with 69 and a one-line error after UGS_DATABASE_WAIT_MS', async () => {
      const startedAt = performance.now();
      const limited = { ...env, UGS_DATABASE_WAIT_MS: '1000' };
      const { code, stderr } = await run(site.folder, ['serve'], { env: limited });
      assert.equal(code, UNAVAILABLE);
      assert.match(stderr, ONE_LINE);
      assert.ok(performance.now() - startedAt < END_LIMIT_MS);
    });

    it('stops cleanly and immediately on SIGTERM', async () => {
      await using program = new Program(site.folder, ['serve'], { env: { ...env, ...LONG_TIMEOUTS } });
      await eventually('an attempt', () => (proxy.isSilent && proxy.opened > 0) || AWAY.test(program.stdout));
      await assertCancelled(program);
    });

    for (const args of [['migrate'], ['workspace', 'list']]) {
      it(`does not make "${args.join(' ')}" wait, which exits with 69 and a one-line error`, async () => {
        const startedAt = performance.now();
        const { code, stdout, stderr } = await run(site.folder, args, { env });
        assert.deepEqual({ code, stdout }, { code: UNAVAILABLE, stdout: '' });
        assert.match(stderr, ONE_LINE);
        assert.ok(performance.now() - startedAt < END_LIMIT_MS);
      });
    }
  }

  it('while the database is read-only logs the outage once and the recovery once', async () => {
    site.proxy.decide = (subject) => (subject === 'add_token_key' ? { code: READ_ONLY } : 'pass');
    await using program = new Program(site.folder, ['serve'], { env: site.env });
    await program.says(AWAY);
    await sleep(2_000);
    site.proxy.heal();
    await program.says(/"msg":"listening"/);
    assert.equal(program.stdout.match(/"msg":"database unavailable"/g)?.length, 1);
    assert.equal(program.stdout.match(/"msg":"database available again"/g)?.length, 1);
    program.signal('SIGTERM');
    assert.equal((await program.exit()).code, 0);
  });

  it('does not listen if a signal arrives while it opens a slow database', async () => {
    const opening = site.proxy.once('add_token_key', 'pass');
    await using program = new Program(site.folder, ['serve'], { env: site.env });
    site.proxy.delayMs = SLOW_MS;
    await opening;
    program.signal('SIGTERM');
    const { code, stdout, stderr } = await program.exit();
    site.proxy.delayMs = 0;
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, /"signal":"SIGTERM","msg":"startup cancelled by a signal"/);
    assert.doesNotMatch(stdout, /"msg":"listening"/);
  });

  it('stops immediately on SIGTERM while its threads open their first connections', async () => {
    const connecting = site.proxy.once('ping', 'silence');
    const env = { ...site.env, ...LONG_TIMEOUTS, UGS_THREADS: '2' };
    await using program = new Program(site.folder, ['serve'], { env });
    await connecting;
    await assertCancelled(program);
  });

  it('stops immediately on SIGTERM while one of several hosts does not answer', async () => {
    await using proxy = await FaultProxy.start(site.database.url);
    proxy.silence('all');
    const { host } = new URL(proxy.url);
    const DATABASE_URL = site.database.url.replace('@', `@${host},`);
    await using program = new Program(site.folder, ['serve'], {
      env: { ...site.env, ...LONG_TIMEOUTS, DATABASE_URL },
    });
    await eventually('a connection', () => proxy.opened > 0);
    await assertCancelled(program);
  });

  it('lets a command wait for a slow database as long as UGS_POSTGRES_CONNECT_TIMEOUT_MS', async () => {
    await using proxy = await FaultProxy.start(site.database.url);
    const asked = proxy.once('show server_version', 'pass');
    const env = { ...site.env, ...LONG_TIMEOUTS, DATABASE_URL: proxy.url };
    const running = run(site.folder, ['workspace', 'list'], { env });
    await asked;
    proxy.silence('open');
    await sleep(LONG_MS);
    proxy.heal();
    const { code, stderr } = await running;
    assert.equal(code, 0, stderr);
  });

  describe('exits immediately with a one-line error for a permanent failure:', () => {
    const stranger = `stranger_${randomBytes(8).toString('hex')}`;
    const reader = `reader_${randomBytes(8).toString('hex')}`;
    let operator: pg.Client;
    before(async () => {
      operator = await site.operator();
      for (const role of [stranger, reader]) {
        await operator.query(`create role ${role} login password '${role}'`);
      }
      await operator.query(`grant select on all tables in schema public to ${reader}`);
    });
    after(() => operator.query(`drop owned by ${reader}; drop role ${stranger}, ${reader}`));

    for (const [title, login, reason] of [
      ['a wrong password', { password: 'wrong' }, /password authentication failed/],
      ['no password', { password: '' }, /client password must be/],
      [
        'a user without privileges',
        { username: stranger, password: stranger },
        /permission denied for table/,
      ],
      ['a read-only user', { username: reader, password: reader }, /permission denied for table/],
      ['TLS, which the server does not support', { search: '?sslmode=verify-full' }, /does not support SSL/],
      ['an invalid option', { search: '?options=-c%20work_mem%3Dnone' }, /invalid value for parameter/],
      ['a missing schema', { search: '?options=-c%20search_path%3Dnone' }, /no schema has been/],
    ] as const) {
      it(title, async () => {
        using folder = new Folder();
        const { href } = Object.assign(new URL(site.database.url), login);
        const startedAt = performance.now();
        const env = { ...site.env, UGS_THREADS: '1', DATABASE_URL: href };
        const { code, stderr } = await run(folder, ['serve'], { env });
        assert.equal(code, UNAVAILABLE);
        assert.match(stderr, ONE_LINE);
        assert.match(stderr, reason);
        assert.ok(performance.now() - startedAt < END_LIMIT_MS);
      });
    }

    it('an empty database in which the user may create no table, with the command to run', async () => {
      using folder = new Folder();
      await using empty = await postgres.create();
      await runSql(empty, 'revoke create on schema public from public');
      const { href } = Object.assign(new URL(empty.url), { username: stranger, password: stranger });
      const { code, stderr } = await run(folder, ['serve'], { env: { ...empty.env, DATABASE_URL: href } });
      assert.equal(code, CONFIG);
      assert.match(
        stderr,
        /^user-group-service: .*\(.*permission denied for schema public\): run "user-group-service migrate".*\n$/,
      );
    });

    it('an older schema that the user may not migrate, with the command to run', async () => {
      using folder = new Folder();
      await operator.query(
        `grant select, insert, update, delete on all tables in schema public to ${reader}`,
      );
      await operator.query(UNDO_NEWEST_MIGRATIONS);
      const { href } = Object.assign(new URL(site.database.url), { username: reader, password: reader });
      const asUser = await run(folder, ['serve'], { env: { ...site.env, DATABASE_URL: href } });
      assert.equal(asUser.code, CONFIG);
      assert.match(
        asUser.stderr,
        /^user-group-service: .*the schema is older.*must be owner of table user_groups.*run "user-group-service migrate".*\n$/,
      );
      const asOwner = await run(folder, ['migrate'], {
        env: { ...site.env, DATABASE_URL: site.database.url },
      });
      assert.equal(asOwner.code, 0);
    });
  });
});

async function assertCancelled(program: Program): Promise<void> {
  const startedAt = performance.now();
  program.signal('SIGTERM');
  const { code, stdout, stderr } = await program.exit();
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.match(stdout, /"signal":"SIGTERM","msg":"startup cancelled by a signal"/);
  assert.ok(performance.now() - startedAt < END_LIMIT_MS);
}
