// /v1/webhook-endpoints: documents over HTTP, whose secret is shown once.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { generateKeyLine, KeyRing, TokenUnreadable } from '../../src/domain/key-ring.ts';
import { Secret } from '../../src/domain/secret.ts';
import { reencryptTokens } from '../../src/operations/database/reencrypt.ts';
import { openSecrets } from '../../src/operations/webhook-endpoint/webhook-endpoint.ts';
import type { ProblemCode } from '../../src/problem.ts';
import { BatchingStore } from '../../src/store/batching-store.ts';
import { type Query, StoreUnavailable } from '../../src/store/port.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';

const PATH = '/v1/webhook-endpoints';
const FIELDS = { url: 'https://example.com/hooks', event_types: ['user_group.created'] };

function problemIn(response: TestResponse, code: ProblemCode): TestResponse['json'] {
  assertProblem(response, code);
  return response.json;
}

describeOnEachDatabase('/v1/webhook-endpoints', (database) => {
  const service = TestService.of(database);
  let token: string;
  before(async () => {
    token = (await service.apiToken({ permission: 'admin' })).token;
  });

  const call = (method: string, path: string, body?: unknown, headers = {}) =>
    service.call(method, PATH + path, body, { token, headers });

  it('returns the secret of a new endpoint even if the database fails once it is stored', async (t) => {
    const { read } = BatchingStore.prototype;
    t.mock.method(BatchingStore.prototype, 'read', function (this: BatchingStore, query: Query) {
      const isFailing = query.kind === 'findEndpointHealth';
      return isFailing ? Promise.reject(new StoreUnavailable('down')) : read.call(this, query);
    });
    const created = await call('PUT', '/stored', FIELDS);
    assert.equal(created.status, 201);
    assert.match(created.json.secret, /^whsec_/);
    const { status } = await call('PUT', '/stored', FIELDS);
    // Another thread is not failing.
    assert.ok(status === 503 || (service.app.threads > 1 && status === 200), String(status));
  });

  it('creates an endpoint with a secret of 32 random bytes, shown only then', async () => {
    const created = await call('PUT', '/shown', FIELDS);
    assert.equal(created.status, 201);
    assert.match(created.json.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    const { created_at, updated_at, ...rest } = created.json.webhook_endpoint;
    assert.deepEqual(rest, { webhook_endpoint_id: 'shown', ...FIELDS, enabled: true, version: 1 });
    assert.equal(created_at, updated_at);
    for (const response of [
      await call('GET', '/shown'),
      await call('GET', ''),
      await call('PUT', '/shown', FIELDS),
    ]) {
      assert.equal(response.status, 200);
      assert.ok(!response.text.includes('whsec_') && !response.text.includes('secret'), response.text);
    }
  });

  it('replaces all fields, keeps the version if nothing differs, and honours preconditions', async () => {
    const created = await call('PUT', '/replaced', { ...FIELDS, enabled: false });
    const same = await call('PUT', '/replaced', { ...FIELDS, enabled: false });
    assert.equal(same.headers.etag, created.headers.etag);
    const replaced = await call('PUT', '/replaced', { ...FIELDS, event_types: ['*'] });
    assert.deepEqual([replaced.status, replaced.json.webhook_endpoint.version], [200, 2]);
    assert.equal(replaced.json.webhook_endpoint.enabled, true);
    const stale = { 'if-match': created.headers.etag! };
    assertProblem(await call('PUT', '/replaced', FIELDS, stale), 'version_mismatch');
    assertProblem(await call('DELETE', '/replaced', undefined, stale), 'version_mismatch');
    assertProblem(await call('POST', '/replaced/rotate', undefined, stale), 'version_mismatch');
    assertProblem(await call('PUT', '/replaced', FIELDS, { 'if-none-match': '*' }), 'version_mismatch');
    assertProblem(await call('PUT', '/absent', FIELDS, { 'if-match': '*' }), 'version_mismatch');
    assert.equal((await call('PUT', '/created-only', FIELDS, { 'if-none-match': '*' })).status, 201);
    assert.equal(
      (await call('PUT', '/replaced', FIELDS, { 'if-match': replaced.headers.etag! })).status,
      200,
    );
  });

  it('deletes an endpoint, after which every call returns 404', async () => {
    await call('PUT', '/deleted', FIELDS);
    const deleted = await call('DELETE', '/deleted');
    assert.deepEqual([deleted.status, deleted.text], [204, '']);
    for (const [method, path] of [
      ['GET', '/deleted'],
      ['DELETE', '/deleted'],
      ['POST', '/deleted/rotate'],
      ['POST', '/deleted/test'],
      ['GET', '/deleted/deliveries'],
      ['POST', '/deleted/deliveries/evt_1/redeliver'],
    ] as const) {
      const problem = problemIn(await call(method, path), 'not_found');
      assert.match(problem.detail, /^This webhook endpoint does not exist\.$/, `${method} ${path}`);
    }
  });

  it('lists endpoints in the order of their ids, page by page', async () => {
    const lister = (await service.apiToken({ permission: 'admin', workspaceName: 'lister' })).token;
    const ids = ['a', 'a/b c', 'b', 'ä', '日本'];
    for (const id of ids.toReversed())
      await service.call('PUT', `${PATH}/${encodeURIComponent(id)}`, FIELDS, { token: lister });
    const listed: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { json, status } = await service.call('GET', `${PATH}?limit=2${query}`, undefined, {
        token: lister,
      });
      assert.equal(status, 200);
      listed.push(...json.webhook_endpoints.map((each: Record<string, string>) => each.webhook_endpoint_id));
      cursor = json.next_cursor;
      if (cursor !== null) assertProblem(await call('GET', `?cursor=${cursor}`), 'invalid_request');
    }
    assert.deepEqual(listed, ids);
  });

  it('allows 100 in a workspace and environment', async () => {
    const full = (await service.apiToken({ permission: 'admin', workspaceName: 'full' })).token;
    const put = (id: string) => service.call('PUT', `${PATH}/${id}`, FIELDS, { token: full });
    const ids = Array.from({ length: 100 }, (_, index) => `endpoint-${index}`);
    for (const id of ids) assert.equal((await put(id)).status, 201);
    const problem = problemIn(await put('one-more'), 'limit_reached');
    assert.match(problem.detail, /at most 100 webhook endpoints/);
    assert.equal((await put('endpoint-7')).status, 200);
    const environment = 'Testing';
    const testing = await service.apiToken({ permission: 'admin', workspaceName: 'full', environment });
    assert.equal((await service.call('PUT', `${PATH}/other`, FIELDS, testing)).status, 201);
    await service.call('DELETE', `${PATH}/endpoint-7`, undefined, { token: full });
    assert.equal((await put('one-more')).status, 201);
  });

  it('rejects unknown event types and names the valid ones', async () => {
    const problem = problemIn(
      await call('PUT', '/types', { ...FIELDS, event_types: ['user_group.created', 'user_group.moved'] }),
      'invalid_request',
    );
    assert.equal(problem.errors[0].pointer, '/event_types/1');
    assert.match(problem.detail, /\*, user_group\.created, user_group\.updated, .*webhook_endpoint\.deleted/);
    for (const event_types of [[], ['*', '*'], '*', null])
      assertProblem(await call('PUT', '/types', { ...FIELDS, event_types }), 'invalid_request');
    assertProblem(await call('PUT', '/types', { ...FIELDS, secret: 'x' }), 'unknown_field');
    assertProblem(await call('PUT', '/types', { url: FIELDS.url }), 'invalid_request');
  });

  it('rejects ids with control characters, outer white space or more than 255 characters', async () => {
    for (const id of ['%07', '%20a', 'a%20', 'a'.repeat(256)])
      assertProblem(await call('PUT', `/${id}`, FIELDS), 'invalid_request');
    assert.equal((await call('PUT', `/${'a'.repeat(255)}`, FIELDS)).status, 201);
  });

  it('records each change as an event without the secret', async () => {
    const { json } = await call('PUT', '/recorded', FIELDS);
    await call('PUT', '/recorded', { ...FIELDS, enabled: false });
    const rotated = await call('POST', '/recorded/rotate');
    await call('DELETE', '/recorded');
    const rows = (await runSql(
      service.database,
      "select type, actor, coalesce(changes, '') as changes from events where target_id = 'recorded' order by event_id",
    )) as { type: string; actor: string; changes: string }[];
    assert.deepEqual(
      rows.map(({ type }) => type),
      ['created', 'updated', 'secret_rotated', 'deleted'].map((change) => `webhook_endpoint.${change}`),
    );
    const text = JSON.stringify(rows);
    for (const secret of [json.secret, rotated.json.secret]) assert.ok(!text.includes(secret.slice(6)));
    assert.match(rows[0]!.changes, /example\.com/);
  });

  it('creates exactly one endpoint, with one valid secret, from many parallel calls', async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => call('PUT', '/race', FIELDS)));
    assert.equal(responses.filter(({ status }) => status === 201).length, 1);
    assert.equal(responses.filter(({ status }) => status === 200).length, 19);
    assert.equal(responses.filter(({ json }) => 'secret' in json).length, 1);
  });

  it('shows a new secret with each rotation, and never logs one', async () => {
    const created = await call('PUT', '/rotated', FIELDS);
    const first = await call('POST', '/rotated/rotate');
    const second = await call('POST', '/rotated/rotate');
    const secrets = [created, first, second].map(({ json }) => json.secret as string);
    assert.equal(new Set(secrets).size, 3);
    const remainingMs = Date.parse(second.json.previous_secret_expires_at) - Date.now();
    assert.ok(Math.abs(remainingMs - 86_400_000) < 60_000);
    assert.equal(second.json.webhook_endpoint.version, 3);
    for (const secret of secrets) assert.ok(!service.logLines.join('').includes(secret.slice(6, 30)));
    const [row] = (await runSql(
      service.database,
      "select body, secret_ciphertext from documents where document_id = 'rotated'",
    )) as [{ body: string; secret_ciphertext: string }];
    assert.ok(row.secret_ciphertext.length > 100);
    for (const secret of secrets) assert.ok(!JSON.stringify(row).includes(secret.slice(6, 30)));
  });
});

