// Contract: GET /v1/forward-auth tells a proxy in headers who is viewing, or returns 401.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { MAX_VALUES, MAX_VIEWER_HEADER_BYTES } from '../../src/http/endpoints/user-group/forward-auth.ts';
import { exchange, exchangeOne } from '../support/connection/raw-connection.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { EmbedSite } from '../support/embed-token/site.ts';
import type { TestRequest, TestResponse } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { unresolvableTokens } from '../support/user-group/unresolvable-token.ts';

describeOnEachDatabase('GET /v1/forward-auth', (database) => {
  const site = EmbedSite.of(database);
  const { service } = site;

  const createGroup = (id: string, more: object = {}) =>
    site.createGroup({ user_group_id: id, name: 'Acme', ...more });
  const ask = (token: string, headers = {}, apiToken = service.token) =>
    service.forwardAuth({ 'x-user-group-token': token, ...headers }, apiToken);

  /** Returns the headers about the viewer, without the common prefix of their names. */
  function viewerIn({ status, headers, text }: TestResponse): Record<string, string> {
    assert.deepEqual([status, text], [200, '']);
    assert.equal(headers['cache-control'], 'no-store');
    const start = 'x-user-group-';
    const names = Object.keys(headers).filter((name) => name.startsWith(start));
    return Object.fromEntries(names.map((name) => [name.slice(start.length), headers[name] as string]));
  }

  it('returns the user group and its data sources in headers, and no body', async () => {
    const token = await createGroup('acme-7', { mapping: { 40: 'orders', 41: 7 } });
    const response = await ask(token);
    assert.deepEqual(viewerIn(response), {
      id: 'acme-7',
      name: 'Acme',
      'data-source-40': 'orders',
      'data-source-41': '7',
    });
    assert.equal(response.headers['content-type'], undefined);
    assert.equal(response.headers['content-length'], '0');
  });

  it('percent-encodes values, so that every stored text is a header and is decoded to the same text', async () => {
    const group = {
      user_group_id: 'a, b\u{1f642}%2C"',
      name: 'Z\u00fcrich; x=1 \u2028\u6771',
      mapping: { s: 'a b,c\u00e9' },
    };
    const viewer = viewerIn(await ask(await site.createGroup(group)));
    for (const value of Object.values(viewer)) assert.match(value, /^[\w.!~*'()%-]+$/);
    assert.deepEqual(
      [viewer.id, viewer.name, viewer['data-source-s']].map((value) => decodeURIComponent(value!)),
      [group.user_group_id, group.name, group.mapping.s],
    );
  });

  it('names each schema in its header, even if two differ only in a backslash and a quotation mark', async () => {
    const sources = async (id: string, schema: string) =>
      Object.keys(viewerIn(await ask(await createGroup(id, { mapping: { first: 'x', [schema]: 'y' } })))).at(
        -1,
      );
    assert.equal(await sources('backslash', 'orders\\'), 'data-source-orders-5c');
    assert.equal(await sources('quotation mark', 'orders"'), 'data-source-orders-22');
  });

  it('has one header for each schema, even where case, hyphens and underscores do not count', async () => {
    const schemas = [
      'a',
      'A',
      'a-b',
      'a_b',
      'a b',
      'A-B',
      'a-2db',
      '-',
      '_',
      '\u00e9',
      'e\u0301',
      '\u{1f642}',
      '%',
      ':',
    ];
    const mapping = Object.fromEntries(schemas.map((schema, index) => [schema, `source-${index}`]));
    const token = await createGroup('schemas', { mapping });
    const { id: _id, name: _name, ...sources } = viewerIn(await ask(token));
    const names = Object.keys(sources).map((name) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '_'));
    assert.equal(new Set(names).size, schemas.length);
    assert.deepEqual(Object.values(sources).sort(), Object.values(mapping).sort());
    assert.deepEqual(
      [sources['data-source-a'], sources['data-source--41'], sources['data-source-a-2db']],
      ['source-0', 'source-1', 'source-2'],
    );
  });

  describe('with a catalogue', () => {
    let admin: string;
    const asAdmin = (method: string, path: string, body?: object) =>
      service.call(method, path, body, { token: admin });
    const viewerToken = async (id: string, mapping: object | null) =>
      (await service.get({ user_group_id: id, name: 'N', mapping }, { token: admin })).json.user_group.token;

    before(async () => {
      admin = (await service.apiToken({ permission: 'admin', workspaceName: 'catalogue' })).token;
      await asAdmin('PUT', '/v1/schemas/40', { name: 'Orders' });
      await asAdmin('PUT', '/v1/schemas/41', { name: 'Stock', default_data_source: 'all-stock' });
      await asAdmin('PUT', '/v1/data-sources/acme-orders', { schema_id: '40', name: 'O' });
      await asAdmin('PUT', '/v1/data-sources/all-stock', { schema_id: '41', name: 'S' });
    });

    it("returns the caller's ids of the data sources, and those of defaults", async () => {
      const { data_source_id } = (await asAdmin('GET', '/v1/data-sources/acme-orders')).json.data_source;
      for (const reference of ['acme-orders', data_source_id, String(data_source_id)]) {
        const token = await viewerToken(`by-${typeof reference}-${reference}`, { 40: reference });
        const { 'data-source-40': orders, 'data-source-41': stock } = viewerIn(await ask(token, {}, admin));
        assert.deepEqual([orders, stock], ['acme-orders', 'all-stock']);
      }
    });

    it('refuses a viewer for whom a schema has no data source, without any header', async () => {
      const dangling = {
        missing: { 40: 'gone' },
        'of another schema': { 40: 'all-stock' },
        unknown: { 42: 1 },
      };
      for (const [id, mapping] of Object.entries(dangling)) {
        const response = await ask(await viewerToken(id, mapping), {}, admin);
        assertProblem(response, 'user_group_not_forwardable');
        assertNoViewer(response);
      }
    });

    it('refuses a viewer whose group does not map a schema of the catalogue without a default', async () => {
      const incomplete = {
        'no mapping': null,
        'an empty mapping': {},
        'another schema': { 41: 'all-stock' },
      };
      for (const [id, mapping] of Object.entries(incomplete)) {
        const response = await ask(await viewerToken(id, mapping), {}, admin);
        assertProblem(response, 'user_group_not_forwardable');
        assertNoViewer(response);
      }
    });

    it('refuses viewers as soon as a schema is added that their groups do not map', async () => {
      const token = await viewerToken('added', { 40: 'acme-orders' });
      assert.equal(viewerIn(await ask(token, {}, admin))['data-source-40'], 'acme-orders');
      await asAdmin('PUT', '/v1/schemas/added', { name: 'Added' });
      assertProblem(await ask(token, {}, admin), 'user_group_not_forwardable');
      await asAdmin('PUT', '/v1/schemas/added', { name: 'Added', default_data_source: 'gone' });
      assertProblem(await ask(token, {}, admin), 'user_group_not_forwardable');
      await asAdmin('DELETE', '/v1/schemas/added?force=true');
      assert.equal(viewerIn(await ask(token, {}, admin))['data-source-40'], 'acme-orders');
    });

    it('refuses the viewer as soon as the data source is deleted', async () => {
      await asAdmin('PUT', '/v1/data-sources/passing', { schema_id: '40', name: 'P' });
      const token = await viewerToken('passing', { 40: 'passing' });
      assert.equal(viewerIn(await ask(token, {}, admin))['data-source-40'], 'passing');
      await asAdmin('DELETE', '/v1/data-sources/passing?force=true');
      assertProblem(await ask(token, {}, admin), 'user_group_not_forwardable');
    });
  });

  it('refuses values that are too long for headers, and truncates none', async () => {
    const sources = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, 1]));
    const long = '\u6771'.repeat(255);
    const few = await createGroup('few', { mapping: sources(MAX_VALUES) });
    assert.equal(Object.keys(viewerIn(await ask(few))).length, MAX_VALUES + 2);
    const largest = await site.createGroup({ user_group_id: long, name: long, mapping: { s: long } });
    const viewer = viewerIn(await ask(largest));
    assert.equal(decodeURIComponent(viewer.name!), long);
    const refused = [
      await createGroup('many', { mapping: sources(MAX_VALUES + 1) }),
      await createGroup('long', { mapping: { a: long, b: long, c: long, d: long } }),
      await createGroup('long schema', { mapping: { [long]: long, [`${long.slice(1)}x`]: long } }),
    ];
    for (const token of refused) {
      const response = await ask(token);
      assertProblem(response, 'user_group_not_forwardable');
      assertNoViewer(response);
      assert.ok(response.json.detail.includes(String(MAX_VIEWER_HEADER_BYTES)));
    }
  });

  it('returns the same 401 for every token that does not resolve, and without a token', async () => {
    const { current, dead, callers } = await unresolvableTokens(site);
    const header = 'x-user-group-token';
    const cookie = `user_group_token=${current}`;
    const texts = new Set<string>();
    const assertRefused = async (reason: string, headers: TestRequest['headers'], apiToken?: string) => {
      const response = await service.forwardAuth(headers, apiToken);
      assert.equal(response.status, 401, reason);
      assertProblem(response, 'viewer_unauthenticated');
      assertNoViewer(response);
      assert.equal(response.headers['www-authenticate'], 'Bearer realm="user-group-service"');
      texts.add(JSON.stringify({ ...response.json, request_id: '' }));
    };
    const refused = {
      none: {},
      empty: { [header]: '' },
      'another scheme': { [header]: `Basic ${current}` },
      'two headers': { [header]: [current, current] },
      'two cookies': { cookie: `${cookie}; user_group_token=${dead.replaced}` },
      'the same cookie twice': { cookie: [cookie, cookie] },
      'a quoted cookie': { cookie: `user_group_token="${current}"` },
      'another cookie': { cookie: `xuser_group_token=${current}` },
      'a cookie in another case': { cookie: `User_Group_Token=${current}` },
      'a dead token in the header and a valid one in the cookie': { [header]: dead.replaced, cookie },
      'a header with underscores': { x_user_group_token: current },
    };
    for (const [reason, headers] of Object.entries(refused)) await assertRefused(reason, headers);
    for (const [reason, token] of Object.entries(dead)) await assertRefused(reason, { [header]: token });
    for (const [reason, apiToken] of Object.entries(callers))
      await assertRefused(reason, { [header]: current }, apiToken);
    assert.equal(texts.size, 1);
  });

  it('accepts the token in the header, with or without Bearer, or in a cookie; the header wins', async () => {
    const token = await createGroup('sources');
    const other = await createGroup('other-source');
    const cookie = `theme=dark; user_group_token=${token};other=1`;
    const accepted = [
      { 'x-user-group-token': token },
      { 'x-user-group-token': `Bearer ${token}` },
      { 'x-user-group-token': `bearer ${token}`, cookie: `user_group_token=${other}` },
      { cookie },
      { cookie, 'x-user-group-token': '' },
      { cookie: ['theme=dark', `user_group_token=${token}`] },
    ];
    for (const headers of accepted)
      assert.equal(viewerIn(await service.forwardAuth(headers)).id, 'sources', Object.keys(headers).join());
  });

  it('accepts an imported token, in the header and in the cookie', async () => {
    const imported = 'imported=token:"of/another+system"';
    await service.importGroup({ user_group_id: 'imported', name: 'I', token: imported });
    for (const headers of [
      { 'x-user-group-token': imported },
      { 'x-user-group-token': `Bearer ${imported}` },
      { cookie: `user_group_token=${imported}` },
    ])
      assert.equal(viewerIn(await service.forwardAuth(headers)).id, 'imported');
  });

  it('accepts an embed token, until its group changes', async () => {
    await site.create('jwt', { type: 'jwt', settings: { audience: 'a' } });
    await createGroup('embedded');
    const jwt = await site.token('jwt', { user_group_id: 'embedded' });
    assert.equal(viewerIn(await ask(`Bearer ${jwt}`)).id, 'embedded');
    assert.equal(viewerIn(await service.forwardAuth({ cookie: `user_group_token=${jwt}` })).id, 'embedded');
    await service.put({ user_group_id: 'embedded', name: 'Changed' });
    assertProblem(await ask(jwt), 'viewer_unauthenticated');
  });

  it('sees a rotation, a suspension and an update with the next request', async () => {
    const token = await createGroup('fresh');
    const { user_group } = (await service.post({ current_token: token, grace_period_seconds: 60 })).json;
    assert.equal(viewerIn(await ask(token)).id, 'fresh');
    await service.put({ user_group_id: 'fresh', name: 'Renamed' });
    assert.equal(viewerIn(await ask(user_group.token)).name, 'Renamed');
    await site.suspend('fresh');
    assertProblem(await ask(user_group.token), 'viewer_unauthenticated');
    await site.suspend('fresh', false);
    service.clockAheadMs = 61_000;
    try {
      assertProblem(await ask(token), 'viewer_unauthenticated');
    } finally {
      service.clockAheadMs = 0;
    }
  });

  it('accepts API tokens with each permission that it allows, as Token and as Bearer', async () => {
    const token = await createGroup('permitted');
    for (const permission of ['admin', 'read-write', 'read-only', 'resolve', 'embed'] as const) {
      const { token: apiToken } = await service.apiToken({ permission });
      assert.equal(viewerIn(await ask(token, {}, apiToken)).id, 'permitted', permission);
    }
    const bearer = await ask(token, { authorization: `Bearer ${service.token}` });
    assert.equal(viewerIn(bearer).id, 'permitted');
    for (const authorization of [`Bearer ${token}`, `Token ${token}`, undefined]) {
      const response = await ask(token, { authorization });
      assertProblem(response, 'unauthenticated');
      assertNoViewer(response);
    }
  });

  it("refuses a second Authorization header, which may be the viewer's", async () => {
    const token = await createGroup('twice');
    const authorization = `Token ${service.token}`;
    for (const other of [authorization, `Bearer ${token}`, '']) {
      const response = await ask(token, { authorization: [authorization, other] });
      assertProblem(response, 'invalid_request');
      assertNoViewer(response);
    }
  });

  it("ignores the URL, the origin and the preconditions of the viewer's request", async () => {
    const token = await createGroup('browser');
    const headers = {
      'x-user-group-token': token,
      origin: ['https://dashboards.example.com', 'null'],
      'if-none-match': ['"1-1"', 'W/"x"'],
      'if-modified-since': 'Tue, 03 Mar 2026 09:15:00 GMT',
      'if-match': 'not a tag',
      range: 'bytes=0-1',
      accept: 'text/html',
      'content-type': ['text/plain', 'application/json'],
      'content-encoding': ['gzip', 'br'],
    };
    const viewersUrls = [
      '/?page=%&user_group_token=x',
      '/dashboard/7?schemas=gone&properties=gone',
      '/100%/%zz/%00',
      '//user-groups/../../healthz',
      `/${'long/'.repeat(1_000)}`,
    ];
    for (const url of [
      '',
      '?uri=',
      ...viewersUrls,
      ...viewersUrls.map((each) => `?uri=${each}&schemas=gone`),
    ]) {
      const response = await service.call('GET', `/v1/forward-auth${url}`, undefined, { headers });
      assert.equal(viewerIn(response).id, 'browser', url);
      assert.equal(response.headers['access-control-allow-origin'], undefined);
    }
  });

  it('refuses parameters that it does not know: they are those of the viewer, who could choose others', async () => {
    const token = await createGroup('leaked');
    for (const query of [
      'page=1',
      'schema=40',
      'schemas=40&schemas=41',
      'schemas=',
      'schemas=%',
      'properties=a,a',
    ]) {
      const path = `/v1/forward-auth?${query}`;
      const response = await service.call('GET', path, undefined, {
        headers: { 'x-user-group-token': token },
      });
      assertProblem(response, 'invalid_request');
      assertNoViewer(response);
    }
  });

  it('does the same for every method, and reads no body', async () => {
    const token = await createGroup('body');
    const headers = { 'x-user-group-token': token, 'content-type': 'text/plain' };
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      for (const path of ['/v1/forward-auth', '/v1/forward-auth/page?a=1'])
        for (const body of [undefined, 'x', 'x'.repeat(2_000_000)]) {
          const sent = method === 'GET' || method === 'HEAD' ? undefined : body;
          const response = await service.call(method, path, sent, { headers });
          assert.equal(viewerIn(response).id, 'body', `${method} ${path} ${sent?.length}`);
          const refused = await service.call(method, path, sent, {
            headers: { 'content-type': 'text/plain' },
          });
          assert.equal(refused.status, 401);
          assertNoViewer(refused);
        }
    const trace = await service.call('TRACE', '/v1/forward-auth');
    assert.deepEqual(
      [trace.status, trace.headers.allow],
      [405, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'],
    );
  });

  it('returns the next response on the connection after a body that it has not read', async () => {
    const token = await createGroup('connection');
    const head =
      `POST /v1/forward-auth HTTP/1.1\r\nHost: a\r\nAuthorization: Token ${service.token}\r\n` +
      `X-User-Group-Token: ${token}\r\n`;
    const chunked = `Transfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\n\r\n`;
    const sized = `Content-Length: 300000\r\n\r\n${'x'.repeat(300_000)}`;
    const last = `Content-Length: 0\r\nConnection: close\r\n\r\n`;
    const { answers } = await exchange(service.url, `${head}${sized}${head}${chunked}${head}${last}`);
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers['x-user-group-id']]),
      Array.from({ length: 3 }, () => [200, 'connection']),
    );
  });

  describe('with properties that the proxy asks for', () => {
    const askFor = (token: string, names: string, more = '') =>
      service.call('GET', `/v1/forward-auth?properties=${names}${more}`, undefined, {
        headers: { 'x-user-group-token': token },
      });

    it('refuses more than fit beside the data sources', async () => {
      const schemas = Array.from({ length: MAX_VALUES - 1 }, (_, index) => [`s${index}`, 1]);
      const properties = { a: 1, b: 2 };
      const token = await createGroup('full', { mapping: Object.fromEntries(schemas), properties });
      assert.equal(viewerIn(await askFor(token, 'a'))['property-a'], '1');
      assertProblem(await askFor(token, 'a,b'), 'user_group_not_forwardable');
    });

    it('returns texts and numbers, percent-encoded, with all their digits', async () => {
      const response = await service.call(
        'POST',
        '/v1/user-groups',
        '{"user_group_id":"typed","name":"T","properties":{"customer_id":"C 1/\u00e9","large":9007199254740993.10,' +
          '"zero":0,"negative":-1.5e+3,"a,b":"comma","other":"not asked for","customerId":"camel"}}',
      );
      const viewer = viewerIn(
        await askFor(response.json.user_group.token, 'customer_id,large,zero,negative,a%2Cb'),
      );
      assert.deepEqual(viewer, {
        id: 'typed',
        name: 'T',
        'property-customer_id': 'C%201%2F%C3%A9',
        'property-large': '9007199254740993.10',
        'property-zero': '0',
        'property-negative': '-1.5e%2B3',
        'property-a-2cb': 'comma',
      });
      const camel = viewerIn(await askFor(response.json.user_group.token, 'customerId'));
      assert.equal(camel['property-customerid'], 'camel');
    });

    it('refuses a viewer who lacks one of them, or has one that a header cannot represent', async () => {
      const properties = {
        good: 'x',
        empty: '',
        nothing: null,
        yes: true,
        list: ['a'],
        object: { a: 1 },
        long: 'x'.repeat(MAX_VIEWER_HEADER_BYTES),
      };
      const token = await createGroup('refused-properties', { properties });
      assert.equal(viewerIn(await askFor(token, 'good'))['property-good'], 'x');
      for (const name of [
        'absent',
        'empty',
        'nothing',
        'yes',
        'list',
        'object',
        'long',
        '__proto__',
        'toString',
      ]) {
        const response = await askFor(token, `good,${name}`);
        assertProblem(response, 'user_group_not_forwardable');
        assertNoViewer(response);
      }
      const none = await createGroup('without-properties');
      assertProblem(await askFor(none, 'good'), 'user_group_not_forwardable');
    });

    it('refuses names whose headers a server could confuse', async () => {
      const token = await createGroup('confused', { properties: { 'a-b': 1, a_b: 2, A_B: 3 } });
      for (const names of ['a_b,A_B', 'a-b,a_2db', 'a_b,a_b'])
        assertProblem(await askFor(token, names), 'invalid_request');
      assert.equal(viewerIn(await askFor(token, 'a_b,a-b'))['property-a-2db'], '1');
    });
  });

  describe('with schemas that the proxy asks for', () => {
    const askFor = (token: string, names: string, apiToken = service.token) =>
      service.call('GET', `/v1/forward-auth?schemas=${names}`, undefined, {
        headers: { 'x-user-group-token': token },
        token: apiToken,
      });

    it('returns their data sources and no others, without a catalogue', async () => {
      const token = await createGroup('asked', { mapping: { 40: 'orders', 'a,b': 'x', 41: 'stock' } });
      const { id: _id, name: _name, ...sources } = viewerIn(await askFor(token, '40,a%2Cb'));
      assert.deepEqual(sources, { 'data-source-40': 'orders', 'data-source-a-2cb': 'x' });
      for (const names of ['40,42', '__proto__', 'constructor']) {
        const response = await askFor(token, names);
        assertProblem(response, 'user_group_not_forwardable');
        assertNoViewer(response);
      }
    });

    it('refuses a viewer only for one of them, with a catalogue', async () => {
      const { token: admin } = await service.apiToken({ permission: 'admin', workspaceName: 'asked' });
      const asAdmin = (method: string, path: string, body: object) =>
        service.call(method, path, body, { token: admin });
      for (const id of ['40', '41', '42']) await asAdmin('PUT', `/v1/schemas/${id}`, { name: id });
      await asAdmin('PUT', '/v1/data-sources/orders', { schema_id: '40', name: 'O' });
      const mapping = { 40: 'orders', 41: 'orders' };
      const { json } = await asAdmin('POST', '/v1/user-groups', { user_group_id: 'a', name: 'A', mapping });
      const { token } = json.user_group;
      assertProblem(await ask(token, {}, admin), 'user_group_not_forwardable');
      assert.equal(viewerIn(await askFor(token, '40', admin))['data-source-40'], 'orders');
      for (const names of ['41', '42', '40,41', '40,42', '43', 'orders'])
        assertProblem(await askFor(token, names, admin), 'user_group_not_forwardable');
    });
  });

  it('never returns a header that the request has', async () => {
    const token = await createGroup('smuggled');
    const response = await exchangeOne(
      service,
      `GET /v1/forward-auth HTTP/1.1\r\nHost: a\r\nAuthorization: Token ${service.token}\r\n` +
        `X-User-Group-Token: ${token}\r\nX-User-Group-Id: evil\r\nX-User-Group-Data-Source-40: evil\r\nConnection: close\r\n\r\n`,
    );
    assert.equal(response.headers['x-user-group-id'], 'smuggled');
    assert.equal(JSON.stringify(response.headers).includes('evil'), false);
  });
});

function assertNoViewer({ headers }: TestResponse): void {
  assert.deepEqual(
    Object.keys(headers).filter((name) => name.startsWith('x-user-group')),
    [],
  );
}
