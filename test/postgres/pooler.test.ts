// Contract: with two settings the service works behind a pooler that assigns each transaction to a different
// session and rejects session settings, such as PgBouncer before 1.21.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { databaseOf, postgres } from '../support/database.ts';
import { authenticates, errorResponse } from '../support/faults/protocol.ts';
import { FaultProxy } from '../support/faults/proxy.ts';
import { createApiToken, Folder, run, runHosted } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const LIMITS = [
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'plan_cache_mode',
];

describe('the session features of PostgreSQL that the service uses', () => {
  const database = databaseOf(postgres);

  /** Executes every operation once and returns the bytes sent to PostgreSQL. */
  async function sentWith(settings: Record<string, string>, parameters = ''): Promise<string> {
    await using proxy = await FaultProxy.start(database.url);
    const sent: Buffer[] = [];
    proxy.onClientData = (bytes) => sent.push(bytes);
    const env = { ...database.env, DATABASE_URL: `${proxy.url}?${parameters}`, ...settings };
    const service = await TestService.start(postgres, { database: { ...database, env } });
    const user_group_id = [...Object.keys(settings), parameters].join('-') || 'none';
    const created = await service.get({ user_group_id, name: 'A', properties: { a: 1 } });
    assert.equal(created.json.new_user_group, true);
    assert.equal((await service.put({ user_group_id, name: 'B' })).json.user_group.name, 'B');
    const rotated = await service.post({ current_token: created.json.user_group.token });
    assert.equal((await service.resolve(rotated.json.user_group.token)).status, 200);
    await service.stop();
    return Buffer.concat(sent).toString('latin1');
  }

  it('are named prepared statements and timeouts by default', async () => {
    const sent = await sentWith({});
    assert.match(sent, /find_user_groups/);
    for (const limit of LIMITS) assert.match(sent, new RegExp(limit));
  });

  it('also include the options of DATABASE_URL', async () => {
    const sent = await sentWith({}, 'options=-c%20work_mem%3D5MB');
    assert.match(sent, /-c work_mem=5MB/);
    for (const limit of LIMITS) assert.match(sent, new RegExp(limit));
  });

  it('include no named prepared statement if UGS_POSTGRES_PREPARED_STATEMENTS is off', async () => {
    const sent = await sentWith({ UGS_POSTGRES_PREPARED_STATEMENTS: 'off' });
    assert.doesNotMatch(sent, /find_user_groups|create_user_groups|update_user_groups|rotate_tokens/);
    assert.match(sent, /from unnest/);
  });

  it('include no session setting if UGS_POSTGRES_STATEMENT_TIMEOUT_MS is 0', async () => {
    const sent = await sentWith({ UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '0' });
    for (const limit of LIMITS) assert.doesNotMatch(sent, new RegExp(limit));
  });

  it('include no session setting in commands either', async () => {
    await using proxy = await FaultProxy.start(database.url);
    const sent: Buffer[] = [];
    proxy.onClientData = (bytes) => sent.push(bytes);
    using folder = new Folder();
    const env = { ...database.env, DATABASE_URL: proxy.url, UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '0' };
    await createApiToken(folder, [], { env });
    const text = Buffer.concat(sent).toString('latin1');
    assert.match(text, /insert into api_tokens/);
    for (const limit of LIMITS) assert.doesNotMatch(text, new RegExp(limit));
  });

  it('are named if the pooler rejects them: "serve" exits immediately, and "doctor" fails', async () => {
    await using proxy = await FaultProxy.start(database.url);
    let isRejected = false;
    proxy.onClientData = (bytes) => {
      if (bytes.includes('client_encoding')) isRejected = bytes.includes('statement_timeout');
    };
    const text = 'unsupported startup parameter: statement_timeout';
    const rejection = errorResponse({ code: '08P01', severity: 'FATAL', text });
    proxy.rewrite = (message) => (isRejected && authenticates(message) ? rejection : message);
    using folder = new Folder();
    const env = { ...database.env, DATABASE_URL: proxy.url, UGS_DATABASE_WAIT_MS: '600000' };
    const serving = await run(folder, ['serve', '--port', '0'], { env });
    assert.deepEqual(
      { code: serving.code, stderr: serving.stderr },
      { code: 69, stderr: `user-group-service: PostgreSQL: ${text}\n` },
    );
    const { code, stdout } = await runHosted(folder, ['doctor'], { env });
    assert.equal(code, 65);
    assert.match(stdout, new RegExp(`failed +server +PostgreSQL: ${text}\\. What to do: `));
    assert.match(stdout, /^ok +schema /m);
  });

  it('are missed by "doctor" if the pooler drops them', async () => {
    using folder = new Folder();
    const doctor = async (env: Record<string, string>) =>
      (await runHosted(folder, ['doctor'], { env: { ...database.env, ...env } })).stdout;
    assert.doesNotMatch(await doctor({}), /sessions/);
    // Sends no settings, as if the pooler dropped them.
    const none = await doctor({ UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '0' });
    const all = 'statement_timeout, lock_timeout, idle_in_transaction_session_timeout';
    assert.match(none, new RegExp(`^warning +server +sessions have no ${all}, so .*PgBouncer`, 'm'));
    assert.match(none, /sessions lack plan_cache_mode = force_generic_plan, .*, jit = off, so lookups/);
    assert.match(none, /sessions lack row_security = off, so/);
    const options = ['statement_timeout=2s', 'lock_timeout=1s', 'jit=off', 'row_security=off']
      .map((setting) => `-c ${setting}`)
      .join(' ');
    const url = `${database.url}?options=${encodeURIComponent(options)}`;
    const some = await doctor({ DATABASE_URL: url, UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '0' });
    assert.match(some, /sessions have no idle_in_transaction_session_timeout, so/);
    assert.doesNotMatch(some, /sessions lack .*(jit|row_security)/);
  });
});
