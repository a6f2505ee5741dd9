// The bodies that create or replace schemas and data sources.

import { EMPTY_OBJECT } from '../json/json-tree.ts';
import { type JsonText, jsonPointer } from '../json/strict-json.ts';
import { bodyType, invalidField } from '../request-body.ts';
import { ATTRIBUTES_BYTES, dataSourceFields, schemaFields } from './catalogue.ts';
import { findCredential } from './credential.ts';

export interface SchemaBody {
  name: string;
  default_data_source?: string | number | null;
}

export interface DataSourceBody {
  schemaId: string;
  name: string;
  /** The user group that it is reserved for; null if none. */
  reservedFor: string | null;
  /** Text as it was sent. */
  attributes: JsonText;
}

export const schemaBody = bodyType({
  name: 'CatalogueSchema',
  fields: schemaFields,
  required: ['name'],
  convert: ({ value }): SchemaBody => value,
});

export const dataSourceBody = bodyType({
  name: 'DataSource',
  fields: dataSourceFields,
  required: ['schema_id', 'name'],
  convert: ({ value, members }): DataSourceBody => {
    const { schema_id: schemaId, name, attributes, user_group_id: reservedFor = null } = value;
    const text = members.get('attributes') ?? EMPTY_OBJECT;
    checkAttributes(attributes, text);
    return { schemaId, name, attributes: text, reservedFor };
  },
});

function checkAttributes(attributes: unknown, text: JsonText): void {
  const size = Buffer.byteLength(text);
  if (size > ATTRIBUTES_BYTES)
    throw invalidField('/attributes', `must be at most ${ATTRIBUTES_BYTES} bytes of JSON and has ${size}`);
  const found = findCredential(attributes, ['attributes']);
  if (found === null) return;
  throw invalidField(
    jsonPointer(found.path),
    `${found.detail}, which must not be stored here: store the name of a secret in your secret store, such as secret_name`,
  );
}
