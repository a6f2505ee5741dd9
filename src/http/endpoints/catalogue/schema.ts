import { schemaDefinition } from '../../../domain/catalogue/catalogue.ts';
import { schemaBody, schemaFields } from '../../../domain/catalogue/catalogue-body.ts';
import { putSchema } from '../../../operations/catalogue/catalogue.ts';
import { deleteSchema } from '../../../operations/catalogue/use.ts';
import { asCreated, documentEndpoints } from '../../document-endpoints.ts';

const example = {
  schema_id: '40',
  name: 'Orders',
  default_data_source: 'shared',
  ...asCreated,
};

export const schemas = documentEndpoints({
  definition: schemaDefinition,
  name: 'Schema',
  tag: 'Catalogue',
  idParameter: 'schema_id',
  readers: ['read-write', 'read-only'],
  body: schemaBody,
  fields: schemaFields,
  example,
  requests: {
    plain: { summary: 'Without a default', value: { name: 'Orders' } },
    withDefault: {
      summary: 'With a data source for groups that map none',
      value: { name: 'Reference data', default_data_source: 'shared' },
    },
  },
  put: putSchema,
  remove: deleteSchema,
  force: {
    put: 'Removes a default although user groups use it. Otherwise that is refused with `in_use`.',
    remove: 'Deletes it although user groups use it. Otherwise that is refused with `in_use`.',
  },
  texts: {
    put:
      'Stores a schema under the id that mappings use. `default_data_source` is the data source of user groups whose ' +
      'mapping has no entry for this schema; it never replaces a dangling reference. To remove one that user groups use is ' +
      'refused without `force=true`.',
    read: 'Returns the schema.',
    list: 'The schemas of the workspace and environment. Request the next page with `next_cursor` until it is null.',
    remove:
      'Deletes the schema, unless user groups use it: their mapping has an entry for it, or they have its default. With ' +
      '`force=true` it is deleted all the same. Entries of mappings for it are reported as unresolved from then on.',
  },
});
