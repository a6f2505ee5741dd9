// Contract: POST /v1/user-groups/{user_group_id}/rename gives the group another id, and keeps everything
// else.

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { computeBucket } from '../../src/domain/bucket.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { send, type TestRequest } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { eventually, served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { feedIsComplete, SqlConnection } from '../support/sql.ts';

interface TestEvent {
  type: string;
  target: { id: string };
  changes: object | null;
}

describeOnEachDatabase('POST /v1/user-groups/{user_group_id}/rename', (database) => {
  // Longer than a request, so that a statement that waits for a lock continues after its request.
  const service = TestService.of(database, { env: { UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '5000' } });

  function rename(from: string, to: string, more: Pick<TestRequest, 'token' | 'headers'> = {}) {
    return service.call('POST', `/v1/user-groups/${from}/rename`, { user_group_id: to }, more);
  }

  // biome-ignore lint/suspicious/noExplicitAny: parsed JSON.
  async function create(id: string, fields: object = {}): Promise<any> {
    const { json } = await service.get({ user_group_id: id, name: id, properties: { a: 1 }, ...fields });
    return json.user_group;
  }

  async function resolvedId(token: string): Promise<string> {
    const { json } = await service.resolve(token);
    return json.user_group?.provided_id ?? json.code;
  }

  /** Returns all events, newest first: on a busy machine, a page ends early. */
  async function eventsAt(path: string): Promise<TestEvent[]> {
    const events: TestEvent[] = [];
    for (let cursor = ''; ; ) {
      const { json } = await service.call('GET', `${path}${cursor}`);
      events.push(...json.events);
      // A feed, which is oldest first, always has a cursor.
      if (json.next_cursor === null || json.events.length === 0) return events;
      cursor = `&cursor=${json.next_cursor}`;
    }
  }

  /** Returns the types of the events with the ids that they are about, newest first. */
  async function history(id: string, query = ''): Promise<string[]> {
    return (await eventsAt(`/v1/user-groups/${id}/events?limit=100${query}`)).map(
      ({ type, target }) => `${type} ${target.id}`,
    );
  }

  /** Returns whether each of the events has values, newest first. */
  async function changed(id: string): Promise<boolean[]> {
    return (await eventsAt(`/v1/user-groups/${id}/events?limit=100`)).map(({ changes }) => changes !== null);
  }

  /** Does the work while a lock keeps the service from changing events. */
  async function duringLock(work: () => Promise<void>): Promise<void> {
    const { url } = service.database;
    if (url.startsWith('sqlite:')) {
      using file = new DatabaseSync(url.slice('sqlite:'.length));
      file.exec('begin immediate');
      return await work();
    }
    await using client = await SqlConnection.open(url);
    await client.query('begin; lock table events in exclusive mode');
    await work();
  }

  it('keeps everything but the id, and responds like the read', async () => {
    const { team_id, token } = await create('old', { mapping: { 40: 'db' } });
    const stored = (await service.read('old')).json.user_group;
    const renamed = await rename('old', 'new');
    assert.equal(renamed.status, 200, renamed.text);
    const found = await service.read('new');
    assert.equal(renamed.text, found.text);
    assert.equal(renamed.headers.etag, found.headers.etag);
    const { updated_at } = found.json.user_group;
    assert.deepEqual(found.json.user_group, { ...stored, provided_id: 'new', version: 2, updated_at });
    assert.deepEqual([found.json.user_group.team_id, found.json.user_group.token], [team_id, token]);
    assertProblem(await service.read('old'), 'user_group_not_found');
    assert.equal(await resolvedId(token), 'new');
  });

  it('keeps the retiring token, and rotations with either token work', async () => {
    const { token } = await create('rotated');
    const { json } = await service.post({ current_token: token, grace_period_seconds: 3_600 });
    const current = json.user_group.token;
    await rename('rotated', 'rotated-2');
    assert.deepEqual([await resolvedId(token), await resolvedId(current)], ['rotated-2', 'rotated-2']);
    const again = await service.post({ current_token: token });
    assert.equal(again.json.user_group.token, current);
    const next = (await service.post({ current_token: current })).json.user_group.token;
    assert.deepEqual(await Promise.all([token, current, next].map(resolvedId)), [
      'user_group_token_not_found',
      'user_group_token_not_found',
      'rotated-2',
    ]);
  });

  it('survives a restart and many renames, including one back to the first id', async () => {
    const { token, team_id } = await create('chain-0');
    for (let step = 0; step < 5; step++)
      assert.equal((await rename(`chain-${step}`, `chain-${step + 1}`)).status, 200);
    await rename('chain-5', 'chain-0');
    await service.restart();
    const { user_group } = (await service.read('chain-0')).json;
    assert.deepEqual([user_group.team_id, user_group.token, user_group.version], [team_id, token, 7]);
    assert.equal(await resolvedId(token), 'chain-0');
  });

  it('frees the old id for another group, whose token and history are its own', async () => {
    const first = await create('freed');
    await rename('freed', 'kept');
    const second = await create('freed');
    assert.notEqual(second.team_id, first.team_id);
    assert.deepEqual([await resolvedId(first.token), await resolvedId(second.token)], ['kept', 'freed']);
    assert.deepEqual(await history('kept'), ['user_group.renamed kept', 'user_group.created freed']);
    assert.deepEqual(await history('freed'), ['user_group.created freed', 'user_group.renamed kept']);
  });

  it('refuses an id that another group has, and changes nothing', async () => {
    const { token } = await create('here');
    await create('there');
    const before = (await service.read('here')).text;
    assertProblem(await rename('here', 'there'), 'user_group_exists');
    assert.equal((await service.read('here')).text, before);
    assert.equal(await resolvedId(token), 'here');
    assert.deepEqual(await history('there'), ['user_group.created there']);
  });

  it('is 404 for a group that does not exist, and changes nothing for the id that it has', async () => {
    assertProblem(await rename('nothing', 'anything'), 'user_group_not_found');
    await create('same');
    const same = await rename('same', 'same');
    assert.equal(same.json.user_group.version, 1);
    assert.deepEqual(await history('same'), ['user_group.created same']);
  });

  it('returns the renamed group when the call is repeated, unless the old id has a group again', async () => {
    await create('retried');
    const first = await rename('retried', 'retried-2');
    const second = await rename('retried', 'retried-2');
    assert.equal(second.text, first.text);
    await create('retried');
    assertProblem(await rename('retried', 'retried-2'), 'user_group_exists');
    await service.call('DELETE', '/v1/user-groups/retried');
    await service.call('DELETE', '/v1/user-groups/retried-2');
    await create('retried-2');
    // Another group has the id now.
    assertProblem(await rename('retried', 'retried-2'), 'user_group_not_found');
  });

  it('renames only the version that If-Match names', async () => {
    await create('matched');
    const { etag } = (await service.read('matched')).headers;
    assertProblem(
      await rename('matched', 'matched-2', { headers: { 'if-match': '"1-99"' } }),
      'version_mismatch',
    );
    assert.equal(
      (await rename('matched', 'matched-2', { headers: { 'if-match': String(etag) } })).status,
      200,
    );
    assertProblem(
      await rename('matched', 'matched-2', { headers: { 'if-match': String(etag) } }),
      'version_mismatch',
    );
  });

  it('keeps a suspension and when a token was last used', async () => {
    const { token } = await create('suspended');
    await service.resolve(token);
    await service.writeUsage();
    await service.call('POST', '/v1/user-groups/suspended/suspend');
    const { last_seen_at } = (await service.read('suspended')).json.user_group;
    assert.notEqual(last_seen_at, null);
    const { json } = await rename('suspended', 'suspended-2');
    assert.deepEqual([json.user_group.suspended, json.user_group.last_seen_at], [true, last_seen_at]);
    assert.equal(await resolvedId(token), 'user_group_token_not_found');
    await service.call('POST', '/v1/user-groups/suspended-2/resume');
    assert.equal(await resolvedId(token), 'suspended-2');
  });

  it('continues the history under earlier ids, in both orders and page by page', async () => {
    await create('h-1');
    await service.put({ user_group_id: 'h-1', name: 'Changed' });
    await rename('h-1', 'h-2');
    await service.put({ user_group_id: 'h-2', name: 'Again' });
    await rename('h-2', 'h-3');
    const newest = [
      'user_group.renamed h-3',
      'user_group.updated h-2',
      'user_group.renamed h-2',
      'user_group.updated h-1',
      'user_group.created h-1',
    ];
    assert.deepEqual(await history('h-3'), newest);
    await feedIsComplete(service.database);
    assert.deepEqual(await history('h-3', '&order=oldest'), newest.toReversed());
    for (const order of ['newest', 'oldest']) {
      const pages: string[] = [];
      for (let cursor = ''; pages.length < newest.length; ) {
        const path = `/v1/events?target=user_group:h-3&order=${order}&limit=2${cursor}`;
        const { json } = await service.call('GET', path);
        pages.push(
          ...json.events.map(
            ({ type, target }: { type: string; target: { id: string } }) => `${type} ${target.id}`,
          ),
        );
        cursor = `&cursor=${json.next_cursor}`;
      }
      assert.deepEqual(pages, order === 'newest' ? newest : newest.toReversed());
    }
    assert.deepEqual(await history('h-3', '&type=user_group.created'), ['user_group.created h-1']);
    assert.deepEqual(await history('h-1'), ['user_group.renamed h-2']);
  });

  it('writes one event, with both ids', async () => {
    await create('evented');
    await rename('evented', 'evented-2');
    const { json } = await service.call('GET', '/v1/events?type=user_group.renamed&limit=1');
    const [event] = json.events;
    assert.deepEqual(event.target, { type: 'user_group', id: 'evented-2' });
    assert.deepEqual(event.changes, { user_group_id: { from: 'evented', to: 'evented-2' } });
    assert.equal(event.version, 2);
  });

  it('removes the values from the whole history when the group is deleted, and from no other', async () => {
    await create('d-1');
    await rename('d-1', 'd-2');
    await create('d-1');
    await service.call('DELETE', '/v1/user-groups/d-1');
    assert.deepEqual(await changed('d-2'), [true, true]);
    assert.deepEqual(await changed('d-1'), [false, false, true]);
    await create('d-1');
    await service.call('DELETE', '/v1/user-groups/d-2');
    assert.deepEqual(await changed('d-2'), [false, true, false]);
    assert.deepEqual(await changed('d-1'), [true, false, false, true]);
    // Another group has left the id with which the deleted one began.
    await create('d-3');
    await rename('d-3', 'd-4');
    await create('d-3');
    await rename('d-3', 'd-5');
    await service.call('DELETE', '/v1/user-groups/d-5');
    assert.deepEqual(await changed('d-4'), [true, true]);
  });

  it('leaves both ids in the event when the group is deleted, for readers that have a copy under the old id', async () => {
    await create('copied');
    await rename('copied', 'copied-2');
    await service.put({ user_group_id: 'copied-2', name: 'Secret' });
    await rename('copied-2', 'copied-3');
    await service.call('DELETE', '/v1/user-groups/copied-3');
    assert.deepEqual(
      (await eventsAt('/v1/events?target=user_group:copied-3')).map(({ changes }) => changes),
      [
        null,
        { user_group_id: { from: 'copied-2', to: 'copied-3' } },
        null,
        { user_group_id: { from: 'copied', to: 'copied-2' } },
        null,
      ],
    );
  });

  it('removes the values from the history of the group that has the id, whatever was tried before', async () => {
    await create('e-0');
    await rename('e-0', 'e-1');
    const isRemoved = async () => !(await changed('e-1')).at(-1);
    await eventually('the removal', async () => {
      await duringLock(async () => {
        const call = { method: 'DELETE', path: '/v1/user-groups/e-1', token: service.token };
        const { status } = await send(service.url, call);
        assert.equal(status, 503);
      });
      // The removal that was started continues, unless the lock has outlasted it on a busy machine.
      return eventually('the values', isRemoved, 2_000).catch(() => false);
    });
    await rename('e-1', 'e-2');
    await create('e-3');
    await rename('e-3', 'e-1');
    assert.equal((await service.call('DELETE', '/v1/user-groups/e-1')).status, 204);
    assert.deepEqual(await changed('e-1'), [false, true, false]);
  });

  it('moves reservations of data sources with the group', async () => {
    const { token } = await service.apiToken({ permission: 'admin', workspaceName: 'reserved' });
    const call = (method: string, path: string, body?: unknown) =>
      service.call(method, path, body, { token });
    await call('PUT', '/v1/schemas/s', { name: 'S' });
    const source = { name: 'D', schema_id: 's', attributes: { user_group_id: 'r-1' }, user_group_id: 'r-1' };
    await call('PUT', '/v1/data-sources/d', source);
    await call('PUT', '/v1/data-sources/other', { ...source, user_group_id: 'r-10' });
    const { json } = await call('GET', '/api/user', { user_group_id: 'r-1', name: 'R', mapping: { s: 'd' } });
    await call('POST', '/v1/user-groups/r-1/rename', { user_group_id: 'r-2' });
    const stored = (await call('GET', '/v1/data-sources/d')).json.data_source;
    assert.deepEqual([stored.user_group_id, stored.attributes], ['r-2', { user_group_id: 'r-1' }]);
    assert.equal((await call('GET', '/v1/data-sources/other')).json.data_source.user_group_id, 'r-10');
    const resolved = await service.resolve(json.user_group.token, { token });
    assert.equal(resolved.json.data_sources.s.provided_id, 'd');
    const other = await call('GET', '/api/user', { user_group_id: 'r-1', name: 'R', mapping: { s: 'd' } });
    const { unresolved } = (await service.resolve(other.json.user_group.token, { token })).json;
    assert.equal(unresolved[0].reason, 'reserved');
  });

  it('refuses to move more reservations than a configuration may change at once, and changes nothing', async () => {
    const { token } = await service.apiToken({ permission: 'admin', workspaceName: 'many-reserved' });
    const call = (method: string, path: string, body?: unknown) =>
      service.call(method, path, body, { token });
    const apply = async (ids: readonly number[]) => {
      const source = { name: 'D', schema_id: 's', user_group_id: 'm-1' };
      const data_sources = Object.fromEntries(ids.map((id) => [`d-${id}`, source]));
      const config = { version: 1, schemas: { s: { name: 'S' } }, data_sources };
      const applied = await served(() => call('PUT', '/v1/config', config));
      assert.equal(applied.status, 200, applied.text);
    };
    await call('GET', '/api/user', { user_group_id: 'm-1', name: 'M' });
    await apply(Array.from({ length: 999 }, (_, id) => id));
    await apply([999]);
    const rename = (from: string, to: string) =>
      call('POST', `/v1/user-groups/${from}/rename`, { user_group_id: to });
    assert.equal((await rename('m-1', 'm-2')).status, 200);
    assert.equal((await rename('m-2', 'm-1')).status, 200);
    await apply([1_000]);
    const { config_version } = (await call('GET', '/v1/config')).json;
    assertProblem(await rename('m-1', 'm-2'), 'limit_reached');
    assert.equal((await call('GET', '/v1/config')).json.config_version, config_version);
    assert.equal((await call('GET', '/v1/user-groups/m-1')).status, 200);
  });

  it('moves fewer reserved data sources if many webhook endpoints receive their events', async () => {
    const { token } = await service.apiToken({ permission: 'admin', workspaceName: 'many-receivers' });
    const call = (method: string, path: string, body?: unknown) =>
      service.call(method, path, body, { token });
    const byId = (prefix: string, count: number, entry: object) =>
      Object.fromEntries(Array.from({ length: count }, (_, id) => [`${prefix}-${id}`, entry]));
    await call('GET', '/api/user', { user_group_id: 'm-1', name: 'M' });
    const endpoint = { url: 'https://example.com/', event_types: ['data_source.updated'] };
    const config = {
      version: 1,
      schemas: { s: { name: 'S' } },
      data_sources: byId('d', 51, { name: 'D', schema_id: 's', user_group_id: 'm-1' }),
      webhook_endpoints: byId('w', 100, endpoint),
    };
    const applied = await served(() => call('PUT', '/v1/config', config));
    assert.equal(applied.status, 200, applied.text);
    const refused = await call('POST', '/v1/user-groups/m-1/rename', { user_group_id: 'm-2' });
    assertProblem(refused, 'limit_reached');
    assert.match(refused.json.detail, /at most 50 while 100 webhook endpoints receive data_source\.updated/);
    assert.equal((await call('GET', '/v1/user-groups/m-1')).status, 200);
  });

  it('keeps the token if the new id has the same bucket', async () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => `bucket-${index}`);
    const byBucket = Map.groupBy(ids, (id) => computeBucket(1, 'Customer', id));
    const [id, other] = [...byBucket.values()].find((found) => found.length > 1)!;
    const { token } = await create(id!);
    await rename(id!, other!);
    assert.equal(await resolvedId(token), other);
  });
});
