// A connection that is lost at the worst moment: the database has executed the request, but its response is
// lost. The service cannot know the result, and retries.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { callOnce } from '../support/faults/callers.ts';
import { FAULT_MS, Installation, within } from '../support/faults/installation.ts';
import { completes, errorResponse, type ServerError } from '../support/faults/protocol.ts';
import type { FaultProxy, RequestAction } from '../support/faults/proxy.ts';
import type { TestResponse } from '../support/http.ts';
import { createApiToken, run, type Service } from '../support/process.ts';

/** Exceeds any response to a write statement, so that each response is cut somewhere. */
const MAX_RESPONSE_BYTES = 400;
/** A long run cuts the response at every byte. */
const STEP_BYTES = process.env.FAULT_SECONDS ? 1 : 37;
/** Time after its arrival at which a request sends its last query. */
const LAST_QUERY_AFTER_MS = 1_500;
/** One in this many requests to the database is lost under load. */
const LOST_ONE_IN = 13;
/** Generous limit for busy machines. */
const BUSY_LIMIT_MS = 20_000;
/** Errors with which the coordinator of a cluster reports a lost node. */
const LOST_NODES: ServerError[] = [
  { code: '08006' },
  ...['MarkRemoteTransactionFailed', 'CheckRemoteTransactionsHealth', 'ReportResultError'].map((routine) => ({
    code: 'XX000',
    routine,
  })),
];

