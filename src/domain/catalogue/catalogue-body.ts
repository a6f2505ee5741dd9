// The bodies that create or replace schemas and data sources.

import * as field from '../field.ts';
import { EMPTY_OBJECT } from '../json/json-tree.ts';
import { type JsonText, jsonPointer } from '../json/strict-json.ts';
import { bodyType, invalidField } from '../request-body.ts';
import type { SchemaMembers } from '../schema-value.ts';
import { findCredential } from './credential.ts';

const name = { ...field.name, description: 'For people. Need not be unique.' } as const;

export const schemaFields = {
  name,
  default_data_source: {
    ...field.nullableDataSourceReference,
    title: 'DefaultDataSource',
    description:
      'The data source of user groups whose mapping has no entry for this schema, as in a mapping: its number, or your id of it. null: none.',
  },
} as const;

export const dataSourceFields = {
  schema_id: { ...field.userGroupId, description: 'The schema that the data source belongs to.' },
  name,
  attributes: {
    type: 'object',
    maxProperties: field.limits.mapEntries,
    additionalProperties: true,
    'x-max-bytes': 16 * 1024,
    description:
      'What a dashboard server needs to connect: host, database, region, the name of a secret in your secret store. ' +
      'Never a credential: a member that is named like one, and a text that contains one, is rejected.',
  },
  user_group_id: {
    ...field.userGroupId,
    type: ['string', 'null'],
    default: null,
    description:
      'The only user group that the data source is for, which need not exist yet: it does not resolve for any other ' +
      'group. null: any user group.',
  },
} as const;

export type SchemaBody = SchemaMembers<typeof schemaFields, 'name'>;

type DataSourceMembers = SchemaMembers<typeof dataSourceFields, 'schema_id' | 'name'>;

/** `attributes`: text as it was sent. */
export type DataSourceBody = Omit<DataSourceMembers, 'attributes'> & { attributes: JsonText };

export const schemaBody = bodyType({
  name: 'CatalogueSchema',
  fields: schemaFields,
  required: ['name'],
  convert: ({ value }) => value,
});

export const dataSourceBody = bodyType({
  name: 'DataSource',
  fields: dataSourceFields,
  required: ['schema_id', 'name'],
  convert: ({ value, members }): DataSourceBody => {
    refuseCredential(value.attributes);
    return { ...value, attributes: members.get('attributes') ?? EMPTY_OBJECT };
  },
});

function refuseCredential(attributes: unknown): void {
  const found = findCredential(attributes, ['attributes']);
  if (found === null) return;
  throw invalidField(
    jsonPointer(found.path),
    `${found.detail}, which must not be stored here: store the name of a secret in your secret store, such as secret_name`,
  );
}
