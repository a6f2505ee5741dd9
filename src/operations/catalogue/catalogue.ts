// Schemas and data sources.

import type { Caller } from '../../domain/api-token.ts';
import {
  Catalogue,
  type CatalogueDocument,
  dataSourceDefinition,
  type EffectiveMapping,
  MAX_RESOLVED_BYTES,
  readDataSourceId,
  schemaDefinition,
} from '../../domain/catalogue.ts';
import type { DataSourceBody, SchemaBody } from '../../domain/catalogue-body.ts';
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

/** `force` removes a default that user groups use. Throws `limit_reached`, `in_use`, and `version_mismatch`. */
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

/** A new data source gets a number, which it keeps. Throws `limit_reached`. */
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
  // Absent and not null if it is not reserved, as earlier versions stored it.
  const end = reservedFor === null ? '}' : reservation(reservedFor);
  const text =
    `{"data_source_id":${dataSourceId},"schema_id":${JSON.stringify(schemaId)},` +
    `"name":${JSON.stringify(name)},"attributes":${attributes}${end}`;
  return text as JsonText;
}

/** The text of a data source that is reserved for the user group `from`, reserved for `to` instead; null of any other one. */
export function reservedInstead(text: JsonText, from: string, to: string): JsonText | null {
  const end = reservation(from);
  return text.endsWith(end) ? (`${text.slice(0, -end.length)}${reservation(to)}` as JsonText) : null;
}

/** The end of the text of a reserved data source. */
function reservation(userGroupId: string): string {
  return `,"user_group_id":${JSON.stringify(userGroupId)}}`;
}

/** Throws `limit_reached` if a resolution would contain too much. */
export function refuseLargeResolution({ bytes }: EffectiveMapping): void {
  if (bytes > MAX_RESOLVED_BYTES) throw resolutionTooLarge('The data sources of this user group', bytes);
}

function refuseLargeDefaults(config: EnvironmentConfig, changed: CatalogueDocument): void {
  const others = config.documents.filter(({ kind, id }) => kind !== changed.kind || id !== changed.id);
  refuseLargeCatalogue(config, [...others, changed]);
}

/**
 * The defaults are part of every resolution: refused here, the error reaches the administrator and not the viewers. Throws
 * `limit_reached`.
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
