// Contract: every change writes exactly one event, which GET /v1/events and GET
// /v1/user-groups/{user_group_id}/events list.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DAY_MS, HOUR_MS } from '../../src/domain/instant.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { mapConcurrently, type TestRequest, type TestResponse } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';

interface Event {
  event_id: string;
  type: string;
  occurred_at: string;
  actor: { type: string; id: number | null; name: string | null; via: string };
  target: { type: string; id: string };
  version: number | null;
  request_id: string | null;
  changes: unknown;
}

type Query = Record<string, string | number>;

const PERIOD_MS = 50;

describeOnEachDatabase('GET /v1/events', (database) => {
  const service = TestService.of(database);
  let workspaces = 0;

  /** Creates a workspace with an API token, whose creation is the first event, and returns the token. */
  async function newWorkspace(): Promise<{ token: string; id: number; workspaceName: string }> {
    const workspaceName = `workspace ${++workspaces}`;
    return { ...(await service.apiToken({ workspaceName, name: 'sync' })), workspaceName };
  }

  function page(token: string, query: Query = {}, path = '/v1/events'): Promise<TestResponse> {
    const parameters = new URLSearchParams(
      Object.entries(query).map(([name, value]) => [name, String(value)]),
    );
    return service.call('GET', `${path}?${parameters}`, undefined, { token });
  }

  /** Returns the events of all pages. */
  async function list(token: string, query: Query = {}, path?: string): Promise<Event[]> {
    if (query.order === 'oldest') await completeFeed(token);
    const events: Event[] = [];
    for (let cursor: string | null | undefined; ; ) {
      const { status, json, text } = await page(token, { ...query, ...(cursor && { cursor }) }, path);
      assert.equal(status, 200, text);
      events.push(...json.events);
      const isEnd = query.order === 'oldest' ? json.events.length === 0 : json.next_cursor === null;
      if (isEnd) return events;
      assert.notEqual(json.next_cursor, cursor);
      cursor = json.next_cursor;
    }
  }

  /** Waits until the feed includes every event written so far: the transactions of other tests delay it. */
  async function completeFeed(token: string): Promise<void> {
    const { event_id } = (await page(token, { limit: 1 })).json.events[0];
    for (let cursor: string | undefined; ; ) {
      const { json } = await nextOfFeed(token, cursor);
      if (json.events.at(-1).event_id === event_id) return;
      cursor = json.next_cursor;
    }
  }

  /**
   * Waits for a page with events: other transactions on the server, and commits of Citus workers, delay the
   * feed.
   */
  async function nextOfFeed(token: string, cursor?: string): Promise<TestResponse> {
    for (;;) {
      const response = await page(token, { order: 'oldest', ...(cursor && { cursor }) });
      if (response.json.events.length > 0) return response;
      await sleep(PERIOD_MS);
    }
  }

  async function historyOf(token: string, id: string): Promise<Event[]> {
    return list(token, {}, `/v1/user-groups/${encodeURIComponent(id)}/events`);
  }

  it('writes one event for every operation, with the changed values, the actor, the version and the request', async () => {
    const { token, id } = await newWorkspace();
    const more: Pick<TestRequest, 'token'> = { token };
    const path = '/v1/user-groups/acme';
    const created = await service.get(
      { user_group_id: 'acme', name: 'Acme', mapping: { 40: 213 }, properties: { plan: 'gold', seats: 25 } },
      more,
    );
    const responses = [
      created,
      await service.put(
        { user_group_id: 'acme', name: 'Acme Inc.', properties: { plan: 'gold', seats: 26 } },
        more,
      ),
      await service.call('PATCH', path, { mapping: { 41: 'db' }, properties: { seats: null } }, more),
      await service.call('PUT', path, { name: 'Acme Inc.', mapping: { 41: 'db' } }, more),
      await service.post({ current_token: created.json.user_group.token }, more),
      await service.call('POST', `${path}/rotate`, {}, more),
      await service.call('DELETE', path, undefined, more),
    ];
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 200, 200, 200, 200, 200, 204],
    );
    const events = (await historyOf(token, 'acme')).reverse();
    const actor = { type: 'api_token', id, name: 'sync', via: 'api' };
    const target = { type: 'user_group', id: 'acme' };
    assert.deepEqual(
      events.map(({ event_id, occurred_at, ...event }) => event),
      [
        ['created', 1],
        ['updated', 2],
        ['updated', 3],
        ['updated', 4],
        ['token_rotated', 5],
        ['token_rotated', 6],
        ['deleted', null],
      ].map(([change, version], index) => ({
        type: `user_group.${change}`,
        actor,
        target,
        version,
        request_id: responses[index]!.headers['x-request-id'],
        changes: null,
      })),
    );
    for (const { event_id, occurred_at } of events) {
      assert.match(event_id, /^evt_[0-9a-f]{32}$/);
      assert.ok(Math.abs(Date.parse(occurred_at) - Date.now()) < 60_000);
    }
  });

  it('writes no values of the user group with a rotation', async () => {
    const { token } = await newWorkspace();
    const { json } = await service.get(
      { user_group_id: 'acme', name: 'Acme', properties: { plan: 'gold' } },
      { token },
    );
    await service.post({ current_token: json.user_group.token }, { token });
    await service.call('POST', '/v1/user-groups/acme/rotate', {}, { token });
    const events = await historyOf(token, 'acme');
    assert.deepEqual(
      events.map(({ type, changes }) => [type, changes]),
      [
        ['user_group.token_rotated', null],
        ['user_group.token_rotated', null],
        ['user_group.created', { name: { to: 'Acme' }, properties: { plan: { to: 'gold' } } }],
      ],
    );
  });

  it('shows the first-level members that differ, digit for digit', async () => {
    const { token } = await newWorkspace();
    const put = (text: string) => service.put(text, { token });
    await service.get(
      '{"user_group_id":"a","name":"A","properties":{"n":1.10,"same":[1,{"x":1}],"gone":"x","o":{"y":1}}}',
      { token },
    );
    await put(
      '{"user_group_id":"a","properties":{"o":{"y":2},"same":[1,{"x":1}],"n":9007199254740993,"new":null}}',
    );
    await put('{"user_group_id":"a","name":"B","mapping":{"40":"x"},"properties":null}');
    await completeFeed(token);
    const response = await page(token, { target: 'user_group:a', order: 'oldest' });
    const changes = response.text
      .slice(0, response.text.indexOf('}],"next_cursor"'))
      .split('},{"event_id"')
      .map((text) => text.split('"changes":')[1]);
    assert.deepEqual(changes, [
      '{"name":{"to":"A"},"properties":{"n":{"to":1.10},"same":{"to":[1,{"x":1}]},"gone":{"to":"x"},"o":{"to":{"y":1}}}}',
      '{"properties":{"n":{"from":1.10,"to":9007199254740993},"gone":{"from":"x"},"o":{"from":{"y":1},"to":{"y":2}},"new":{"to":null}}}',
      '{"name":{"from":"A","to":"B"},"mapping":{"40":{"to":"x"}},"properties":{"o":{"from":{"y":2}},"same":{"from":[1,{"x":1}]},"n":{"from":9007199254740993},"new":{"from":null}}}',
    ]);
  });

  it('shows of two objects only the members that differ, at any depth', async () => {
    const { token } = await newWorkspace();
    const put = (properties: string) =>
      service.put(`{"user_group_id":"deep","properties":${properties}}`, { token });
    await service.get(
      '{"user_group_id":"deep","name":"D","properties":{"o":{"p":{"a":1.0,"b":2,"l":[1,2]},"q":1}}}',
      { token },
    );
    await put('{"o":{"p":{"a":1.00,"l":[1,3],"c":{}},"q":1}}');
    await put('{"o":{"q":1,"p":{"c":{},"l":[1,3],"a":1.00}}}');
    await put('{"o":{"q":1,"p":{}}}');
    await put('{"o":"text"}');
    assert.deepEqual((await historyTexts(token, 'deep')).slice(1), [
      '{"properties":{"o":{"from":{"p":{"a":1.0,"b":2,"l":[1,2]}},"to":{"p":{"a":1.00,"l":[1,3],"c":{}}}}}}',
      '{}',
      '{"properties":{"o":{"from":{"p":{"c":{},"l":[1,3],"a":1.00}},"to":{"p":{}}}}}',
      '{"properties":{"o":{"from":{"q":1,"p":{}},"to":"text"}}}',
    ]);
  });

  /** Returns the changes of each event as exact text, oldest first. */
  async function historyTexts(token: string, id: string): Promise<string[]> {
    const { text } = await page(token, {}, `/v1/user-groups/${id}/events`);
    return text
      .slice(0, text.lastIndexOf('}],"next_cursor"'))
      .split('},{"event_id"')
      .map((event) => event.split('"changes":')[1]!)
      .reverse();
  }

  async function storedBytes(id: string): Promise<number[]> {
    const rows = await runSql(
      service.database,
      `select octet_length(changes) as bytes from events where target_id = '${id}' order by position`,
    );
    return rows.map(({ bytes }) => Number(bytes));
  }

  it('stores a small change of large properties in a small event', async () => {
    const { token } = await newWorkspace();
    const large = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [index, 'x'.repeat(300)]));
    const properties = { ...large, nested: { deep: { ...large, n: 0 } } };
    await service.get({ user_group_id: 'large', name: 'Large', properties }, { token });
    const patch = { nested: { deep: { n: 1 } } };
    await service.call('PATCH', '/v1/user-groups/large', { properties: patch }, { token });
    const [, bytes] = await storedBytes('large');
    assert.ok(bytes! < 400, String(bytes));
    assert.deepEqual((await historyTexts(token, 'large')).slice(1), [
      '{"properties":{"nested":{"from":{"deep":{"n":0}},"to":{"deep":{"n":1}}}}}',
    ]);
  });

  it('names the members whose values do not fit into an event, and keeps the others', async () => {
    const { token } = await newWorkspace();
    const path = '/v1/user-groups/bounded';
    const large = (text: string) => text.repeat(9_000);
    await service.get(
      { user_group_id: 'bounded', name: 'B', properties: { plan: 'gold', a: large('é') } },
      { token },
    );
    await service.put(
      { user_group_id: 'bounded', properties: { plan: 'silver', a: large('b'), truncated: true } },
      { token },
    );
    await service.call(
      'PUT',
      path,
      { name: 'C', properties: { plan: 'silver', a: large('cc'), truncated: false } },
      { token },
    );
    await service.call('PATCH', path, { properties: { a: null } }, { token });
    const truncated = { truncated: true };
    assert.deepEqual((await historyOf(token, 'bounded')).map(({ changes }) => changes).reverse(), [
      { name: { to: 'B' }, properties: { plan: { to: 'gold' }, a: truncated } },
      { properties: { plan: { from: 'gold', to: 'silver' }, truncated: { to: true }, a: truncated } },
      { name: { from: 'B', to: 'C' }, properties: { truncated: { from: true, to: false }, a: truncated } },
      { properties: { a: truncated } },
    ]);
    assert.ok(Math.max(...(await storedBytes('bounded'))) <= 16_384);
  });

  it('bounds the events of documents', async () => {
    const { workspaceName } = await newWorkspace();
    const { token } = await service.apiToken({ workspaceName, permission: 'admin' });
    const schema = { type: 'object', description: 'x'.repeat(40_000) };
    const rule = { schema, mode: 'off' };
    const { status } = await served(() => service.call('PUT', '/v1/property-schema', rule, { token }));
    assert.equal(status, 201);
    const [event] = await list(token, { type: 'property_schema.created' });
    assert.deepEqual(event!.changes, {
      mode: { to: 'off' },
      schema: { type: { to: 'object' }, description: { truncated: true } },
    });
  });

  it('shows events that earlier versions stored with whole fields', async () => {
    const { token } = await newWorkspace();
    await service.get({ user_group_id: 'earlier', name: 'E' }, { token });
    const stored =
      '{"from":{"properties":{"a":{"n":0,"m":[1.0]},"b":1}},"to":{"properties":{"a":{"n":1,"m":[1.0]},"b":1}}}';
    await runSql(service.database, `update events set changes = '${stored}' where target_id = 'earlier'`);
    assert.deepEqual(await historyTexts(token, 'earlier'), [
      '{"properties":{"a":{"from":{"n":0},"to":{"n":1}}}}',
    ]);
  });

  it('writes no event for a call that changes nothing', async () => {
    const { token } = await newWorkspace();
    const more = { token };
    const group = { user_group_id: 'idle', name: 'Idle', properties: { a: 1 } };
    await service.get(group, more);
    const before = (await list(token)).length;
    const path = '/v1/user-groups/idle';
    await service.get(group, more);
    await service.get({ ...group, name: 'Other' }, more);
    await service.put(group, more);
    await service.call('PATCH', path, { name: 'Idle' }, more);
    await service.call('PUT', path, { name: 'Idle', properties: { a: 1 } }, more);
    await service.call('GET', path, undefined, more);
    await service.put({ user_group_id: 'idle', name: 'X' }, { ...more, headers: { 'if-match': '"1-9"' } });
    await service.put({ user_group_id: 'missing', name: 'X' }, more);
    await service.call('DELETE', '/v1/user-groups/missing', undefined, more);
    await service.call('DELETE', path, undefined, { ...more, headers: { 'if-match': '"1-9"' } });
    await service.post({ current_token: 'ugt_unknown' }, more);
    assert.equal((await list(token)).length, before);
  });

  it('removes the values of a deleted group from its events, and from no other', async () => {
    const { token } = await newWorkspace();
    for (const id of ['gone', 'gone-2']) {
      await service.get({ user_group_id: id, name: 'Marked', properties: { secret: 'marked' } }, { token });
      await service.put({ user_group_id: id, properties: { secret: 'marked too' } }, { token });
    }
    await service.call('DELETE', '/v1/user-groups/gone', undefined, { token });
    assert.deepEqual(
      (await historyOf(token, 'gone')).map(({ type, changes }) => [type, changes]),
      [
        ['user_group.deleted', null],
        ['user_group.updated', null],
        ['user_group.created', null],
      ],
    );
    assert.doesNotMatch(JSON.stringify(await list(token, { target: 'user_group:gone' })), /arked/);
    assert.equal((await historyOf(token, 'gone-2')).filter(({ changes }) => changes !== null).length, 2);
    // The next group with this id continues the history.
    await service.get({ user_group_id: 'gone', name: 'Again' }, { token });
    assert.deepEqual((await historyOf(token, 'gone'))[0]!.changes, { name: { to: 'Again' } });
  });

  it('lists both orders page by page, each event once', async () => {
    const { token } = await newWorkspace();
    const ids = Array.from({ length: 23 }, (_, index) => `group ${index}`);
    await Promise.all(ids.map((id) => service.get({ user_group_id: id, name: id }, { token })));
    const oldest = await list(token, { order: 'oldest', limit: 5 });
    assert.equal(oldest.length, 24);
    assert.equal(oldest[0]!.type, 'api_token.created');
    for (const limit of [1, 7, 24, 1_000]) {
      const newest = await list(token, { limit });
      assert.deepEqual(newest, oldest.toReversed());
    }
    assert.equal((await page(token, { limit: 24 })).json.next_cursor, null);
    assert.deepEqual(new Set(oldest.slice(1).map(({ target }) => target.id)), new Set(ids));
  });

  it('returns a next_cursor on every page of the feed, even without events', async () => {
    const { token } = await newWorkspace();
    const first = await page(token, { order: 'oldest', type: 'user_group.deleted' });
    assert.deepEqual(first.json.events, []);
    await completeFeed(token);
    using _ = service.stopClock();
    const start = await nextOfFeed(token);
    const end = await page(token, { order: 'oldest', cursor: start.json.next_cursor });
    assert.deepEqual(end.json, { success: 1, events: [], next_cursor: start.json.next_cursor });
    await service.get({ user_group_id: 'later', name: 'Later' }, { token });
    const later = await nextOfFeed(token, end.json.next_cursor);
    assert.deepEqual(
      later.json.events.map(({ target }: Event) => target.id),
      ['later'],
    );
  });

  it('filters by type and by target', async () => {
    const { token, id } = await newWorkspace();
    for (const group of ['a', 'b:c', 'ü/ ?']) {
      await service.get({ user_group_id: group, name: 'N' }, { token });
      await service.put({ user_group_id: group, name: 'M' }, { token });
    }
    const updated = await list(token, { type: 'user_group.updated', limit: 2 });
    assert.deepEqual(
      updated.map(({ target }) => target.id),
      ['ü/ ?', 'b:c', 'a'],
    );
    for (const group of ['a', 'b:c', 'ü/ ?']) {
      const ofTarget = await list(token, { target: `user_group:${group}`, limit: 1 });
      assert.deepEqual(ofTarget, await historyOf(token, group));
      assert.equal(ofTarget.length, 2);
    }
    const ofToken = await list(token, { target: `api_token:${id}` });
    assert.deepEqual(
      ofToken.map(({ type }) => type),
      ['api_token.created'],
    );
    assert.deepEqual(await list(token, { target: 'user_group:a', type: 'user_group.deleted' }), []);
    for (const id of ['none', 'none\0'])
      assert.deepEqual(await list(token, { target: `user_group:${id}` }), []);
  });

  it('filters by actor, time, changed field and type of target, in both orders, and counts a page by what it returns', async () => {
    const { token } = await newWorkspace();
    const since = new Date(Date.now() - 60_000).toISOString();
    await service.get({ user_group_id: 'f', name: 'F', mapping: { 40: 'a' } }, { token });
    for (const mapping of [{ 40: 'b' }, { 40: 'b', 'x.y': 'c' }, { 40: 'd', 'x.y': 'c' }])
      await service.put({ user_group_id: 'f', mapping }, { token });
    const ofField = (field: string, query: Query = {}) =>
      list(token, { field, ...query }).then((events) => events.map(({ version }) => version));
    assert.deepEqual(await ofField('mapping.40'), [4, 2, 1]);
    assert.deepEqual(await ofField('mapping.40', { limit: 1 }), [4, 2, 1]);
    assert.deepEqual(await ofField('mapping.40', { order: 'oldest', limit: 2 }), [1, 2, 4]);
    assert.deepEqual(await ofField('mapping.x.y'), [3]);
    assert.deepEqual(await ofField('mapping.4'), []);
    assert.deepEqual(await ofField('name', { since, target_type: 'user_group' }), [1]);
    assert.deepEqual(await ofField('name', { until: since }), []);
    const [created] = await list(token, { target_type: 'api_token' });
    assert.equal(created!.type, 'api_token.created');
    const [update] = await list(token, { type: 'user_group.updated', limit: 1 });
    const actor = update!.actor.id!;
    assert.equal((await list(token, { actor })).length, 4);
    for (const other of [actor + 1, Number.MAX_SAFE_INTEGER])
      assert.equal((await list(token, { actor: other })).length, 0);
    const first = await page(token, { field: 'mapping.40', limit: 1 });
    assert.equal(first.json.events.length, 1);
    const mixed = await page(token, { field: 'name', cursor: first.json.next_cursor });
    assert.equal(mixed.status, 400);
    for (const wrong of [
      { actor: 0 },
      { actor: 2 ** 53 },
      { since: 'yesterday' },
      { field: '' },
      { target_type: 'x' },
      { target: 'group:a' },
    ])
      assert.equal((await page(token, wrong as Query)).status, 400, JSON.stringify(wrong));
  });

  it('filters by request id: applying a configuration records many events under one', async () => {
    const { token, workspaceName } = await newWorkspace();
    await service.get({ user_group_id: 'a', name: 'A' }, { token });
    const admin = await service.apiToken({ workspaceName, permission: 'admin' });
    const configuration = { version: 1, schemas: { 40: { name: 'Orders' }, 41: { name: 'Sales' } } };
    const { status, headers } = await service.call('PUT', '/v1/config', configuration, admin);
    assert.equal(status, 200);
    const request_id = String(headers['x-request-id']);
    for (const order of ['newest', 'oldest']) {
      const events = await list(token, { request_id, order, limit: 1 });
      assert.deepEqual(
        events.map(({ type, request_id }) => [type, request_id]),
        Array(2).fill(['schema.created', request_id]),
      );
    }
    assert.deepEqual(await list(token, { request_id: request_id.slice(0, -1) }), []);
    const { json } = await page(token, { request_id, limit: 1 });
    for (const another of [{}, { request_id: 'another' }])
      assert.equal((await page(token, { ...another, cursor: json.next_cursor })).status, 400);
    assert.equal((await page(token, { request_id: '' })).status, 400);
  });

  it('finds the events since an instant among earlier ones, and those of a process whose clock is slow', async () => {
    const { token } = await newWorkspace();
    const since = new Date(Date.now() - 60_000).toISOString();
    for (const [id, minutes] of [
      ['earlier', -20],
      ['since', 0],
      ['slow', -5],
    ] as const) {
      service.clockAheadMs = minutes * 60_000;
      await service.get({ user_group_id: id, name: 'N' }, { token });
    }
    service.clockAheadMs = 0;
    for (const order of ['newest', 'oldest']) {
      const found = await list(token, { since, order, target_type: 'user_group' });
      assert.deepEqual(
        found.map(({ target }) => target.id),
        ['since'],
        order,
      );
    }
  });

  it('begins at the end of the period, and not with all that happened later', async () => {
    service.clockAheadMs = -2 * DAY_MS;
    const { token, id } = await newWorkspace();
    await service.get({ user_group_id: 'earlier', name: 'N' }, { token });
    service.clockAheadMs = -DAY_MS;
    await service.get({ user_group_id: 'yesterday', name: 'N' }, { token });
    service.clockAheadMs = 0;
    const now = Date.now();
    await insertEvents(id, 12_000, 'later', now);
    const [since, until] = [1.5, 0.5].map((days) => new Date(now - days * DAY_MS).toISOString());
    const first = await page(token, { since: since!, until: until! });
    assert.deepEqual(idsOf(first.json.events), ['yesterday']);
    assert.equal(first.json.next_cursor, null);
    const all = await list(token, { until: until!, limit: 1, target_type: 'user_group' });
    assert.deepEqual(idsOf(all), ['yesterday', 'earlier']);
  });

  it('refuses unknown types, targets and orders, and names the valid ones', async () => {
    const { token } = await newWorkspace();
    const refusals = [
      [{ type: 'user_group.moved' }, /user_group\.created.*webhook_endpoint\.deleted/],
      [{ target: 'group:a' }, /user_group, api_token, webhook_endpoint/],
      [{ target: 'user_group' }, /such as user_group:acme-7/],
      [{ order: 'random' }, /newest.*oldest/],
      [{ limit: 0 }, /limit/],
      [{ limit: 1_001 }, /limit/],
      [{ typ: 'user_group.created' }, /type/],
    ] as const;
    for (const [query, message] of refusals) {
      const response = await page(token, query as unknown as Query);
      assertProblem(response, 'invalid_request');
      assert.match(response.json.detail, message);
    }
  });

  it('refuses a cursor of the feed after a pause longer than the retention', async () => {
    const { token } = await newWorkspace();
    const read = (query: Partial<Query> = {}) => page(token, { order: 'oldest', ...query });
    const { next_cursor: cursor } = (await read()).json;
    try {
      service.clockAheadMs = 89 * DAY_MS;
      assert.equal((await read({ cursor })).status, 200);
      service.clockAheadMs = 90 * DAY_MS + HOUR_MS;
      const refused = await read({ cursor });
      assertProblem(refused, 'invalid_request');
      assert.match(refused.json.detail, /^cursor is older than the events that are kept, /);
      assert.equal((await read({ cursor: (await read()).json.next_cursor })).status, 200);
    } finally {
      service.clockAheadMs = 0;
    }
  });

  it('refuses a cursor of the feed although its reader read a page of older events meanwhile', async () => {
    const { token } = await newWorkspace();
    const read = (query: Partial<Query> = {}) => page(token, { order: 'oldest', limit: 2, ...query });
    await completeFeed(token);
    const { next_cursor: atEnd } = (await read()).json;
    for (const id of ['a', 'b', 'c', 'd']) await service.get({ user_group_id: id, name: id }, { token });
    await completeFeed(token);
    try {
      service.clockAheadMs = 60 * DAY_MS;
      const behind = await read({ cursor: atEnd });
      assert.equal(behind.json.events.length, 2);
      const { next_cursor: begun } = (await read()).json;
      service.clockAheadMs = 91 * DAY_MS;
      assertProblem(await read({ cursor: behind.json.next_cursor }), 'invalid_request');
      // A reader that began without a cursor has missed nothing that it expected.
      assert.equal((await read({ cursor: begun })).status, 200);
    } finally {
      service.clockAheadMs = 0;
    }
  });

  it('accepts a cursor of a reader that is never at the end, but keeps up', async () => {
    const { token } = await newWorkspace();
    const read = (query: Partial<Query> = {}) => page(token, { order: 'oldest', limit: 2, ...query });
    let cursor: string | undefined;
    try {
      for (let days = 0; days <= 120; days += 40) {
        service.clockAheadMs = days * DAY_MS;
        for (const id of ['a', 'b', 'c'])
          await service.get({ user_group_id: `${id}-${days}`, name: id }, { token });
        await completeFeed(token);
        const { status, json } = await read(cursor === undefined ? {} : { cursor });
        assert.deepEqual([status, json.events.length], [200, 2]);
        cursor = json.next_cursor;
      }
    } finally {
      service.clockAheadMs = 0;
    }
  });

  it('refuses a cursor that was modified, or is of another list', async () => {
    const { token } = await newWorkspace();
    const { token: other } = await newWorkspace();
    await service.get({ user_group_id: 'a', name: 'A' }, { token });
    await completeFeed(token);
    const { next_cursor: cursor } = (await page(token, { order: 'oldest', limit: 1 })).json;
    assert.equal((await page(token, { order: 'oldest', cursor })).status, 200);
    const refused: [string, Query][] = [
      [other, { order: 'oldest', cursor }],
      [token, { order: 'newest', cursor }],
      [token, { order: 'oldest', cursor, type: 'user_group.created' }],
      [token, { order: 'oldest', cursor, target: 'user_group:a' }],
      [token, { order: 'oldest', cursor: `${cursor}A` }],
      [token, { order: 'oldest', cursor: cursor.slice(1) }],
      [token, { order: 'oldest', cursor: 'x' }],
    ];
    for (const [caller, query] of refused) assertProblem(await page(caller, query), 'invalid_request');
  });

  it('shows nobody the events of another workspace or environment', async () => {
    const { token, workspaceName } = await newWorkspace();
    const { token: testing } = await service.apiToken({ workspaceName, environment: 'Testing' });
    await service.get({ user_group_id: 'mine', name: 'Mine' }, { token });
    assert.deepEqual(
      (await list(testing)).map(({ type }) => type),
      ['api_token.created'],
    );
    assert.deepEqual(await historyOf(testing, 'mine'), []);
  });

  it('bounds a page in bytes of what it returns', async () => {
    const { token } = await newWorkspace();
    await createLarge(token, 160, 'é'.repeat(7_000));
    await assertPagesOf(token, 161);
  });

  it('counts all of an event towards the bytes of a page', async () => {
    const { token, id } = await newWorkspace();
    await insertEvents(id, 3_000, 'é'.repeat(400));
    await assertPagesOf(token, 3_001);
  });

  async function createLarge(token: string, count: number, text: string): Promise<void> {
    const ids = Array.from({ length: count }, (_, index) => `large ${index}`);
    await mapConcurrently(ids, (id) =>
      service.get({ user_group_id: id, name: 'Large', properties: { id, text } }, { token }),
    );
  }

  /** Asserts that the first page is full, and that all pages together have every event once. */
  async function assertPagesOf(token: string, count: number): Promise<void> {
    await completeFeed(token);
    for (const order of ['newest', 'oldest']) {
      const first = await page(token, { order, limit: 1_000 });
      const bytes = Buffer.byteLength(first.text);
      assert.ok(bytes > 262_144 && bytes < 262_144 + 20_000, `${order}: ${bytes}`);
      const events = await list(token, { order, limit: 1_000 });
      assert.equal(events.length, count);
      assert.equal(new Set(events.map(({ event_id }) => event_id)).size, count);
    }
  }

  it('reads a bounded number of events for a page with a rare type', async () => {
    const { token, id } = await newWorkspace();
    await service.get({ user_group_id: 'rare', name: 'Rare' }, { token });
    await service.call('DELETE', '/v1/user-groups/rare', undefined, { token });
    await insertEvents(id, 2_500);
    await completeFeed(token);
    for (const order of ['newest', 'oldest']) {
      const query = { type: 'user_group.deleted', order };
      const first = await page(token, query);
      assert.equal(first.json.events.length, order === 'newest' ? 0 : 1);
      assert.notEqual(first.json.next_cursor, null);
      const found: Event[] = [];
      let cursor: string | null = null;
      for (let pages = 0; pages < 4; pages++) {
        const { json } = await page(token, { ...query, ...(cursor !== null && { cursor }) });
        found.push(...json.events);
        cursor = json.next_cursor;
        if (cursor === null) break;
      }
      assert.deepEqual(
        found.map(({ target }) => target.id),
        ['rare'],
      );
    }
  });

  /** Inserts events of many groups into the workspace of an API token, after all others. */
  async function insertEvents(apiTokenId: number, count: number, suffix = '', occurredAt = 1): Promise<void> {
    const columns =
      'bucket, workspace_id, environment, target_type, target_id, event_id, type, occurred_at, actor, request_id, version, changes, position';
    const values = (n: string, position: string) =>
      `select 1, (select workspace_id from api_tokens where api_token_id = ${apiTokenId}), 'Customer', 'user_group', 'generated ' || ${n} || '${suffix}', 'evt_generated' || ${n}, 'user_group.created', ${occurredAt}, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', null, 1, null, ${position}`;
    await runSql(
      service.database,
      database.name === 'SQLite'
        ? `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
           insert into events (${columns}) ${values('i', '(select max(position) from events) + i')} from n`
        : `insert into events (${columns}) ${values('i', '(select max(position) from events) + 1')} from generate_series(1, ${count}) as i`,
    );
    // Advances the horizon of the feed.
    await service.get({ user_group_id: 'after', name: 'After' });
  }
});

function idsOf(events: readonly Event[]): string[] {
  return events.map(({ target }) => target.id);
}

describe('UGS_EVENT_RETENTION_DAYS=0', () => {
  describeOnEachDatabase('', (database) => {
    it('writes no events, and tests no webhook endpoint', async () => {
      const service = await TestService.start(database, { env: { UGS_EVENT_RETENTION_DAYS: '0' } });
      await service.get({ user_group_id: 'a', name: 'A' });
      await service.put({ user_group_id: 'a', name: 'B' });
      await service.call('POST', '/v1/user-groups/a/rotate', {});
      await service.call('DELETE', '/v1/user-groups/a');
      const { json } = await service.call('GET', '/v1/events?order=oldest');
      assert.deepEqual(json.events, []);
      assert.equal(typeof json.next_cursor, 'string');
      const { token } = await service.apiToken({ permission: 'admin' });
      const endpoint = '/v1/webhook-endpoints/hook';
      const fields = { url: 'https://example.com/hooks', event_types: ['*'] };
      await service.call('PUT', endpoint, fields, { token });
      const tested = await service.call('POST', `${endpoint}/test`, undefined, { token });
      assertProblem(tested, 'invalid_request');
      await service.end();
    });
  });
});
