// Stores schemas and data sources.

import type { Caller } from '../../domain/api-token.ts';
import {
  Catalogue,
  type CatalogueDocument,
  dataSourceDefinition,
  type EffectiveMapping,
  MAX_RESOLVED_BYTES,
  readDataSourceId,
  schemaDefinition,
} from '../../domain/catalogue/catalogue.ts';
import type { DataSourceBody, SchemaBody } from '../../domain/catalogue/catalogue-body.ts';
import { type Document, documentTag } from '../../domain/document.ts';
import { jsonText } from '../../domain/json/json-tree.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { isMetByTag, type Precondition } from '../../domain/precondition.ts';
import { Problem } from '../../problem.ts';
import { type DocumentContext, putDocument, type StoredDocument } from '../document/document.ts';
import type { EnvironmentConfig } from '../document/environment-config.ts';
import { leaseId } from '../machinery/id-lease.ts';
import { versionMismatch } from '../refusals.ts';
import { countDefaultUse, refuseIfUsed } from './use.ts';

/**
 * Creates or replaces a schema. Without `force`, throws `in_use` if that would remove a default that user
 * groups use. Throws `limit_reached` and `version_mismatch`.
 */
export async function putSchema(
  context: DocumentContext,
  caller: Caller,
  id: string,
  sent: SchemaBody,
  precondition: Precondition | undefined,
  force: boolean,
): Promise<StoredDocument> {
  const body = schemaText(sent);
  const config = await context.configs.of(context.store, caller);
  if ((sent.default_data_source ?? null) !== null) {
    refuseLargeDefaults(config, { kind: 'schema', id, body });
  } else if (!force && config.catalogue.defaultOf(id) !== null) {
    const stored = config.ofKind('schema').get(id)!;
    if (!isMetByTag(precondition, documentTag(stored))) throw versionMismatch('schema');
    refuseIfUsed(await countDefaultUse(context, caller, id), 'the default of this schema');
  }
  return putDocument(context, caller, schemaDefinition, id, { body }, precondition);
}

export function schemaText({ name, default_data_source = null }: SchemaBody): JsonText {
  return jsonText({ name, default_data_source });
}

/**
 * Creates or replaces a data source. A new one gets a number, which never changes. Throws `limit_reached`.
 */
export async function putDataSource(
  context: DocumentContext,
  caller: Caller,
  id: string,
  sent: DataSourceBody,
  precondition: Precondition | undefined,
): Promise<StoredDocument> {
  const config = await context.configs.of(context.store, caller);
  const known = config.ofKind('data_source').get(id);
  const newId =
    known === undefined ? await leaseId(context.store, 'data_source_id') : readDataSourceId(known);
  if (config.catalogue.hasDefault(id, newId)) {
    refuseLargeDefaults(config, { kind: 'data_source', id, body: dataSourceText(sent, newId) });
  }
  const body = (stored: Document | null) =>
    dataSourceText(sent, stored === null ? newId : readDataSourceId(stored));
  return putDocument(context, caller, dataSourceDefinition, id, { body }, precondition);
}

export function dataSourceText(
  { schemaId, name, attributes, reservedFor }: DataSourceBody,
  dataSourceId: number,
): JsonText {
  // A data source that is not reserved has no member instead of null, as earlier versions stored it.
  const end = reservedFor === null ? '}' : reservation(reservedFor);
  const text =
    `{"data_source_id":${dataSourceId},"schema_id":${JSON.stringify(schemaId)},` +
    `"name":${JSON.stringify(name)},"attributes":${attributes}${end}`;
  return text as JsonText;
}

/**
 * Returns the text of a data source with the reservation for user group `from` moved to `to`; null if it is
 * not reserved for `from`.
 */
export function reservedInstead(text: JsonText, from: string, to: string): JsonText | null {
  const end = reservation(from);
  return text.endsWith(end) ? (`${text.slice(0, -end.length)}${reservation(to)}` as JsonText) : null;
}

/** Returns the end of the text of a reserved data source. */
function reservation(userGroupId: string): string {
  return `,"user_group_id":${JSON.stringify(userGroupId)}}`;
}

/** Throws `limit_reached` if a resolution would be too large. */
export function refuseLargeResolution({ bytes }: EffectiveMapping): void {
  if (bytes > MAX_RESOLVED_BYTES) throw resolutionTooLarge('The data sources of this user group', bytes);
}

function refuseLargeDefaults(config: EnvironmentConfig, changed: CatalogueDocument): void {
  const others = config.documents.filter(({ kind, id }) => kind !== changed.kind || id !== changed.id);
  refuseLargeCatalogue(config, [...others, changed]);
}

/**
 * Throws `limit_reached` if the default data sources become too large. They are part of every resolution:
 * refusing the change shows the error to the administrator instead of the viewers.
 */
export function refuseLargeCatalogue(
  config: EnvironmentConfig,
  documents: Iterable<CatalogueDocument>,
): void {
  const bytes = new Catalogue(documents).defaultBytes;
  const grows = bytes > config.catalogue.defaultBytes;
  if (grows && bytes > MAX_RESOLVED_BYTES)
    throw resolutionTooLarge('The default data sources of all schemas', bytes);
}

function resolutionTooLarge(what: string, bytes: number): Problem {
  return new Problem(
    'limit_reached',
    `${what} have ${bytes} bytes; a resolution contains at most ${MAX_RESOLVED_BYTES}. Shorten their attributes, or map fewer schemas.`,
  );
}
