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
  storedSchema,
} from '../../domain/catalogue/catalogue.ts';
import type { DataSourceBody, dataSourceFields, SchemaBody } from '../../domain/catalogue/catalogue-body.ts';
import type { Document } from '../../domain/document.ts';
import { jsonText, objectText } from '../../domain/json/json-tree.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import type { Precondition } from '../../domain/precondition.ts';
import { tenantName } from '../../domain/tenant.ts';
import { Problem } from '../../problem.ts';
import type { Context } from '../context.ts';
import { type DocumentContext, documentKey, putDocument, type StoredDocument } from '../document/document.ts';
import { atCurrentConfig, type EnvironmentConfig } from '../document/environment-config.ts';
import { leaseId } from '../machinery/id-lease.ts';
import { countDefaultUse, refuseIfUsed } from './use.ts';

/** Placeholder for the number of a data source that is not stored yet. */
export const NO_NUMBER = 0;

type CatalogueContext = DocumentContext & Pick<Context, 'catalogueMutex'>;

/**
 * Creates or replaces a schema. Without `force`, throws `in_use` if that would remove a default that user
 * groups use. Throws `limit_reached` and `version_mismatch`.
 */
export async function putSchema(
  context: CatalogueContext,
  caller: Caller,
  id: string,
  sent: SchemaBody,
  precondition: Precondition | undefined,
  force: boolean,
): Promise<StoredDocument> {
  const body = schemaText(sent);
  const { store, configs } = context;
  const { default_data_source: reference = null } = sent;
  const replacement = async (stored: Document | null, reader: Caller) => {
    if (reference !== null) {
      const config = await configs.of(store, reader);
      if (reference === config.catalogue.defaultOf(id)) return { body };
      refuseLargeDefaults(config, { kind: 'schema', id, body });
      // Even if the defaults become smaller: the new one may grow before this write.
      return { body, config };
    }
    if (!force && stored !== null && storedSchema(stored).default_data_source !== null)
      refuseIfUsed(await countDefaultUse(context, reader, id), 'the default of this schema');
    return { body };
  };
  const put = (reader: Caller) =>
    putDocument(context, reader, schemaDefinition, id, replacement, precondition);
  const { catalogue } = await configs.of(store, caller);
  const mayGrow = reference !== null && reference !== catalogue.defaultOf(id);
  return mayGrow ? alone(context, caller, put) : put(caller);
}

export function schemaText({ name, default_data_source = null }: SchemaBody): JsonText {
  return jsonText({ name, default_data_source } satisfies Required<SchemaBody>);
}

/**
 * Creates or replaces a data source. A new one gets a number, which never changes. Throws `limit_reached`.
 */
export async function putDataSource(
  context: CatalogueContext,
  caller: Caller,
  id: string,
  sent: DataSourceBody,
  precondition: Precondition | undefined,
): Promise<StoredDocument> {
  const { store, configs } = context;
  const replacement = async (stored: Document | null, reader: Caller) => {
    const number = stored === null ? await leaseId(store, 'data_source_id') : readDataSourceId(stored);
    const body = dataSourceText(sent, number);
    const current = await configs.of(store, reader);
    const isDefault = current.catalogue.hasDefault(id, number);
    if (isDefault && refuseLargeDefaults(current, { kind: 'data_source', id, body }))
      return { body, config: current };
    // Otherwise the schema may get this data source as its default before the write.
    const key = documentKey(caller, schemaDefinition, sent.schema_id);
    return { body, related: { key, stored: current.ofKind('schema').get(sent.schema_id) ?? null } };
  };
  const put = (reader: Caller) =>
    putDocument(context, reader, dataSourceDefinition, id, replacement, precondition);
  const config = await configs.of(store, caller);
  const known = config.ofKind('data_source').get(id);
  const number = known === undefined ? NO_NUMBER : readDataSourceId(known);
  const isLonger = known === undefined || dataSourceText(sent, number).length > known.body.length;
  return isLonger && config.catalogue.hasDefault(id, number) ? alone(context, caller, put) : put(caller);
}

/**
 * Runs one change of default data sources of an environment after another: in each round of concurrent ones, only one
 * would succeed.
 */
function alone<Result>(
  { store, catalogueMutex }: CatalogueContext,
  caller: Caller,
  change: (reader: Caller) => Promise<Result>,
): Promise<Result> {
  return catalogueMutex.runExclusive(tenantName(caller), store, async () =>
    change(await atCurrentConfig(store, caller)),
  );
}

export function dataSourceText(
  { schema_id, name, attributes, user_group_id }: DataSourceBody,
  dataSourceId: number,
): JsonText {
  const members: Record<keyof typeof dataSourceFields, JsonText | undefined> = {
    schema_id: jsonText(schema_id),
    name: jsonText(name),
    attributes,
    // Absent instead of null, as earlier versions stored it. Last, so that a rename can replace it.
    user_group_id: user_group_id === null ? undefined : jsonText(user_group_id),
  };
  return objectText([['data_source_id', jsonText(dataSourceId)], ...Object.entries(members)]);
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

/** Does what `refuseLargeCatalogue` does, for a change of one document. */
function refuseLargeDefaults(config: EnvironmentConfig, changed: CatalogueDocument): boolean {
  const others = config.documents.filter(({ kind, id }) => kind !== changed.kind || id !== changed.id);
  return refuseLargeCatalogue(config, [...others, changed]);
}

/**
 * Returns whether the default data sources become larger; throws `limit_reached` if they become too large. They
 * are part of every resolution: refusing the change shows the error to the administrator instead of the viewers.
 */
export function refuseLargeCatalogue(
  config: EnvironmentConfig,
  documents: Iterable<CatalogueDocument>,
): boolean {
  const bytes = new Catalogue(documents).defaultBytes;
  const grows = bytes > config.catalogue.defaultBytes;
  if (grows && bytes > MAX_RESOLVED_BYTES)
    throw resolutionTooLarge('The default data sources of all schemas', bytes);
  return grows;
}

function resolutionTooLarge(what: string, bytes: number): Problem {
  return new Problem(
    'limit_reached',
    `${what} have ${bytes} bytes; a resolution contains at most ${MAX_RESOLVED_BYTES}. Shorten their attributes, or map fewer schemas.`,
  );
}
