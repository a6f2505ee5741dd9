// Contract: the configuration of an environment, read and applied as a whole.

import assert from 'node:assert/strict';
import { beforeEach, it } from 'node:test';
import { UNLIMITED } from '../../src/domain/document.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { MAX_LEVELS } from '../../src/domain/request-body.ts';
import { findWorkspace } from '../../src/operations/workspace/workspace.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { assertProblem, pointersOf } from '../support/problem.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { Tenant } from '../support/webhooks/tenant.ts';

const SECRET = '0123456789abcdef0123456789abcdef';

const metabase = {
  type: 'metabase',
  settings: { url: 'https://bi.example.com', resources: [{ dashboard: 7 }], properties: ['customer_id'] },
  claims: { customer: { property: 'customer_id' } },
};
const jwt = {
  type: 'jwt',
  settings: { algorithm: 'ES256', audience: 'cube', properties: ['plan'] },
  claims: { plan: { property: 'plan' } },
};
const whole = {
  version: 1,
  schemas: { 40: { name: 'Orders', default_data_source: 'shared' }, web: { name: 'Web' } },
  data_sources: {
    shared: { schema_id: '40', name: 'Shared', attributes: { database: 'shared' } },
    'acme-web': { schema_id: 'web', name: 'Acme', attributes: {}, user_group_id: 'acme-7' },
  },
  mapping_policy: { mode: 'enforce' },
  property_schema: { schema: { type: 'object', properties: { plan: { type: 'string' } } }, mode: 'report' },
  integrations: { cube: jwt, metabase: { ...metabase, secret: SECRET } },
  webhook_endpoints: { crm: { url: 'https://example.com/hook', event_types: ['schema.created'] } },
};
/** Creates no signing keys, which takes as much processor time as starting a service. */
const unsigned = { ...whole, integrations: { metabase: whole.integrations.metabase } };
const empty = {
  version: 1,
  schemas: {},
  data_sources: {},
  mapping_policy: { mode: 'off' },
  property_schema: null,
  integrations: {},
  webhook_endpoints: {},
};

