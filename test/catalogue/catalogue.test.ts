// Contract: schemas and data sources, and what resolve makes of a mapping.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { EnvironmentConfig } from '../../src/operations/document/environment-config.ts';
import { previewLine } from '../../src/operations/user-group/import.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { assertProblem, pointersOf } from '../support/problem.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';

describeOnEachDatabase('The catalogue', (database) => {
  const service = TestService.of(database);
  let admin: { token: string };
  before(async () => {
    admin = await service.apiToken({ permission: 'admin' });
    await putSchema('40');
    await putSchema('41');
  });

  const put = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    service.call('PUT', path, body, { token: admin.token, headers });
  const putSchema = (id: string, more: object = {}) =>
    put(`/v1/schemas/${id}`, { name: `Schema ${id}`, ...more });
  const putSource = (id: string, more: object = {}) =>
    put(`/v1/data-sources/${id}`, { schema_id: '40', name: `Source ${id}`, ...more });
  const resolve = async (id: string, mapping: unknown) => {
    await service.get({ user_group_id: id, name: id });
    const { json } = await service.put({ user_group_id: id, mapping });
    return (await service.resolve(json.user_group.token)).json;
  };

  it('gives a data source a number that it keeps, with its attributes as they were sent', async () => {
    const created = await put(
      '/v1/data-sources/kept',
      '{"schema_id":"40","name":"K","attributes":{"n":1.10}}',
    );
    assert.equal(created.status, 201);
    assert.match(created.text, /"attributes":\{"n":1\.10\}/);
    const { data_source_id: id } = created.json.data_source;
    assert.ok(Number.isSafeInteger(id) && id > 0);
    const replaced = await putSource('kept', { name: 'Other' });
    assert.equal(replaced.status, 200);
    assert.equal(replaced.json.data_source.data_source_id, id);
    assert.equal(replaced.json.data_source.version, 2);
  });

  it('gives one number to a data source that is created concurrently', async () => {
    const responses = await Promise.all(Array.from({ length: 10 }, () => served(() => putSource('raced'))));
    const ids = new Set(responses.map(({ json }) => json.data_source.data_source_id));
    assert.equal(ids.size, 1);
    // None if a busy service took too long for the one that created it, which was repeated.
    assert.ok(responses.filter(({ status }) => status === 201).length <= 1);
  });

  it('resolves a mapping by number, by own id, and by a number in a string', async () => {
    const { json } = await putSource('by-reference', { attributes: { host: 'db' } });
    const { data_source_id: number } = json.data_source;
    for (const reference of [number, 'by-reference', String(number)]) {
      const resolved = await resolve('referring', { 40: reference });
      assert.deepEqual(resolved.data_sources, {
        40: {
          data_source_id: number,
          provided_id: 'by-reference',
          name: 'Source by-reference',
          attributes: { host: 'db' },
        },
      });
      assert.deepEqual(resolved.unresolved, []);
    }
  });

  it('prefers an own id that is all digits to the number of another data source', async () => {
    const { json } = await putSource('first');
    const number = json.data_source.data_source_id;
    await putSource(String(number), { name: 'Named like a number' });
    const resolved = await resolve('digits', { 40: String(number) });
    assert.equal(resolved.data_sources[40].name, 'Named like a number');
  });

  it('reports dangling references, and replaces none by the default of the schema', async () => {
    await putSource('default');
    await putSchema('42', { default_data_source: 'of-42' });
    await putSource('of-42', { schema_id: '42' });
    await putSource('other', { schema_id: '41' });
    const resolved = await resolve('dangling', { 40: 'other', 42: 'gone', 99: 999_999 });
    assert.deepEqual(resolved.data_sources, {});
    assert.deepEqual(resolved.unresolved, [
      { schema_id: '40', data_source: 'other', reason: 'other_schema' },
      { schema_id: '42', data_source: 'gone', reason: 'missing' },
      { schema_id: '99', data_source: 999_999, reason: 'missing' },
    ]);
    const unmapped = await resolve('unmapped', null);
    assert.deepEqual(Object.keys(unmapped.data_sources), ['42']);
  });

  it('resolves a mapping to a reserved data source only for its user group', async () => {
    const created = await putSource('reserved', { user_group_id: 'owner' });
    assert.equal(created.json.data_source.user_group_id, 'owner');
    const { data_source_id: number } = created.json.data_source;
    for (const reference of [number, 'reserved', String(number)]) {
      assert.equal((await resolve('owner', { 40: reference })).data_sources[40].provided_id, 'reserved');
      const other = await resolve('not-owner', { 40: reference });
      assert.equal(other.data_sources[40], undefined);
      assert.deepEqual(other.unresolved, [{ schema_id: '40', data_source: reference, reason: 'reserved' }]);
    }
    await putSource('reserved');
    assert.equal((await resolve('not-owner', { 40: number })).data_sources[40].provided_id, 'reserved');
    const read = await service.call('GET', '/v1/data-sources/reserved', undefined, { token: admin.token });
    assert.equal(read.json.data_source.user_group_id, null);
    const path = '/v1/events?type=data_source.updated&limit=1';
    const { json } = await service.call('GET', path, undefined, { token: admin.token });
    assert.deepEqual(json.events[0].changes, { user_group_id: { from: 'owner', to: null } });
    const odd = await putSource('reserved', { user_group_id: ' x' });
    assertProblem(odd, 'invalid_request');
    assert.equal(odd.json.errors[0].pointer, '/user_group_id');
  });

  it('shows forward authentication and introspection no reserved data source of another user group', async () => {
    const { token } = await service.apiToken({ permission: 'admin', workspaceName: 'guarded' });
    const call = (method: string, path: string, body?: unknown) =>
      service.call(method, path, body, { token });
    await call('PUT', '/v1/schemas/40', { name: 'Orders', default_data_source: 'reserved' });
    await call('PUT', '/v1/data-sources/reserved', { schema_id: '40', name: 'R', user_group_id: 'owner' });
    for (const id of ['owner', 'other']) {
      const { json } = await call('POST', '/v1/user-groups', { user_group_id: id, name: id });
      const viewer = json.user_group.token;
      const forwarded = await service.call('GET', '/v1/forward-auth', undefined, {
        token,
        headers: { 'x-user-group-token': viewer },
      });
      assert.equal(forwarded.status, id === 'owner' ? 200 : 401);
      assert.equal(forwarded.headers['x-user-group-data-source-40'], id === 'owner' ? 'reserved' : undefined);
      const { json: introspected } = await service.introspect(viewer, { token });
      assert.deepEqual(Object.keys(introspected.user_group.data_sources), id === 'owner' ? ['40'] : []);
    }
  });

  it('applies a change to the next request', async () => {
    await putSource('moving', { attributes: { host: 'a' } });
    for (const host of ['b', 'c', 'd']) {
      await putSource('moving', { attributes: { host } });
      assert.equal((await resolve('moved', { 40: 'moving' })).data_sources[40].attributes.host, host);
    }
    await service.call('DELETE', '/v1/data-sources/moving?force=true', undefined, { token: admin.token });
    assert.deepEqual((await resolve('moved', { 40: 'moving' })).unresolved.length, 1);
  });

  it('refuses attributes that contain a credential, at any depth, without repeating it', async () => {
    const text = 'postgres://app:hunter2@db/app';
    for (const [attributes, pointer] of [
      [{ login: [{ client_secret: 'x' }] }, '/attributes/login/0/client_secret'],
      [{ a: [{ 'b/c': text }] }, '/attributes/a/0/b~1c'],
      [{ a: { [text]: 1 } }, '/attributes/a'],
    ] as const) {
      const response = await putSource('refused', { attributes });
      assertProblem(response, 'invalid_request');
      assert.equal(response.json.errors[0].pointer, pointer);
      assert.equal(response.text.includes('hunter2'), false);
    }
  });

  it('returns and resolves a data source that was stored with a credential by an earlier version', async () => {
    await putSource('earlier', { attributes: { url: 'postgres://db' } });
    const url = 'postgres://a:b@db';
    await runSql(
      service.database,
      `update documents set body = replace(body, 'postgres://db', '${url}') where document_id = 'earlier'`,
    );
    await putSource('changes-the-configuration');
    const read = await service.call('GET', '/v1/data-sources/earlier', undefined, { token: admin.token });
    assert.equal(read.json.data_source.attributes.url, url);
    assert.equal((await resolve('of-earlier', { 40: 'earlier' })).data_sources[40].attributes.url, url);
  });

  it('honours preconditions', async () => {
    const { headers } = await putSource('conditional');
    assertProblem(
      await put('/v1/data-sources/conditional', { schema_id: '40', name: 'N' }, { 'if-none-match': '*' }),
      'version_mismatch',
    );
    const body = { schema_id: '40', name: 'Second' };
    assert.equal(
      (await put('/v1/data-sources/conditional', body, { 'if-match': headers.etag! })).status,
      200,
    );
    assertProblem(
      await put('/v1/data-sources/conditional', { ...body, name: 'T' }, { 'if-match': headers.etag! }),
      'version_mismatch',
    );
  });

  it('still resolves a data source that was stored before any could be reserved', async () => {
    await putSource('unreserved');
    const body = await runSql(
      service.database,
      `select body from documents where document_id = 'unreserved'`,
    );
    assert.equal(JSON.stringify(body).includes('user_group_id'), false);
    const read = await service.call('GET', '/v1/data-sources/unreserved', undefined, { token: admin.token });
    assert.equal(read.json.data_source.user_group_id, null);
  });

  describe('with a mapping policy', () => {
    const setPolicy = (mode: string) => put('/v1/mapping-policy', { mode });
    after(() => setPolicy('off'));

    it('is off by default, and is read back', async () => {
      const read = () => service.call('GET', '/v1/mapping-policy');
      assert.equal((await read()).json.mapping_policy.mode, 'off');
      await setPolicy('report');
      assert.equal((await read()).json.mapping_policy.mode, 'report');
    });

    it('is not stored, and has no event, while it is the default', async () => {
      const { token } = await service.apiToken({ permission: 'admin', workspaceName: 'default policy' });
      const call = (method: string, path: string, body?: object) =>
        service.call(method, path, body, { token });
      const policy = { mode: 'off' };
      const read = await call('GET', '/v1/mapping-policy');
      const put = await call('PUT', '/v1/mapping-policy', policy);
      assert.equal(put.status, 200);
      assert.deepEqual(put.json, read.json);
      assert.equal(put.headers.etag, read.headers.etag);
      await call('PUT', '/v1/config', { version: 1, mapping_policy: policy });
      assert.deepEqual((await call('GET', '/v1/events?type=mapping_policy.created')).json.events, []);
    });

    it('is set for the first time by one of several concurrent calls with the version of the default', async () => {
      const environment = await service.apiToken({ permission: 'admin', environment: 'Testing' });
      const call = (method: string, body?: object, headers = {}) =>
        service.call(method, '/v1/mapping-policy', body, { token: environment.token, headers });
      const { etag } = (await call('GET')).headers;
      const set = () => call('PUT', { mode: 'report' }, { 'If-Match': etag });
      const statuses = (await Promise.all([set(), set(), set()])).map(({ status }) => status);
      assert.deepEqual(statuses.sort(), [200, 412, 412]);
      assert.notEqual((await call('GET')).headers.etag, etag);
      assert.equal((await call('PUT', { mode: 'off' }, { 'If-None-Match': '*' })).status, 412);
    });

    it('reports violations in a header, and stores the mapping', async () => {
      await setPolicy('report');
      await service.get({ user_group_id: 'reported', name: 'R' });
      const response = await service.put({ user_group_id: 'reported', mapping: { 40: 'nowhere', 'ä/b': 1 } });
      assert.equal(response.status, 200);
      assert.equal(response.headers['user-group-violations'], '/mapping/40, /mapping/%C3%A4~1b');
    });

    it('lists the first 20 violations, and says how many more there are', async () => {
      await service.get({ user_group_id: 'many', name: 'M' });
      const names = Array.from({ length: 23 }, (_, index) => `schema-${index}`);
      const mapping = Object.fromEntries(names.map((name) => [name, 'nowhere']));
      const pointers = names.slice(0, 20).map((name) => `/mapping/${name}`);
      await setPolicy('report');
      const { headers } = await service.put({ user_group_id: 'many', mapping });
      assert.equal(headers['user-group-violations'], pointers.join(', '));
      await setPolicy('enforce');
      const response = await service.put({ user_group_id: 'many', mapping });
      assertProblem(response, 'mapping_invalid');
      assert.deepEqual(pointersOf(response), pointers);
      assert.match(response.json.detail, /; and 3 more\.$/);
    });

    it('rejects violations on every call that writes a mapping', async () => {
      await setPolicy('enforce');
      const mapping = { 40: 'nowhere' };
      await service.get({ user_group_id: 'enforced', name: 'E' });
      const calls = [
        service.get({ user_group_id: 'new', name: 'N', mapping }),
        service.put({ user_group_id: 'enforced', mapping }),
        service.call('PATCH', '/v1/user-groups/enforced', { mapping }),
        service.call('PUT', '/v1/user-groups/enforced', { name: 'E', mapping }),
        service.call('PUT', '/v1/user-groups/new', { name: 'N', mapping }),
        service.call('POST', '/v1/user-groups', { user_group_id: 'new', name: 'N', mapping }),
      ];
      for (const response of await Promise.all(calls)) {
        assertProblem(response, 'mapping_invalid');
        assert.equal(response.json.errors[0].pointer, '/mapping/40');
      }
      assert.equal((await service.get({ user_group_id: 'new' })).status, 404);
      for (const user_group_id of ['new', 'enforced']) {
        const line = await service.importGroup({ user_group_id, name: 'E', mapping }, { replaces: true });
        assert.equal(line.result, 'refused');
      }
      const { json } = await service.call('GET', '/v1/user-groups/enforced');
      assert.equal(json.user_group.mapping, null);
    });

    it('rejects a mapping to the reserved data source of another group', async () => {
      await setPolicy('enforce');
      await putSource('guarded', { user_group_id: 'guarded' });
      const mapping = { 40: 'guarded' };
      const response = await service.get({ user_group_id: 'intruder', name: 'I', mapping });
      assertProblem(response, 'mapping_invalid');
      assert.match(
        response.json.detail,
        /mapping\/40 refers to a data source that is reserved for another user/,
      );
      assert.equal((await service.get({ user_group_id: 'guarded', name: 'G', mapping })).status, 200);
    });
  });
});

