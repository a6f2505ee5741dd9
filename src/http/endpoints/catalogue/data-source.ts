import { dataSourceDefinition } from '../../../domain/catalogue/catalogue.ts';
import { dataSourceBody, dataSourceFields } from '../../../domain/catalogue/catalogue-body.ts';
import { assignedNumber } from '../../../domain/field.ts';
import { putDataSource } from '../../../operations/catalogue/catalogue.ts';
import { deleteDataSource } from '../../../operations/catalogue/use.ts';
import { asCreated, documentEndpoints } from '../../document-endpoints.ts';
import type { Schema } from '../../schema.ts';

export const dataSourceIdSchema = {
  ...assignedNumber,
  description: "The service's own number of the data source. Never changes and is never reused.",
} as const satisfies Schema;

const example = {
  provided_id: 'acme-orders',
  data_source_id: 213,
  schema_id: '40',
  name: 'Orders of Acme',
  attributes: { host: 'db-7.internal', database: 'acme', secret_name: 'prod/acme/orders' },
  user_group_id: 'acme-7',
  ...asCreated,
};

const { schema_id, name, attributes, user_group_id } = example;

export const dataSources = documentEndpoints({
  definition: dataSourceDefinition,
  name: 'DataSource',
  tag: 'Catalogue',
  idParameter: 'provided_id',
  readers: ['read-write', 'read-only'],
  body: dataSourceBody,
  fields: { data_source_id: dataSourceIdSchema, ...dataSourceFields },
  example,
  requests: {
    shared: { summary: 'A database of several customers', value: { schema_id, name, attributes } },
    reserved: {
      summary: 'The database of one customer',
      value: { schema_id, name, attributes, user_group_id },
    },
  },
  put: putDataSource,
  remove: deleteDataSource,
  force: { remove: 'Deletes it although user groups use it. Otherwise that is refused with `in_use`.' },
  texts: {
    put:
      'Stores a data source under your own id of it. Mappings refer to it by this id or by `data_source_id`, its number. ' +
      'Resolve returns `attributes` to dashboard servers: they say where the data is, never how to log in. A data source with ' +
      'a `user_group_id` is reserved: to every other user group, a mapping to it shows an error and never its data.',
    read: 'Returns the data source.',
    list: 'The data sources of the workspace and environment. Request the next page with `next_cursor` until it is null.',
    remove:
      'Deletes the data source, unless user groups use it, by their mapping or as the default of a schema. With `force=true` it ' +
      'is deleted all the same. Mappings that refer to it are reported as unresolved from then on; none falls back to a ' +
      'default. Its number is not used again.',
  },
});
