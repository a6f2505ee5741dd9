// Schemas and data sources.

import type { Caller } from '../../domain/api-token.ts';
import {
  Catalogue,
  type CatalogueDocument,
  dataSourceDefinition,
  dataSourceIdOf,
  type EffectiveMapping,
  MAX_RESOLVED_BYTES,
  schemaDefinition,
} from '../../domain/catalogue.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import type { Precondition } from '../../domain/precondition.ts';
import { Problem } from '../../problem.ts';
import { type DocumentContext, putDocument, type StoredDocument } from '../document/document.ts';
import type { EnvironmentConfig } from '../document/environment-config.ts';
import { leaseId } from '../machinery/id-lease.ts';

export interface SchemaBody {
  name: string;
  default_data_source?: string | number | null;
}

export interface DataSourceBody {
  schemaId: string;
  name: string;
  /** Text as it was sent. */
  attributes: JsonText;
}

/** Throws `limit_reached`. */
export async function putSchema(
  context: DocumentContext,
  caller: Caller,
  id: string,
  { name, default_data_source = null }: SchemaBody,
  precondition: Precondition | undefined,
): Promise<StoredDocument> {
  const body = JSON.stringify({ name, default_data_source }) as JsonText;
  if (default_data_source !== null) {
    refuseLargeDefaults(await context.configs.of(context.store, caller), { kind: 'schema', id, body });
  }
  return putDocument(context, caller, schemaDefinition, id, { body }, precondition);
}

/** A new data source gets a number, which it keeps. Throws `limit_reached`. */
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
  if (config.catalogue.hasDefault(id, newId)) {
    refuseLargeDefaults(config, { kind: 'data_source', id, body: bodyWith(newId) as JsonText });
  }
  const body = (stored: Parameters<typeof dataSourceIdOf>[0] | null) =>
    bodyWith(stored === null ? newId : dataSourceIdOf(stored)) as JsonText;
  return putDocument(context, caller, dataSourceDefinition, id, { body }, precondition);
}

/** Throws `limit_reached` if a resolution would contain too much. */
export function refuseLargeResolution({ bytes }: EffectiveMapping): void {
  if (bytes > MAX_RESOLVED_BYTES) throw resolutionTooLarge('The data sources of this user group', bytes);
}

/** The defaults are part of every resolution: refused here, the error reaches the administrator and not the viewers. */
function refuseLargeDefaults(config: EnvironmentConfig, changed: CatalogueDocument): void {
  const others = config.documents.filter(({ kind, id }) => kind !== changed.kind || id !== changed.id);
  const { bytes } = new Catalogue([...others, changed]).effective(null);
  const grows = bytes > config.catalogue.effective(null).bytes;
  if (grows && bytes > MAX_RESOLVED_BYTES)
    throw resolutionTooLarge('The default data sources of all schemas', bytes);
}

function resolutionTooLarge(what: string, bytes: number): Problem {
  return new Problem(
    'limit_reached',
    `${what} have ${bytes} bytes; a resolution contains at most ${MAX_RESOLVED_BYTES}. Shorten their attributes, or map fewer schemas.`,
  );
}
