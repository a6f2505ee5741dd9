// Reads the rules for mappings and properties of a running service: an import plans with them before it
// changes anything.

import { Catalogue, type CatalogueDocument } from '../../domain/catalogue/catalogue.ts';
import { mappingMode } from '../../domain/mapping-policy/mapping-policy.ts';
import { type PropertySchema, parsePropertySchema } from '../../domain/property-schema/property-schema.ts';
import { dataSourceText } from '../../operations/catalogue/catalogue.ts';
import type { Rules } from '../../operations/user-group/violations.ts';
import type { ServiceClient } from '../service-client.ts';
import type { ServiceObject } from '../service-object.ts';

/** Throws `ServiceRefused`. */
export async function readRules(client: ServiceClient): Promise<Rules> {
  const policy = await client.read('/v1/mapping-policy');
  const mode = mappingMode({ body: policy.text('mapping_policy') });
  return {
    mappingMode: mode,
    catalogue: new Catalogue(mode === 'off' ? [] : await readCatalogue(client)),
    propertySchema: await readPropertySchema(client),
  };
}

async function readPropertySchema(client: ServiceClient): Promise<PropertySchema | null> {
  const response = await client.call('GET', '/v1/property-schema');
  if (response.problem?.code === 'not_found') return null;
  return parsePropertySchema({ body: client.bodyOf(response).text('property_schema') });
}

async function readCatalogue(client: ServiceClient): Promise<CatalogueDocument[]> {
  const documents: CatalogueDocument[] = [];
  for await (const schemas of client.pages('/v1/schemas', 'schemas'))
    for (const schema of schemas)
      documents.push({ kind: 'schema', id: schema.string('schema_id'), body: schema.json });
  for await (const dataSources of client.pages('/v1/data-sources', 'data_sources'))
    documents.push(...dataSources.map(dataSourceDocument));
  return documents;
}

function dataSourceDocument(listed: ServiceObject): CatalogueDocument {
  const dataSource = {
    schema_id: listed.string('schema_id'),
    name: listed.string('name'),
    attributes: listed.text('attributes'),
    user_group_id: listed.stringOrNull('user_group_id'),
  };
  const body = dataSourceText(dataSource, listed.number('data_source_id'));
  return { kind: 'data_source', id: listed.string('provided_id'), body };
}