describe('A lost response of the database', () => {
  let site: Installation;
  before(async () => {
    site = await Installation.start({ processes: 2 });
  });
  afterEach(() => site.proxy.heal());
  after(() => site[Symbol.asyncDispose]());

  const eachCut = async (statement: string, test: (cut: number) => Promise<void>): Promise<void> => {
    for (let bytes = 0; bytes < MAX_RESPONSE_BYTES; bytes += STEP_BYTES) {
      const lost = site.proxy.once(statement, { responseBytes: bytes });
      await test(bytes);
      await lost;
    }
  };

  it('to a create, cut at any byte, creates the group once and reports it as new', () =>
    eachCut('create_user_groups', async (cut) => {
      const created = await site.get(`create-${cut}`, 'Lost');
      assert.equal(created.json.new_user_group, true);
      assertVersion(created, 1);
      const found = await site.get(`create-${cut}`, 'Lost');
      assert.equal(found.json.new_user_group, false);
      assert.deepEqual(found.json.user_group, created.json.user_group);
    }));

  describe('to a create, lost', () => {
    /** Process that reaches the database without the proxy. */
    let direct: Service;
    before(async () => {
      direct = await site.serve({ DATABASE_URL: site.database.url });
    });
    after(() => site.stopLast());

    it('in the network, does not restore a group that was created and then deleted', () =>
      assertNotRestored('deleted-1', (proxy) => proxy.once('create_user_groups', { responseBytes: 0 })));

    it('from a node of the database, does not restore a group that was created and then deleted', () =>
      assertNotRestored('deleted-2', (proxy) => {
        loseNode(proxy, 'INSERT', LOST_NODES[0]!);
        return proxy.once('create_user_groups', 'pass');
      }));

    async function assertNotRestored(id: string, lose: (proxy: FaultProxy) => Promise<void>): Promise<void> {
      // Leases ids in advance; the next create would have to wait for the lease.
      await site.get('first', 'Lost');
      const path = `/v1/user-groups/${id}`;
      const sent = lose(site.proxy);
      const creating = site.get(id, 'Lost');
      await sent;
      // Delays the response until the group is deleted.
      site.proxy.silence('open');
      let read = await site.callTo(direct, { path });
      await within(BUSY_LIMIT_MS, 'the group to be created', async () => {
        read = await site.callTo(direct, { path });
        return read.status === 200;
      });
      const { token, team_id } = read.json.user_group;
      assert.equal((await site.callTo(direct, { method: 'DELETE', path })).status, 204);
      site.proxy.heal();
      const created = await creating;
      const body = { token };
      assert.equal((await site.call({ method: 'POST', path: '/v1/resolve', body })).status, 404);
      // On a busy machine, the deadline may leave no time for a retry.
      if (created.status === 503) return;
      assert.equal(created.json.new_user_group, true);
      assert.notEqual(created.json.user_group.team_id, team_id);
    }
  });

  it('to a rotation, cut at any byte, rotates once and returns the new token', async () => {
    let { token } = (await site.get('rotate', 'Lost')).json.user_group;
    let version = 1;
    await eachCut('rotate_tokens', async () => {
      const rotated = await site.rotate(token);
      assertVersion(rotated, ++version);
      assert.equal((await resolve(token)).status, 404);
      ({ token } = rotated.json.user_group);
      assert.equal((await resolve(token)).status, 200);
    });
  });

  it('to a rotation that takes longer than a request may wait returns the new token', async () => {
    const slow = await site.serve({ UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '10000' });
    const created = await site.callTo(slow, { body: { user_group_id: 'slow rotation', name: 'Lost' } });
    const lost = site.proxy.once('rotate_tokens', { responseBytes: 0 });
    const body = { current_token: created.json.user_group.token };
    const rotating = site.callTo(slow, { method: 'POST', body });
    await lost;
    site.proxy.silence('open');
    await sleep(LAST_QUERY_AFTER_MS + 100);
    site.proxy.heal();
    assertVersion(await rotating, 2);
    await site.stopLast();
  });

  it('to a rotation that is executed after its repetition does not record a second event', async () => {
    const { token } = (await site.get('late rotation', 'Lost')).json.user_group;
    const { promise: sent, resolve: send } = Promise.withResolvers<void>();
    const { promise: executed, resolve: onExecuted } = Promise.withResolvers<void>();
    const lost = site.proxy.once('rotate_tokens', { sent, onExecuted });
    const rotated = await site.rotate(token);
    await lost;
    assertVersion(rotated, 2);
    send();
    await executed;
    const found = await site.get('late rotation');
    assertVersion(found, 2);
    assert.equal(found.json.user_group.token, rotated.json.user_group.token);
    const path = '/v1/user-groups/late%20rotation/events';
    const { events } = (await site.call({ method: 'GET', path })).json;
    assert.deepEqual(
      events.map(({ version }: { version: number }) => version),
      [2, 1],
    );
  });

  it('to a conditional rotation, cut at any byte, does not fail the condition', async () => {
    let rotated = await site.get('conditional rotation', 'Lost');
    let version = 1;
    await eachCut('rotate_tokens', async () => {
      const { token } = rotated.json.user_group;
      rotated = await site.rotate(token, { 'if-match': rotated.headers.etag! });
      assertVersion(rotated, ++version);
    });
  });

  it('to a conditional create, cut at any byte, does not fail the condition', async () => {
    await eachCut('create_user_groups', async (cut) => {
      const body = { user_group_id: `conditional creation ${cut}`, name: 'Lost' };
      const created = await site.call({ body, headers: { 'if-none-match': '*' } });
      assert.deepEqual([created.status, created.json.new_user_group], [200, true], created.text);
    });
  });

  it('to an update, cut at any byte, causes a 503 after which the call can be retried', async () => {
    await site.get('update', 'Lost');
    let version = 1;
    await eachCut('commit', async (cut) => {
      const name = `Lost ${cut}`;
      const first = await site.put('update', name);
      const second = first.status === 200 ? first : await site.put('update', name);
      assert.equal(second.json.user_group.name, name);
      assertVersion(second, ++version);
    });
  });

  it('to an update before its COMMIT is not visible to callers', async () => {
    await site.get('uncommitted', 'Lost');
    const lost = site.proxy.once('update_user_groups', { responseBytes: 0 });
    const updated = await site.put('uncommitted', 'Done');
    await lost;
    assertVersion(updated, 2);
    assert.equal(updated.json.user_group.name, 'Done');
  });

  for (const error of LOST_NODES) {
    const id = Object.values(error).join(' ');
    it(`to the COMMIT of an update, lost from a node of the database, causes a 503: ${id}`, async () => {
      await site.get(id, 'Lost');
      loseNode(site.proxy, 'COMMIT', error);
      assert.equal((await site.put(id, 'Done')).status, 503);
      const found = await site.get(id);
      assert.equal(found.json.user_group.name, 'Done');
      assertVersion(found, 2);
    });
  }

  it('to a lookup, cut at any byte, is not visible to callers', async () => {
    await site.get('lookup', 'Lost');
    await eachCut('find_user_groups', async () => {
      assert.equal((await site.get('lookup')).status, 200);
    });
  });

  it('to a lookup is not visible to callers with a short statement timeout either', async () => {
    const limited = await site.serve({ UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '500' });
    await site.get('lookup', 'Lost');
    const lookUp = () => site.callTo(limited, { body: { user_group_id: 'lookup' } });
    assert.equal((await lookUp()).status, 200);
    const lost = site.proxy.once('find_user_groups', { responseBytes: 0 });
    assert.equal((await lookUp()).status, 200);
    await lost;
    await site.stopLast();
  });

  it('to a conditional update causes a 503, after which the group shows whether it was applied', async () => {
    const { headers } = await site.get('condition', 'Lost');
    const lost = site.proxy.once('commit', { responseBytes: 0 });
    const ifMatch = { 'if-match': headers.etag! };
    assert.equal((await site.put('condition', 'Done', ifMatch)).status, 503);
    await lost;
    assert.equal((await site.put('condition', 'Done', ifMatch)).status, 412);
    const found = await site.get('condition');
    assert.equal(found.json.user_group.name, 'Done');
    assertVersion(found, 2);
  });

  it('to a deletion causes a 503, because a retry could delete a group that was created since', async () => {
    await site.get('deletion', 'Lost');
    const path = '/v1/user-groups/deletion';
    const lost = site.proxy.once('commit', { responseBytes: 0 });
    assert.equal((await site.call({ method: 'DELETE', path })).status, 503);
    await lost;
    assert.equal((await site.call({ method: 'DELETE', path })).status, 404);
  });

  for (const [title, action] of [
    ['that was executed', { responseBytes: 0 }],
    ['that never arrived', 'cut'],
  ] as [string, RequestAction][]) {
    it(`to a COMMIT ${title} applies the transaction once`, async () => {
      const id = `A group that ${title}`;
      const imported = randomBytes(32).toString('hex');
      await importGroup({ user_group_id: id, name: 'Lost', token: imported });
      const first = await site.rotate(imported);
      // This rotation also removes the imported token.
      const lost = site.proxy.once('commit', action);
      const second = await site.rotate(first.json.user_group.token);
      await lost;
      assertVersion(second, 3);
      const found = await site.get(id);
      assertVersion(found, 3);
      assert.equal(found.json.user_group.token, second.json.user_group.token);
      assert.equal((await resolve(second.json.user_group.token)).status, 200);
      assert.equal((await resolve(imported)).status, 404);
    });
  }

  it('to random requests, cut at any byte, loses no acknowledged change and applies none twice', async (test) => {
    using callers = site.callers();
    let requests = 0;
    site.proxy.decide = () => {
      if (++requests % LOST_ONE_IN > 0) return 'pass';
      return requests % 2 === 0 ? 'cut' : { responseBytes: requests % MAX_RESPONSE_BYTES };
    };
    await sleep(FAULT_MS);
    await within(BUSY_LIMIT_MS, 'ten requests to be lost', async () => requests > 10 * LOST_ONE_IN);
    site.proxy.decide = () => 'pass';
    await site.waitForRecovery(test);
    await callers.stopAndCheck();
    test.diagnostic(callers.summary);
  });

  it('to any of these, writes the event of each change exactly once', async () => {
    const operator = await site.operator();
    const { rows } = await operator.query(
      `select target_id, count(*)::integer as events, count(distinct events.version)::integer as versions,
         max(user_groups.version)::integer as version
       from events join user_groups on target_type = 'user_group' and target_id = provided_id
         and events.workspace_id = user_groups.workspace_id and events.environment = user_groups.environment
       where target_id not in (select target_id from events where type = 'user_group.deleted')
       group by target_id`,
    );
    assert.ok(rows.length > 10);
    for (const { target_id, events, versions, version } of rows)
      assert.deepEqual([target_id, events, versions], [target_id, version, version]);
  });

  it('to a rename causes a 503, after which the repeated call returns the renamed group', async () => {
    const { token } = (await site.get('rename', 'Lost')).json.user_group;
    const body = { user_group_id: 'renamed' };
    const rename = () => site.call({ method: 'POST', path: '/v1/user-groups/rename/rename', body });
    const lost = site.proxy.once('commit', { responseBytes: 0 });
    assert.equal((await rename()).status, 503);
    await lost;
    const repeated = await rename();
    assertVersion(repeated, 2);
    assert.equal(repeated.json.user_group.token, token);
    const events = await site.call({ method: 'GET', path: '/v1/events?type=user_group.renamed' });
    assert.equal(events.json.events.length, 1);
  });

  it('to the COMMIT of an event without a change causes a 503, and the event is recorded once', async () => {
    const { token } = await createApiToken(site.folder, ['--permission', 'admin'], {
      env: { ...site.env, DATABASE_URL: site.database.url },
    });
    const path = '/v1/webhook-endpoints/lost';
    const call = (method: string, path: string, body?: object) =>
      callOnce(site.services[0]!, token, { method, path, body });
    const put = await call('PUT', path, { url: 'https://203.0.114.1/', event_types: ['api_token.created'] });
    assert.equal(put.status, 201, put.text);
    const lost = site.proxy.once('commit', { responseBytes: 0 });
    assert.equal((await call('POST', `${path}/test`)).status, 503);
    await lost;
    const { json } = await call('GET', '/v1/events?type=webhook_endpoint.tested');
    assert.equal(json.events.length, 1);
  });

  async function importGroup(group: object): Promise<void> {
    writeFileSync(site.folder.join('group.ndjson'), JSON.stringify(group));
    const env = { ...site.env, DATABASE_URL: site.database.url };
    const { code } = await run(site.folder, ['import', 'group.ndjson', '--workspace', 'default'], { env });
    assert.equal(code, 0);
  }

  function resolve(token: string): Promise<TestResponse> {
    return site.call({ method: 'POST', path: '/v1/resolve', body: { token } });
  }
});

/** Executes the next command of the kind, and replaces its completion with the error. */
function loseNode(proxy: FaultProxy, command: string, error: ServerError): void {
  const { rewrite } = proxy;
  proxy.rewrite = (message) => {
    if (!completes(message, command)) return message;
    proxy.rewrite = rewrite;
    return errorResponse(error);
  };
}

/** Asserts the version, which each change increments by one. */
function assertVersion(response: TestResponse, version: number): void {
  assert.equal(response.status, 200, response.text);
  assert.equal(response.headers.etag, `"${response.json.user_group.team_id}-${version}"`);
}
