// References of mappings to data sources, resolved by the catalogue of an environment.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Catalogue, type CatalogueDocument, readDataSourceId } from '../../src/domain/catalogue/catalogue.ts';
import { jsonText } from '../../src/domain/json/json-tree.ts';

const schema = (id: string, reference: string | number | null = null): CatalogueDocument => ({
  kind: 'schema',
  id,
  body: jsonText({ name: id, default_data_source: reference }),
});
const dataSource = (id: string, number: number, schemaId: string, owner?: string): CatalogueDocument => ({
  kind: 'data_source',
  id,
  body: jsonText({
    data_source_id: number,
    schema_id: schemaId,
    name: id.toUpperCase(),
    attributes: { host: id },
    user_group_id: owner,
  }),
});

const catalogue = new Catalogue([
  schema('orders', 'eu'),
  schema('stock'),
  schema('users', 3),
  schema('dangling', 'none'),
  dataSource('eu', 1, 'orders'),
  dataSource('us', 2, 'orders'),
  dataSource('3', 4, 'stock'),
  dataSource('all', 3, 'users'),
  { kind: 'webhook_endpoint', id: 'eu', body: jsonText({}) },
]);

const reserved = new Catalogue([
  schema('orders', 'of-acme'),
  schema('stock'),
  dataSource('of-acme', 1, 'orders', 'acme'),
  dataSource('of-globex', 2, 'stock', 'globex'),
]);

describe('A reference', () => {
  it('that is a number is the id of a data source', () => {
    assert.equal(catalogue.find(3)?.providedId, 'all');
    assert.equal(catalogue.find(5), undefined);
  });

  it('that is a string is the id of the caller, or else the number', () => {
    assert.equal(catalogue.find('eu')?.dataSourceId, 1);
    assert.equal(catalogue.find('3')?.dataSourceId, 4);
    assert.equal(catalogue.find('2')?.providedId, 'us');
    for (const reference of ['02', '2.0', ' 2', '2 ', '-2', '+2', '0', '', 'EU', '1e0', '10000000000000002'])
      assert.equal(catalogue.find(reference), undefined, reference);
    const zero = new Catalogue([dataSource('zero', 0, 'a'), dataSource('large', 9_007_199_254_740_991, 'a')]);
    assert.equal(zero.find('0')?.providedId, 'zero');
    assert.equal(zero.find('9007199254740991')?.providedId, 'large');
    assert.equal(zero.find('00'), undefined);
  });

  it('resolves to a data source with its schema, name and attributes', () => {
    const expected = '{"data_source_id":2,"provided_id":"us","name":"US","attributes":{"host":"us"}}';
    assert.deepEqual(catalogue.find(2), {
      dataSourceId: 2,
      providedId: 'us',
      schemaId: 'orders',
      name: 'US',
      json: expected,
      member: `"orders":${expected}`,
      reservedFor: null,
    });
    assert.equal(readDataSourceId(dataSource('us', 2, 'orders')), 2);
  });
});

