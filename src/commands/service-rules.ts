// Rules for mappings and properties that a running service has: an import plans with them before it changes anything.

import { Catalogue, type CatalogueDocument } from '../domain/catalogue.ts';
import { JsonArray, parseTree, splitMembers, treeText } from '../domain/json/json-tree.ts';
import type { JsonText } from '../domain/json/strict-json.ts';
import { mappingMode } from '../domain/mapping-policy.ts';
import { type PropertySchema, parsePropertySchema } from '../domain/property-schema.ts';
import { dataSourceText } from '../operations/catalogue/catalogue.ts';
import type { Rules } from '../operations/user-group/violations.ts';
import type { ServiceClient } from './service-client.ts';

/** Throws `ServiceRefused`. */
export async function readRules(client: ServiceClient): Promise<Rules> {
  const policy = await client.read('/v1/mapping-policy');
  const mode = mappingMode({ body: policy.get('mapping_policy')! });
  return {
    mappingMode: mode,
    catalogue: new Catalogue(mode === 'off' ? [] : await readCatalogue(client)),
    propertySchema: await readPropertySchema(client),
  };
}

async function readPropertySchema(client: ServiceClient): Promise<PropertySchema | null> {
  const response = await client.call('GET', '/v1/property-schema');
  if (response.problem?.code === 'not_found') return null;
  return parsePropertySchema({ body: client.membersOf(response).get('property_schema')! });
}

async function readCatalogue(client: ServiceClient): Promise<CatalogueDocument[]> {
  const documents: CatalogueDocument[] = [];
  for await (const page of client.pages('/v1/schemas', 'schemas'))
    for (const body of elements(page)) {
      const { schema_id: id } = JSON.parse(body) as { schema_id: string };
      documents.push({ kind: 'schema', id, body });
    }
  for await (const page of client.pages('/v1/data-sources', 'data_sources'))
    documents.push(...elements(page).map(dataSourceDocument));
  return documents;
}

interface ListedDataSource {
  provided_id: string;
  data_source_id: number;
  schema_id: string;
  name: string;
  user_group_id?: string | null;
}

function dataSourceDocument(text: JsonText): CatalogueDocument {
  const listed = JSON.parse(text) as ListedDataSource;
  const attributes = splitMembers(text).get('"attributes"')!;
  const { schema_id: schemaId, name, user_group_id: reservedFor = null } = listed;
  const body = dataSourceText({ schemaId, name, attributes, reservedFor }, listed.data_source_id);
  return { kind: 'data_source', id: listed.provided_id, body };
}

function elements(array: JsonText): JsonText[] {
  const tree = parseTree(array);
  return tree instanceof JsonArray ? tree.elements.map(treeText) : [];
}