describeOnEachDatabase('A property schema', (database) => {
  const service = TestService.of(database);
  let admin: { token: string };
  before(async () => {
    admin = await service.apiToken({ permission: 'admin' });
  });

  const path = '/v1/property-schema';
  const put = (schema: unknown, mode = 'enforce') =>
    served(() => service.call('PUT', path, { schema, mode }, { token: admin.token }));
  const putExactly = (schema: string) =>
    served(() => service.call('PUT', path, `{"schema":${schema},"mode":"enforce"}`, { token: admin.token }));
  const create = (id: string, properties?: unknown) =>
    service.get({ user_group_id: id, name: id, ...(properties !== undefined && { properties }) });

  it('is enforced on creates, updates, patches and replacements', async () => {
    await put({ type: 'object', properties: { plan: { enum: ['gold'] } }, required: ['plan'] });
    assertProblem(await create('without'), 'properties_invalid');
    const wrong = await create('wrong', { plan: 'lead' });
    assertProblem(wrong, 'properties_invalid');
    assert.deepEqual(wrong.json.errors, [{ pointer: '/properties/plan', detail: 'must be one of ["gold"]' }]);
    assert.equal(wrong.json.detail, 'properties/plan must be one of ["gold"].');
    assert.equal((await create('right', { plan: 'gold' })).status, 200);
    const properties = { plan: null };
    assertProblem(await service.put({ user_group_id: 'right', properties }), 'properties_invalid');
    assertProblem(await service.call('PATCH', '/v1/user-groups/right', { properties }), 'properties_invalid');
    assertProblem(await service.call('PUT', '/v1/user-groups/right', { name: 'R' }), 'properties_invalid');
    assert.equal((await service.call('PATCH', '/v1/user-groups/right', { name: 'R' })).status, 200);
  });

  it('is enforced on the fields that a planned import would change', async () => {
    await put({}, 'off');
    await create('planned', {});
    await put({ type: 'object', required: ['plan'] });
    const { context } = service.app;
    const tenant = { workspaceId: 1, environment: 'Customer' } as const;
    const rules = await EnvironmentConfig.read(context.store, tenant);
    const preview = async (line: object) =>
      (await previewLine({ context, tenant, rules, replaces: true }, Buffer.from(JSON.stringify(line))))
        .result;
    const planned = { user_group_id: 'planned', name: 'planned' };
    assert.equal(await preview({ ...planned, properties: {} }), 'unchanged');
    assert.equal(await preview({ ...planned, name: 'Other' }), 'updated');
    assert.equal(await preview({ ...planned, properties: { other: 1 } }), 'refused');
    assert.equal(await preview({ user_group_id: 'new', name: 'New' }), 'refused');
  });

  it('checks absent properties as an empty object', async () => {
    await put({ type: 'object', maxProperties: 0 });
    for (const properties of [undefined, null, {}])
      assert.equal((await create(`empty ${JSON.stringify(properties)}`, properties)).status, 200);
  });

  it('is not enforced while its mode is off', async () => {
    await put({ type: 'object', required: ['plan'] }, 'off');
    assert.equal((await create('unchecked', {})).status, 200);
  });

  it('is read back exactly, and deleted', async () => {
    await service.call('PUT', path, '{"schema":{"minimum":1.10},"mode":"report"}', { token: admin.token });
    const read = await service.call('GET', path);
    assert.match(read.text, /"schema":\{"minimum":1\.10\},"mode":"report"/);
    assert.equal((await service.call('DELETE', path, undefined, { token: admin.token })).status, 204);
    const absent = await service.call('GET', path);
    assertProblem(absent, 'not_found');
    assert.match(absent.json.detail, /^This [a-z ]+ does not exist\.$/);
  });

  it('is refused with a pointer if it has a lookahead or an endless reference', async () => {
    for (const [schema, pointer] of [
      [{ properties: { a: { pattern: '(?=a)b' } } }, '/schema/properties/a/pattern'],
      [{ $ref: '#' }, '/schema'],
    ] as const) {
      const response = await put(schema);
      assertProblem(response, 'invalid_request');
      assert.equal(response.json.errors[0].pointer, pointer);
    }
  });

  it('decides exactly on numbers that JavaScript rounds', async () => {
    const createWith = (a: string) =>
      service.get(`{"user_group_id":"exact","name":"E","properties":{"a":${a}}}`);
    assert.ok((await putExactly('{"properties":{"a":{"enum":[9007199254740993]}}}')).status < 300);
    assertProblem(await createWith('9007199254740992'), 'properties_invalid');
    assert.equal((await createWith('9007199254740993.0')).status, 200);
  });

  it('distinguishes a property with a quotation mark from one with a backslash', async () => {
    await put({ properties: { first: {} }, additionalProperties: false });
    for (const name of ['a\\', 'a"']) {
      const { json } = await create('escaped', { first: 1, [name]: 1 });
      assert.deepEqual(json.errors, [
        { pointer: `/properties/${name}`, detail: 'is not a property of the schema' },
      ]);
    }
  });

  it('may have an example that looks like a keyword', async () => {
    const schema = { properties: { a: { const: { $ref: 'other.json', pattern: '(' } } } };
    assert.ok((await put(schema)).status < 300);
    assert.equal((await create('example', { a: schema.properties.a.const })).status, 200);
    await service.call('DELETE', path, undefined, { token: admin.token });
  });

  it('reports as many violations as fit into a header', async () => {
    await put({ additionalProperties: { additionalProperties: false } }, 'report');
    const keys = Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(250, 'k'));
    const { headers } = await create('many', { a: Object.fromEntries(keys.map((key) => [key, 1])) });
    const pointers = keys.slice(0, 15).map((key) => `/properties/a/${key}`);
    assert.equal(headers['user-group-violations'], pointers.join(', '));
    await service.call('DELETE', path, undefined, { token: admin.token });
  });

  it('runs patterns in linear time', async () => {
    await put({ properties: { a: { pattern: '^(a+)+$' } } });
    const response = await create('linear', { a: `${'a'.repeat(200)}!` });
    assertProblem(response, 'properties_invalid');
    assert.match(response.json.detail, /must match pattern/);
    await service.call('DELETE', path, undefined, { token: admin.token });
  });
});
