// The client: the catalogue, the rules for mappings and properties, and what resolve returns with them.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import {
  type UnresolvedReference,
  type UserGroupClient,
  UserGroupServiceError,
} from '../../client/src/index.ts';
import { adminClient } from '../support/client/admin.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';

function idsOf<Entry>(entries: AsyncIterable<Entry>, id: keyof Entry): Promise<unknown[]> {
  return Array.fromAsync(entries, (entry) => entry[id]);
}

/**
 * Retries a call on a busy machine, where a check may take too long, or leave too little time for the write
 * after it.
 */
function patiently<Result>(call: () => Promise<Result>): Promise<Result> {
  return eventually('a check in time', () =>
    call().catch((error: UserGroupServiceError) => {
      const isLate = error.code === 'database_unavailable';
      if (isLate || error.errors.some(({ detail }) => detail.includes('too long'))) return null;
      throw error;
    }),
  );
}

describeOnEachDatabase('The client', (database) => {
  const service = TestService.of(database);
  let client: UserGroupClient;
  before(async () => {
    client = await adminClient(service);
  });

  it('resolves without data sources while there is no catalogue', async () => {
    const { user_group } = await client.getOrCreate({
      user_group_id: 'a',
      name: 'A',
      mapping: { 40: 'a/1' },
    });
    assert.deepEqual(Object.keys(await client.resolve(user_group.token)), ['user_group', 'token']);
  });

  it('creates, replaces, reads, lists and deletes schemas', async () => {
    const created = await client.schemas.put('40', { name: 'Orders' }, { ifNoneMatch: '*' });
    const { version, created_at, updated_at, ...fields } = created.schema;
    assert.deepEqual(fields, { schema_id: '40', name: 'Orders', default_data_source: null });
    assert.deepEqual([version, created_at], [1, updated_at]);
    const { etag } = created;
    await assert.rejects(client.schemas.put('40', { name: 'B' }, { ifNoneMatch: '*' }), {
      code: 'version_mismatch',
    });
    const replaced = await client.schemas.put(
      '40',
      { name: 'Orders', default_data_source: 'shared' },
      { ifMatch: etag },
    );
    assert.deepEqual(await client.schemas.read('40'), replaced);
    await client.schemas.put('a/b', { name: 'B' });
    assert.deepEqual(await idsOf(client.schemas.list({ limit: 1 }), 'schema_id'), ['40', 'a/b']);
    await assert.rejects(client.schemas.delete('a/b', { ifMatch: etag }), { code: 'version_mismatch' });
    await client.schemas.delete('a/b');
    await assert.rejects(client.schemas.read('a/b'), { code: 'not_found' });
    await assert.rejects(client.schemas.read('..'), TypeError);
  });

  it('creates, reads, lists and deletes data sources', async () => {
    const attributes = { host: 'db-7.internal', ports: [5432, { tls: true }], secret_name: 'a/1' };
    const created = await client.dataSources.put('a/1', { schema_id: '40', name: 'Of A', attributes });
    assert.deepEqual([created.data_source.provided_id, created.data_source.attributes], ['a/1', attributes]);
    const replaced = await client.dataSources.put(
      'a/1',
      { schema_id: '40', name: 'Of A' },
      { ifMatch: created.etag },
    );
    assert.equal(replaced.data_source.data_source_id, created.data_source.data_source_id);
    assert.deepEqual(replaced.data_source.attributes, {});
    assert.deepEqual(await client.dataSources.read('a/1'), replaced);
    await client.dataSources.put('b', { schema_id: '41', name: 'B' });
    assert.deepEqual(await idsOf(client.dataSources.list({ limit: 1 }), 'provided_id'), ['a/1', 'b']);
    await client.dataSources.delete('b');
    await assert.rejects(client.dataSources.read('b'), { code: 'not_found' });
    await assert.rejects(
      client.dataSources.put('b', { schema_id: '40', name: 'B', attributes: { password: 'x' } }),
      (error) => {
        assert.ok(error instanceof UserGroupServiceError);
        assert.equal(error.errors[0]!.pointer, '/attributes/password');
        return true;
      },
    );
  });

  it('resolves to data sources, and to dangling references', async () => {
    const { data_source } = await client.dataSources.read('a/1');
    const { user_group } = await client.getOrCreate({ user_group_id: 'a' });
    await client.patch('a', { mapping: { 41: 'gone', 42: 7 } });
    const { data_sources, unresolved } = await client.resolve(user_group.token);
    const { data_source_id, provided_id, name, attributes } = data_source;
    assert.deepEqual(data_sources, { 40: { data_source_id, provided_id, name, attributes } });
    const expected: UnresolvedReference[] = [
      { schema_id: '41', data_source: 'gone', reason: 'missing' },
      { schema_id: '42', data_source: 7, reason: 'missing' },
    ];
    assert.deepEqual(unresolved, expected);
  });

  it('reports what violates the mapping policy', async () => {
    const { mapping_policy, etag: ifMatch } = await client.mappingPolicy.read();
    assert.deepEqual(mapping_policy, { mode: 'off' });
    const reporting = await client.mappingPolicy.put({ mode: 'report' }, { ifMatch });
    assert.deepEqual(await client.mappingPolicy.read(), reporting);
    const group = { user_group_id: 'reported', name: 'R', mapping: { 40: 'a/1', 'x,/y': 'gone' } };
    assert.deepEqual((await client.getOrCreate(group)).violations, ['/mapping/x,~1y']);
    assert.deepEqual((await client.update(group)).violations, ['/mapping/x,~1y']);
    assert.deepEqual((await client.replace('reported', { name: 'R' })).violations, []);
    assert.deepEqual((await client.patch('reported', { mapping: { 41: 'b' } })).violations, ['/mapping/41']);
    await client.mappingPolicy.put({ mode: 'enforce' }, { ifMatch: reporting.etag });
    await assert.rejects(client.update(group), { code: 'mapping_invalid' });
    await client.mappingPolicy.put({ mode: 'off' });
  });

  it('sets, reads and deletes the property schema', async () => {
    const { propertySchema } = client;
    await assert.rejects(propertySchema.read(), { code: 'not_found' });
    const rule = { schema: { properties: { seats: { type: 'integer' } } }, mode: 'enforce' } as const;
    const created = await patiently(() => propertySchema.put(rule, { ifNoneMatch: '*' }));
    assert.deepEqual(created.property_schema, rule);
    assert.deepEqual(await propertySchema.read(), created);
    const group = { user_group_id: 'invalid', name: 'I', properties: { seats: 'many' } };
    await assert.rejects(client.getOrCreate(group), { code: 'properties_invalid' });
    const accepting = { schema: true, mode: 'enforce' } as const;
    await patiently(() => propertySchema.put(accepting, { ifMatch: created.etag }));
    await patiently(() => client.getOrCreate(group));
    await assert.rejects(propertySchema.delete({ ifMatch: created.etag }), { code: 'version_mismatch' });
    await propertySchema.delete();
    await assert.rejects(propertySchema.read(), { code: 'not_found' });
  });

  it('deletes what user groups use only with force', async () => {
    await assert.rejects(client.dataSources.delete('a/1'), { code: 'in_use' });
    await client.dataSources.delete('a/1', { force: true });
    await assert.rejects(client.dataSources.read('a/1'), { code: 'not_found' });
  });
});
