import { ATTRIBUTES_BYTES, dataSourceDefinition, dataSourceFields } from '../../../domain/catalogue.ts';
import { findCredential } from '../../../domain/credential.ts';
import { type JsonText, pointerOf } from '../../../domain/json/strict-json.ts';
import { bodyType, invalidField } from '../../../domain/request-body.ts';
import { type DataSourceBody, putDataSource as put } from '../../../operations/catalogue/catalogue.ts';
import { documentEndpoints } from '../../document-endpoints.ts';
import type { Schema } from '../../schema.ts';

export const dataSourceBody = bodyType<DataSourceBody>({
  name: 'DataSource',
  fields: dataSourceFields,
  required: ['schema_id', 'name'],
  convert: ({ value, members }) => {
    const { schema_id: schemaId, name, attributes } = value as Sent;
    const text = members.get('attributes') ?? ('{}' as JsonText);
    checkAttributes(attributes, text);
    return { schemaId, name, attributes: text };
  },
});

interface Sent {
  schema_id: string;
  name: string;
  attributes?: object;
}

function checkAttributes(attributes: unknown, text: JsonText): void {
  const size = Buffer.byteLength(text);
  if (size > ATTRIBUTES_BYTES)
    throw invalidField('/attributes', `must be at most ${ATTRIBUTES_BYTES} bytes of JSON and has ${size}`);
  const found = findCredential(attributes, ['attributes']);
  if (found === null) return;
  throw invalidField(
    pointerOf(found.path),
    `${found.detail}, which must not be stored here: store the name of a secret in your secret store, such as secret_name`,
  );
}

export const dataSourceIdSchema = {
  type: 'integer',
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "The service's own number of the data source. Never changes and is never reused.",
} as const satisfies Schema;

const example = {
  provided_id: 'acme-orders',
  data_source_id: 213,
  schema_id: '40',
  name: 'Orders of Acme',
  attributes: { host: 'db-7.internal', database: 'acme', secret_name: 'prod/acme/orders' },
  version: 1,
  created_at: '2026-03-02T09:30:00.000Z',
  updated_at: '2026-03-02T09:30:00.000Z',
};

const { schema_id, name, attributes } = example;

const endpoints = documentEndpoints({
  definition: dataSourceDefinition,
  collection: 'data-sources',
  name: 'DataSource',
  tag: 'Catalogue',
  idParameter: 'provided_id',
  readPermissions: ['read-write', 'read-only'],
  writePermissions: ['admin'],
  body: dataSourceBody,
  fields: { data_source_id: dataSourceIdSchema, ...dataSourceFields },
  example,
  requests: { create: { summary: 'A database of one customer', value: { schema_id, name, attributes } } },
  put,
  texts: {
    put:
      'Stores a data source under your own id of it. Mappings refer to it by this id or by `data_source_id`, its number. ' +
      'Resolve returns `attributes` to dashboard servers: they say where the data is, never how to log in.',
    read: 'Returns the data source.',
    list: 'The data sources of the workspace and environment. Request the next page with `next_cursor` until it is null.',
    remove:
      'Deletes the data source. Mappings that refer to it are reported as unresolved from then on; none falls back to a ' +
      'default. Its number is not used again.',
  },
});

export const {
  put: putDataSource,
  read: readDataSource,
  list: listDataSources,
  remove: removeDataSource,
} = endpoints;