describe('The effective mapping of a group', () => {
  const effective = (mapping: object | null, of = catalogue, providedId = 'acme') => {
    const { dataSources, unresolved, isComplete, bytes } = of.effective({
      providedId,
      mapping: mapping && jsonText(mapping),
    });
    const found = Object.fromEntries([...dataSources].map(([id, { providedId }]) => [id, providedId]));
    return { found, unresolved, isComplete, bytes };
  };

  it('has its own data sources, and the default of every other schema', () => {
    assert.deepEqual(effective({ orders: 'us' }).found, { orders: 'us', users: 'all' });
    assert.deepEqual(effective(null).found, { orders: 'eu', users: 'all' });
  });

  it('reports a reference to no data source or to one of another schema, and replaces it by no default', () => {
    const { found, unresolved } = effective({ orders: 'all', users: 9, other: 'eu' });
    assert.deepEqual(found, {});
    assert.deepEqual(unresolved, [
      { schemaId: 'orders', reference: 'all', reason: 'other_schema' },
      { schemaId: 'users', reference: 9, reason: 'missing' },
      { schemaId: 'other', reference: 'eu', reason: 'other_schema' },
      { schemaId: 'dangling', reference: 'none', reason: 'missing' },
    ]);
  });

  it('resolves to a reserved data source only for its user group, by each reference and by default', () => {
    for (const reference of ['of-acme', 1, '1', undefined]) {
      const mapping = reference === undefined ? null : { orders: reference };
      // The order of first use must not matter: the result in memory serves all groups.
      for (const id of ['globex', 'acme', 'ACME', 'acme ', 'globex', 'acme']) {
        const { found, unresolved, bytes } = effective(mapping, reserved, id);
        const isOwner = id === 'acme';
        assert.deepEqual(found, isOwner ? { orders: 'of-acme' } : {}, `${reference} ${id}`);
        const expected = { schemaId: 'orders', reference: reference ?? 'of-acme', reason: 'reserved' };
        assert.deepEqual(unresolved, isOwner ? [] : [expected]);
        if (!isOwner) assert.equal(bytes, 6 + String(reference ?? 'of-acme').length);
      }
    }
    const both = effective({ stock: 'of-globex' }, reserved, 'globex');
    assert.deepEqual(both.found, { stock: 'of-globex' });
    assert.equal(both.isComplete, false);
    assert.equal(effective({ stock: 'of-globex' }, reserved, 'acme').isComplete, false);
  });

  it('is complete if every schema has a data source', () => {
    const whole = new Catalogue([
      schema('orders', 'eu'),
      schema('stock'),
      dataSource('eu', 1, 'orders'),
      dataSource('a', 4, 'stock'),
    ]);
    assert.equal(effective({ stock: 'a' }, whole).isComplete, true);
    const both = new Catalogue([schema('a'), schema('b'), dataSource('x', 1, 'a'), dataSource('y', 2, 'b')]);
    assert.equal(effective({ a: 'x', b: 'y' }, both).isComplete, true);
    assert.equal(effective({ a: 'x' }, both).isComplete, false);
    assert.equal(effective({}, whole).isComplete, false);
    assert.equal(effective({ stock: 'a', other: 'eu' }, whole).isComplete, false);
    assert.equal(effective({ dangling: 'eu', stock: '3' }).isComplete, false);
  });

  it('is as large as its data sources and its unresolved references in UTF-8', () => {
    const sized = new Catalogue([schema('é', 'ü'), dataSource('ü', 1, 'é')]);
    assert.equal(effective(null, sized).bytes, Buffer.byteLength(sized.find(1)!.member));
    assert.equal(effective({ é: 123 }, sized).bytes, 2 + 3);
    assert.equal(effective({ é: 'ä' }, sized).bytes, 2 + 2);
  });
});

describe('A catalogue', () => {
  it('is empty without schemas and data sources', () => {
    assert.equal(new Catalogue([]).isEmpty, true);
    assert.equal(new Catalogue([{ kind: 'integration', id: 'a', body: jsonText({}) }]).isEmpty, true);
    assert.equal(new Catalogue([schema('a')]).isEmpty, false);
    assert.equal(new Catalogue([dataSource('a', 1, 'b')]).isEmpty, false);
  });

  it('knows the default of each schema by each of its references', () => {
    const byText = new Catalogue([schema('a', 'x'), schema('b', 7), schema('c', '8')]);
    assert.equal(byText.hasDefault('x', 1), true);
    assert.equal(byText.hasDefault('y', 7), true);
    assert.equal(byText.hasDefault('y', 8), true);
    assert.equal(byText.hasDefault('y', 9), false);
    assert.deepEqual(catalogue.referencesTo('all').schemaIds, ['users']);
    assert.deepEqual(catalogue.referencesTo('us').schemaIds, []);
  });

  it('lists the data sources of a schema', () => {
    assert.deepEqual(
      catalogue.ofSchema('orders').map(({ providedId }) => providedId),
      ['eu', 'us'],
    );
    assert.deepEqual(catalogue.ofSchema('other'), []);
  });

  it('names what the entries of a mapping violate', () => {
    const violations = (mapping: object | null) =>
      catalogue.violations({ providedId: 'acme', mapping: mapping && jsonText(mapping) });
    assert.deepEqual(violations(null), []);
    assert.deepEqual(violations({ orders: 'us', stock: 4 }), []);
    assert.deepEqual(violations({ orders: 'all', users: 'none', other: 'eu' }), [
      { schemaId: 'orders', detail: 'refers to a data source of another schema' },
      { schemaId: 'users', detail: 'refers to a data source that does not exist' },
      { schemaId: 'other', detail: 'is not a schema of this environment' },
    ]);
  });

  it('names the reserved data sources of other groups as violations, including a default', () => {
    const violations = (providedId: string, mapping: object | null) =>
      reserved.violations({ providedId, mapping: mapping && jsonText(mapping) });
    assert.deepEqual(violations('acme', null), []);
    assert.deepEqual(violations('globex', { orders: 1, stock: 2 }), [
      { schemaId: 'orders', detail: 'refers to a data source that is reserved for another user group' },
    ]);
    assert.deepEqual(violations('globex', null), [
      {
        schemaId: 'orders',
        detail: 'is absent, and the default data source of the schema is reserved for another user group',
      },
    ]);
  });
});