describeOnEachDatabase('The configuration', (database) => {
  const service = TestService.of(database);
  let tenant: Tenant;
  let created = 0;
  beforeEach(async () => {
    tenant = await Tenant.create(service, `config ${created++}`);
  });

  const apply = (body: unknown, query = '') => served(() => tenant.call('PUT', `/v1/config${query}`, body));
  const applied = async (body: unknown, query = '') => {
    const response = await apply(body, query);
    assert.equal(response.status, 200, response.text);
    return response.json;
  };
  /** Applies so many changes that the call may fail although it has applied them; repeated, it finds none left. */
  const applyAll = async (body: object, changes: number, prune = false) => {
    const plan = () => applied(body, `?dry_run=true&prune=${prune}`);
    assert.equal((await plan()).changes.length, changes);
    await applied(body, `?prune=${prune}`);
    assert.equal((await plan()).changes.length, 0);
  };
  const stored = async () => (await tenant.call('GET', '/v1/config')).json;
  const eventTypes = async (): Promise<string[]> =>
    (await tenant.call('GET', '/v1/events?limit=100')).json.events
      .map(({ type }: { type: string }) => type)
      .filter((type: string) => !type.startsWith('api_token'));

  it('is empty and has the version 0 at first', async () => {
    assert.deepEqual(await stored(), { success: 1, config: empty, config_version: 0 });
  });

  it('is stored as it was sent, in one version, with an event for each document', async () => {
    const { changes, kept, config_version } = await applied(whole);
    assert.equal(changes.length, 9);
    assert.ok(
      changes.every(
        ({ action, before }: { action: string; before: unknown }) =>
          action === 'create' && (before === null || (before as { mode: string }).mode === 'off'),
      ),
    );
    assert.deepEqual(kept, []);
    assert.ok(config_version > 0);
    const exported = {
      ...whole,
      integrations: {
        cube: jwt,
        metabase: { ...metabase, secret: { environment: 'INTEGRATION_METABASE_SECRET' } },
      },
    };
    assert.deepEqual(await stored(), { success: 1, config: exported, config_version });
    assert.deepEqual((await eventTypes()).sort(), [
      'data_source.created',
      'data_source.created',
      'integration.created',
      'integration.created',
      'key_set.created',
      'mapping_policy.created',
      'property_schema.created',
      'schema.created',
      'schema.created',
      'webhook_endpoint.created',
    ]);
  });

  it('works: what was applied is resolved, minted and read one by one', async () => {
    await applied(whole);
    await tenant.call('POST', '/v1/user-groups', {
      user_group_id: 'acme-7',
      name: 'Acme',
      mapping: { web: 'acme-web' },
      properties: { plan: 'gold', customer_id: 7 },
    });
    const { json: group } = await tenant.call('GET', '/v1/user-groups/acme-7');
    const { json: resolved } = await tenant.call('POST', '/v1/resolve', { token: group.user_group.token });
    assert.deepEqual(Object.keys(resolved.data_sources), ['40', 'web']);
    assert.notEqual(resolved.data_sources[40].data_source_id, resolved.data_sources.web.data_source_id);
    for (const integration of ['cube', 'metabase']) {
      const minted = await tenant.call('POST', '/v1/embed-tokens', {
        user_group_id: 'acme-7',
        integration,
      });
      assert.equal(minted.status, 201, minted.text);
    }
    const { json: endpoint } = await tenant.call('GET', '/v1/webhook-endpoints/crm');
    assert.equal(endpoint.webhook_endpoint.enabled, true);
    const rotated = await tenant.call('POST', '/v1/webhook-endpoints/crm/rotate');
    assert.match(rotated.json.secret, /^whsec_/);
  });

  it('changes nothing the second time, and records no event', async () => {
    const { config_version } = await applied(whole);
    const before = await eventTypes();
    assert.deepEqual(await applied(whole), { success: 1, changes: [], kept: [], config_version });
    assert.deepEqual(await applied(whole, '?prune=true'), {
      success: 1,
      changes: [],
      kept: [],
      config_version,
    });
    assert.deepEqual(await eventTypes(), before);
  });

  it('gives the same text after it was applied to another environment', async () => {
    const exact = JSON.stringify(whole).replace('"database":"shared"', '"big":9007199254740993,"exact":1.50');
    await applied(exact);
    const configText = async (of: Tenant) =>
      (await of.call('GET', '/v1/config')).text.replace(/,"config_version":\d+}$/, '');
    const text = await configText(tenant);
    assert.match(text, /"big":9007199254740993,"exact":1\.50/);
    const sent = JSON.parse(JSON.stringify(text)).replace(
      '{"environment":"INTEGRATION_METABASE_SECRET"}',
      `"${SECRET}"`,
    );
    const body = /"config":(.*)/.exec(sent)![1]!;
    const other = await Tenant.create(service, `config ${created++}`);
    assert.equal((await served(() => other.call('PUT', '/v1/config', body))).status, 200);
    assert.equal(await configText(other), text);
  });

  it('keeps the order of members, also if nothing else changes', async () => {
    const orders = ['{"b":1,"a":2}', '{"a":2,"b":1}'];
    for (const properties of orders) {
      const body = `{"version":1,"property_schema":{"mode":"off","schema":{"default":${properties}}}}`;
      assert.equal((await applied(body)).changes.length, 1);
      assert.ok((await tenant.call('GET', '/v1/config')).text.includes(properties));
    }
  });

  it('refers to data sources by id, although mappings may use numbers', async () => {
    await applied({ version: 1, data_sources: whole.data_sources });
    const { json } = await tenant.call('GET', '/v1/data-sources/shared');
    const number = json.data_source.data_source_id;
    const renamed = { ...whole.data_sources, shared: { ...whole.data_sources.shared, name: 'Renamed' } };
    assert.equal((await applied({ version: 1, data_sources: renamed })).changes.length, 1);
    const { json: changed } = await tenant.call('GET', '/v1/data-sources/shared');
    assert.equal(changed.data_source.data_source_id, number);
    await tenant.call('PUT', '/v1/schemas/40', { name: 'Orders', default_data_source: number });
    assert.equal((await stored()).config.schemas[40].default_data_source, 'shared');
    assert.deepEqual((await applied({ version: 1, schemas: { 40: whole.schemas[40] } })).changes, []);
  });

  it('shows each change with the entry before and after, and makes none in a dry run', async () => {
    await applied(unsigned);
    const events = await eventTypes();
    const changed = { version: 1, schemas: { 40: { name: 'Sales' }, crm: { name: 'CRM' } } };
    const plan = await applied(changed, '?dry_run=true&prune=true');
    assert.deepEqual(plan.changes, [
      {
        section: 'schemas',
        id: '40',
        action: 'update',
        before: { name: 'Orders', default_data_source: 'shared' },
        after: { name: 'Sales' },
        replaces_secret: false,
      },
      {
        section: 'schemas',
        id: 'crm',
        action: 'create',
        before: null,
        after: { name: 'CRM' },
        replaces_secret: false,
      },
      {
        section: 'schemas',
        id: 'web',
        action: 'delete',
        before: { name: 'Web' },
        after: null,
        replaces_secret: false,
      },
    ]);
    assert.equal((await stored()).config_version, plan.config_version);
    assert.deepEqual(await eventTypes(), events);
    assert.deepEqual((await applied(changed, '?prune=true')).changes, plan.changes);
  });

  it('keeps entries that were not sent, and lists them, unless it is pruned', async () => {
    await applied(unsigned);
    const { changes, kept } = await applied({ version: 1, schemas: {}, webhook_endpoints: {} });
    assert.deepEqual(changes, []);
    assert.deepEqual(kept, [
      { section: 'schemas', id: '40' },
      { section: 'schemas', id: 'web' },
      { section: 'webhook_endpoints', id: 'crm' },
    ]);
    await applied({ ...empty, mapping_policy: { mode: 'off' } }, '?prune=true');
    assert.deepEqual((await stored()).config, empty);
  });

  it('leaves sections alone that were not sent', async () => {
    await applied(unsigned);
    const { changes, kept } = await applied({ version: 1 }, '?prune=true');
    assert.deepEqual([changes, kept], [[], []]);
  });

  it('is not changed at all if one entry is refused, and names each error by its place', async () => {
    const response = await apply({
      version: 1,
      schemas: { fine: { name: 'Fine' }, bad: { name: '', extra: 1 } },
      data_sources: { x: { schema_id: '40', name: 'X', attributes: { password: 'x' } } },
      integrations: { 'a/b': { type: 'metabase', settings: metabase.settings, claims: metabase.claims } },
      webhook_endpoints: { local: { url: 'ftp://example.com/', event_types: ['*'] } },
      property_schema: { schema: { type: 'nothing' }, mode: 'report' },
    });
    assertProblem(response, 'invalid_request');
    assert.deepEqual(pointersOf(response).sort(), [
      '/data_sources/x/attributes/password',
      '/integrations/a~1b/secret',
      '/property_schema/schema/type',
      '/schemas/bad/extra',
      '/schemas/bad/name',
      '/webhook_endpoints/local/url',
    ]);
    assert.deepEqual((await stored()).config, empty);
    assert.deepEqual(await eventTypes(), []);
  });

  it('is refused with an invalid id, an unknown member, or another format', async () => {
    for (const [body, pointer] of [
      [{ version: 1, schemas: { ' ': { name: 'X' } } }, '/schemas/ '],
      [{ version: 2 }, '/version'],
      [{}, '/version'],
      [{ version: 1, schemas: [] }, '/schemas'],
      [{ version: 1, schemas: { 40: null } }, '/schemas/40'],
      [{ version: 1, mapping_policy: null }, '/mapping_policy'],
      [{ version: 1, config_version: -1 }, '/config_version'],
      [{ version: 1, config_version: '1' }, '/config_version'],
    ] as const) {
      const response = await apply(body);
      assertProblem(response, 'invalid_request');
      assert.deepEqual(pointersOf(response), [pointer]);
    }
    assertProblem(await apply({ version: 1, schema: {} }), 'unknown_field');
  });

  it('has no entry under a key that it could not be sent with, nor under one that URLs resolve', async () => {
    const response = await tenant.call('PUT', '/v1/schemas/__proto__', { name: 'X' });
    assertProblem(response, 'invalid_request');
    assert.match(response.json.detail, /The id of this schema must not be __proto__/);
    assertProblem(await apply('{"version":1,"schemas":{"__proto__":{"name":"X"}}}'), 'invalid_json');
    const refused = await apply({ version: 1, schemas: { '..': { name: 'X' } }, integrations: { '.': jwt } });
    assertProblem(refused, 'invalid_request');
    assert.deepEqual(pointersOf(refused), ['/schemas/..', '/integrations/.']);
  });

  it('keeps, changes and deletes an entry that an earlier version stored under such an id', async () => {
    const { store, clock } = service.app.context;
    const workspace = await findWorkspace(store, `config ${created - 1}`);
    const { workspaceId } = workspace!;
    await store.write({
      kind: 'putDocument',
      key: { workspaceId, environment: 'Customer', kind: 'schema', id: '..' },
      body: '{"name":"X"}' as JsonText,
      limit: UNLIMITED,
      now: clock(),
    });
    const { config } = (await tenant.call('GET', '/v1/config')).json;
    assert.deepEqual(config.schemas, { '..': { name: 'X' } });
    await applied({ ...config, schemas: { '..': { name: 'Y' } } });
    const { changes } = await applied({ version: 1, schemas: {} }, '?prune=true');
    assert.deepEqual(changes, [
      {
        section: 'schemas',
        id: '..',
        action: 'delete',
        before: { name: 'Y' },
        after: null,
        replaces_secret: false,
      },
    ]);
  });

  it('has values that are as deep as in a call for one entry', async () => {
    const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
    const integration = (constant: unknown) => ({
      type: 'jwt',
      settings: { audience: 'a' },
      claims: { deep: { constant } },
    });
    const levels = MAX_LEVELS - 3;
    const put = await served(() => tenant.call('PUT', '/v1/integrations/one', integration(deep(levels))));
    assert.ok(put.status < 300, put.text);
    const { integrations } = (await stored()).config;
    await applied({ version: 1, integrations: { ...integrations, two: integration(deep(levels)) } });
    const tooDeep = integration(deep(levels + 1));
    assertProblem(await tenant.call('PUT', '/v1/integrations/one', tooDeep), 'invalid_json');
    assertProblem(await apply({ version: 1, integrations: { one: tooDeep } }), 'invalid_json');
  });

  it('is refused if it has changed since the version of the request', async () => {
    const { config_version } = await applied(unsigned);
    const body = { version: 1, schemas: { new: { name: 'New' } }, config_version };
    await tenant.call('PUT', '/v1/schemas/other', { name: 'Other' });
    assertProblem(await apply(body), 'version_mismatch');
    assert.equal((await stored()).config.schemas.new, undefined);
    await applied({ ...body, config_version: (await stored()).config_version });
  });

  it('keeps its version in calls that change nothing', async () => {
    const { config_version } = await applied(unsigned);
    const { name } = whole.schemas.web;
    assert.equal((await tenant.call('PUT', '/v1/schemas/web', { name })).status, 200);
    assertProblem(await tenant.call('DELETE', '/v1/schemas/unknown'), 'not_found');
    const stale = { token: tenant.token, headers: { 'if-match': '"0-1"' } };
    assertProblem(await service.call('DELETE', '/v1/schemas/web', undefined, stale), 'version_mismatch');
    assert.equal((await stored()).config_version, config_version);
    await applied({ version: 1, schemas: { new: { name: 'New' } }, config_version });
  });

  it('is changed by one of several concurrent calls with the same version', async () => {
    const { config_version } = await applied(unsigned);
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        apply({ version: 1, config_version, schemas: { [`s${index}`]: { name: 'S' } } }),
      ),
    );
    const statuses = responses.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, ...Array.from({ length: 7 }, () => 412)]);
    assert.equal(Object.keys((await stored()).config.schemas).length, 3);
  });

  it('is changed by each of several concurrent calls without a version', async () => {
    await applied({ version: 1, webhook_endpoints: whole.webhook_endpoints });
    const names = Array.from({ length: 8 }, (_, index) => `s${index}`);
    await Promise.all(names.map((name) => applied({ version: 1, schemas: { [name]: { name } } })));
    assert.deepEqual(Object.keys((await stored()).config.schemas), names);
    assert.equal((await eventTypes()).filter((type) => type === 'schema.created').length, names.length);
  });

  it('keeps a secret that is not sent, and replaces one that differs', async () => {
    await applied(whole);
    const events = await eventTypes();
    assert.deepEqual((await applied({ version: 1, integrations: { cube: jwt, metabase } })).changes, []);
    const other = { ...metabase, secret: SECRET.toUpperCase() };
    const { changes } = await applied({ version: 1, integrations: { cube: jwt, metabase: other } });
    assert.deepEqual(
      changes.map(({ id, replaces_secret }: { id: string; replaces_secret: boolean }) => [
        id,
        replaces_secret,
      ]),
      [['metabase', true]],
    );
    assert.equal((await eventTypes()).length, events.length + 1);
    const { text, json } = await tenant.call('GET', '/v1/config');
    assert.ok(!text.includes(SECRET));
    assert.match((await apply(json)).json.detail, /^Send the value of config, not the whole response/);
    const sentBack = await apply(json.config);
    assertProblem(sentBack, 'invalid_request');
    const detail = 'must be the secret as a string, or absent to keep the stored one';
    assert.deepEqual(sentBack.json.errors, [{ pointer: '/integrations/metabase/secret', detail }]);
  });

  it('creates signing keys with the first integration that signs with them, and never again', async () => {
    const keySets = async () => (await eventTypes()).filter((type) => type === 'key_set.created').length;
    await applied({ version: 1, integrations: { metabase: { ...metabase, secret: SECRET } } });
    assert.equal(await keySets(), 0);
    await applied({ version: 1, schemas: { web: { name: 'Web' } } });
    assert.equal(await keySets(), 0);
    await applied({ version: 1, integrations: { cube: jwt } });
    const { json: keys } = await tenant.call('GET', '/v1/signing-keys');
    await applied({ version: 1, integrations: { other: jwt } });
    assert.equal(await keySets(), 1);
    assert.deepEqual((await tenant.call('GET', '/v1/signing-keys')).json, keys);
  });

  it('names a different variable for each secret', async () => {
    const integrations = {
      'a-b': { ...metabase, secret: SECRET },
      a_b: { ...metabase, secret: SECRET.toUpperCase() },
    };
    await applied({ version: 1, integrations });
    const names = Object.values((await stored()).config.integrations).map(
      (each) => (each as { secret: { environment: string } }).secret.environment,
    );
    assert.deepEqual(names, ['INTEGRATION_A_B_SECRET', 'INTEGRATION_A_B_SECRET_2']);
  });

  it('has the limits of its parts, and at most 1,000 changes', async () => {
    const entries = (count: number, entry: object) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, entry]));
    const schemas = (count: number) => entries(count, { name: 'S' });
    const sources = (count: number) => entries(count, { schema_id: 's0', name: 'S' });
    assertProblem(await apply({ version: 1, schemas: schemas(1_001) }), 'limit_reached');
    const both = { version: 1, schemas: schemas(600), data_sources: sources(401) };
    const refused = await apply(both);
    assertProblem(refused, 'limit_reached');
    assert.match(refused.json.detail, /differs in 1001 entries, and one call changes at most 1000/);
    await applyAll({ version: 1, schemas: schemas(1_000) }, 1_000);
    assertProblem(await apply({ version: 1, schemas: { more: { name: 'More' } } }), 'limit_reached');
    await applyAll({ version: 1, schemas: {} }, 1_000, true);
  });

  it('causes at most 5,000 webhook deliveries', async () => {
    const byId = (prefix: string, count: number, entry: object) =>
      Object.fromEntries(Array.from({ length: count }, (_, id) => [`${prefix}${id}`, entry]));
    const endpoint = { url: 'https://example.com/', event_types: ['schema.updated'] };
    const webhook_endpoints = byId('w', 100, endpoint);
    await applied({ version: 1, schemas: byId('s', 51, { name: 'Before' }), webhook_endpoints });
    const { config_version } = await stored();
    for (const query of ['', '?dry_run=true']) {
      const refused = await apply({ version: 1, schemas: byId('s', 51, { name: 'After' }) }, query);
      assertProblem(refused, 'limit_reached');
      assert.match(refused.json.detail, /cause 5100 webhook deliveries/);
    }
    assert.equal((await stored()).config_version, config_version);
    await applyAll({ version: 1, schemas: {} }, 51, true);
  });

  it('is not read or deleted as a whole if it has more than 1 MiB, nor stored with larger defaults than resolve returns', async () => {
    const attributes = { note: 'x'.repeat(16_000) };
    const sources = Object.fromEntries(
      Array.from({ length: 66 }, (_, index) => [
        `s${index}`,
        { schema_id: `s${index}`, name: 'S', attributes },
      ]),
    );
    const entries = Object.entries(sources);
    for (let from = 0; from < entries.length; from += 11)
      await applied({ version: 1, data_sources: Object.fromEntries(entries.slice(from, from + 11)) });
    const schemas = Object.fromEntries(
      entries.slice(0, 17).map(([id]) => [id, { name: 'S', default_data_source: id }]),
    );
    const refused = await apply({ version: 1, schemas });
    assertProblem(refused, 'limit_reached');
    assert.match(refused.json.detail, /^The default data sources of all schemas have/);
    assertProblem(await tenant.call('GET', '/v1/config'), 'limit_reached');
    const pruned = await apply({ version: 1, data_sources: {} }, '?prune=true&dry_run=true');
    assertProblem(pruned, 'limit_reached');
    assert.match(pruned.json.detail, /before and after, and the ids of those that are kept have more than/);
    assert.equal((await tenant.call('DELETE', '/v1/data-sources/s0')).status, 204);
    assert.equal((await tenant.call('DELETE', '/v1/data-sources/s1')).status, 204);
    assert.equal(Object.keys((await stored()).config.data_sources).length, 64);
  });
});