describeOnEachDatabase('The secret of a webhook endpoint', (database) => {
  const [oldLine, newLine] = [generateKeyLine().reveal(), generateKeyLine().reveal()];
  const service = TestService.of(database, { env: { UGS_TOKEN_KEYS: oldLine } });

  it('is re-encrypted with a new key, and decrypts for no other endpoint', async () => {
    const { token } = await service.apiToken({ permission: 'admin' });
    const put = (id: string) => service.call('PUT', `${PATH}/${id}`, FIELDS, { token });
    const { secret } = (await put('a')).json;
    await put('b');
    const { store } = service.app.context;
    const both = KeyRing.parse(new Secret(`${newLine}\n${oldLine}`));
    await reencryptTokens({ store, keyRing: both }, () => {});
    const [a, b] = await store.read({ kind: 'scanDocuments', after: null, limit: 10 });
    const keyRing = KeyRing.parse(new Secret(newLine));
    assert.equal(openSecrets({ keyRing }, a!).current.reveal(), secret);
    assert.throws(() => keyRing.open(a!.secret!, b!), TokenUnreadable);
    assert.throws(() => keyRing.open(a!.secret!, { ...a!, workspaceId: 2 }), TokenUnreadable);
    const oldId = oldLine.slice(0, 8);
    assert.ok(!(await store.read({ kind: 'listTokenKeyIds' })).includes(oldId));
  });
});
