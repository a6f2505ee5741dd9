// Contract: with two settings the service works through a pooler that hands each transaction to another session and
// refuses settings of a session, as PgBouncer before 1.21 does.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { postgres, type TestDatabase } from '../database.ts';
import { FaultProxy } from '../faults/proxy.ts';
import { createApiToken, Folder } from '../process.ts';
import { TestService } from '../service.ts';

const LIMITS = [
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'plan_cache_mode',
];

describe('what the service asks of the sessions of PostgreSQL', () => {
  let database: TestDatabase;
  before(async () => {
    database = await postgres.create();
  });
  after(() => database.drop());

  /** Does everything once; gives what was sent to PostgreSQL for it. */
  async function sentWith(settings: Record<string, string>, parameters = ''): Promise<string> {
    await using proxy = await FaultProxy.start(database.url);
    const sent: Buffer[] = [];
    proxy.listen = (bytes) => sent.push(bytes);
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

  it('is statements by name and limits on time, where nothing is set', async () => {
    const sent = await sentWith({});
    assert.match(sent, /find_user_groups/);
    for (const limit of LIMITS) assert.match(sent, new RegExp(limit));
  });

  it('is that and what the options of DATABASE_URL ask', async () => {
    const sent = await sentWith({}, 'options=-c%20work_mem%3D5MB');
    assert.match(sent, /-c work_mem=5MB/);
    for (const limit of LIMITS) assert.match(sent, new RegExp(limit));
  });

  it('is no statement by name where UGS_POSTGRES_PREPARED_STATEMENTS is off', async () => {
    const sent = await sentWith({ UGS_POSTGRES_PREPARED_STATEMENTS: 'off' });
    assert.doesNotMatch(sent, /find_user_groups|create_user_groups|update_user_groups|rotate_tokens/);
    assert.match(sent, /from unnest/);
  });

  it('is no setting of the session where UGS_POSTGRES_STATEMENT_TIMEOUT_MS is 0', async () => {
    const sent = await sentWith({ UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '0' });
    for (const limit of LIMITS) assert.doesNotMatch(sent, new RegExp(limit));
  });

  it('is none in a command either', async () => {
    await using proxy = await FaultProxy.start(database.url);
    const sent: Buffer[] = [];
    proxy.listen = (bytes) => sent.push(bytes);
    using folder = new Folder();
    const env = { ...database.env, DATABASE_URL: proxy.url, UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '0' };
    await createApiToken(folder, [], { env });
    const text = Buffer.concat(sent).toString('latin1');
    assert.match(text, /insert into api_tokens/);
    for (const limit of LIMITS) assert.doesNotMatch(text, new RegExp(limit));
  });
});
