// The effective mapping depends only on the mapping, however many others were resolved before.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Catalogue, dataSourceDefinition } from '../../src/domain/catalogue/catalogue.ts';
import type { Document } from '../../src/domain/document.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';

function document(kind: Document['kind'], id: string, body: object): Document {
  const key = { workspaceId: 1, environment: 'Customer', kind, id } as const;
  return {
    ...key,
    version: 1,
    body: JSON.stringify(body) as JsonText,
    secret: null,
    createdAt: 0,
    updatedAt: 0,
  };
}

const catalogue = new Catalogue([
  document('schema', '40', { name: 'Orders', default_data_source: 1 }),
  document('schema', '41', { name: 'Stock', default_data_source: null }),
  document('data_source', 'a', { data_source_id: 1, schema_id: '40', name: 'A', attributes: {} }),
  document('data_source', 'b', { data_source_id: 2, schema_id: '41', name: 'B', attributes: {} }),
]);

function resolved(mapping: object | null) {
  const { dataSources, unresolved } = catalogue.effective({
    providedId: 'a',
    mapping: mapping && (JSON.stringify(mapping) as JsonText),
  });
  return [[...dataSources].map(([schemaId, { providedId }]) => [schemaId, providedId]), unresolved];
}

describe('The effective mapping', () => {
  it('is the same before and after more other mappings than are kept in memory', () => {
    const absent = 'x'.repeat(255);
    const expected = [
      { mapping: null, is: [[['40', 'a']], []] },
      {
        mapping: { 41: 'b' },
        is: [
          [
            ['41', 'b'],
            ['40', 'a'],
          ],
          [],
        ],
      },
      { mapping: { 40: '2' }, is: [[], [{ schemaId: '40', reference: '2', reason: 'other_schema' }]] },
      {
        mapping: { 40: 1, 41: absent },
        is: [[['40', 'a']], [{ schemaId: '41', reference: absent, reason: 'missing' }]],
      },
    ];
    const check = () => {
      for (const { mapping, is } of expected) assert.deepEqual(resolved(mapping), is);
    };
    check();
    check();
    for (let number = 3; number < dataSourceDefinition.limit.documents + 6; number++) {
      assert.deepEqual(resolved({ 41: number })[1], [
        { schemaId: '41', reference: number, reason: 'missing' },
      ]);
    }
    check();
  });
});
