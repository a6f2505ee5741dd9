// Schemas and data sources.

import type { Caller } from '../domain/api-token.ts';
import { dataSourceDefinition, dataSourceIdOf, schemaDefinition } from '../domain/catalogue.ts';
import type { Precondition } from '../domain/precondition.ts';
import type { JsonText } from '../domain/strict-json.ts';
import { type DocumentContext, putDocument, type StoredDocument } from './document.ts';
import { leaseId } from './id-lease.ts';

export interface SchemaBody {
  name: string;
  default_data_source?: string | number | null;
}

export interface DataSourceBody {
  schemaId: string;
  name: string;
  /** As it was sent. */
  attributes: JsonText;
}

export function putSchema(
  context: DocumentContext,
  caller: Caller,
  id: string,
  { name, default_data_source = null }: SchemaBody,
  precondition: Precondition | undefined,
): Promise<StoredDocument> {
  const body = JSON.stringify({ name, default_data_source }) as JsonText;
  return putDocument(context, caller, schemaDefinition, id, { body }, precondition);
}

/** A new data source gets a number, which it keeps. */
export async function putDataSource(
  context: DocumentContext,
  caller: Caller,
  id: string,
  { schemaId, name, attributes }: DataSourceBody,
  precondition: Precondition | undefined,
): Promise<StoredDocument> {
  const config = await context.configs.of(context.store, caller);
  const known = config.ofKind('data_source').get(id);
  const newId = known === undefined ? await leaseId(context.store, 'data_source_id') : dataSourceIdOf(known);
  const bodyWith = (dataSourceId: number) =>
    `{"data_source_id":${dataSourceId},"schema_id":${JSON.stringify(schemaId)},` +
    `"name":${JSON.stringify(name)},"attributes":${attributes}}`;
  const body = (stored: Parameters<typeof dataSourceIdOf>[0] | null) =>
    bodyWith(stored === null ? newId : dataSourceIdOf(stored)) as JsonText;
  return putDocument(context, caller, dataSourceDefinition, id, { body }, precondition);
}
