// Use of the catalogue by user groups. A schema, data source or default that is in use is deleted only by
// force.

import type { Caller } from '../../domain/api-token.ts';
import { dataSourceDefinition, schemaDefinition, storedSchema } from '../../domain/catalogue/catalogue.ts';
import type { Document, DocumentDefinition } from '../../domain/document.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { referenceTest, schemaTest } from '../../domain/user-group/user-group-filter.ts';
import { Problem } from '../../problem.ts';
import type { Context } from '../context.ts';
import { type DocumentOperations, deleteDocument } from '../document/document.ts';
import { summaryPages } from '../user-group/summaries.ts';

/** User groups are counted up to this number. */
const MAX_COUNTED = 5_000;
/**
 * Time limit of counting: the request is answered within seconds even if none of a million user groups
 * matches.
 */
const MAX_COUNT_MS = 800;

/** User groups that use a part of the catalogue. */
export interface Use {
  /** At most `MAX_COUNTED`. */
  count: number;
  /**
   * Whether the count may be too low, because there were too many user groups to count, or to read in time.
   */
  isBounded: boolean;
}

export const NO_USE: Use = { count: 0, isBounded: false };

/** Whether user groups use it, or may use it. */
export function isUsed({ count, isBounded }: Use): boolean {
  return count > 0 || isBounded;
}

type UseContext = Pick<Context, 'store' | 'configs'>;

export const deleteDataSource = deletion(dataSourceDefinition, countDataSourceUse);
export const deleteSchema = deletion(schemaDefinition, countSchemaUse);

/**
 * Returns the operation that deletes a document, with `force` even if it is in use. Throws `not_found`,
 * `version_mismatch` and `in_use`.
 */
function deletion(
  definition: DocumentDefinition,
  countUse: (context: UseContext, caller: Caller, document: Document) => Promise<Use>,
): DocumentOperations<never>['remove'] {
  return (context, caller, id, precondition, force) =>
    deleteDocument(context, caller, definition, id, precondition, async (stored, reader) => {
      if (!force) refuseIfUsed(await countUse(context, reader, stored), `this ${definition.noun}`);
    });
}

/** Throws `in_use`. `what` completes "use …". */
export function refuseIfUsed(use: Use, what: string): void {
  if (!isUsed(use)) return;
  throw new Problem('in_use', `${useText(use, what)} Nothing was changed. To go on anyway, send force=true.`);
}

/** Returns a sentence; `what` completes "use …". */
export function useText({ count, isBounded }: Use, what: string): string {
  if (count === 0)
    return isBounded
      ? `There are too many user groups to check in time whether any uses ${what}: none of those that were read does.`
      : `No user group uses ${what}.`;
  const number = count.toLocaleString('en');
  if (isBounded)
    return `${count === MAX_COUNTED ? 'More than' : 'At least'} ${number} user groups use ${what}.`;
  return count === 1 ? `1 user group uses ${what}.` : `${number} user groups use ${what}.`;
}

/**
 * Counts the user groups whose mapping refers to the data source, or that get it as the default of a schema.
 */
export async function countDataSourceUse(
  context: UseContext,
  caller: Caller,
  { id }: Document,
): Promise<Use> {
  const { catalogue } = await context.configs.of(context.store, caller);
  return countUse(context, caller, referenceTest(id, catalogue));
}

/** Counts the user groups whose mapping has an entry for the schema, or that get its default. */
export async function countSchemaUse(context: UseContext, caller: Caller, document: Document): Promise<Use> {
  const { default_data_source: reference } = storedSchema(document);
  return countUse(context, caller, reference === null ? schemaTest(document.id) : () => true);
}

/** Counts the user groups that get the default of the schema. */
export function countDefaultUse(context: UseContext, caller: Caller, schemaId: string): Promise<Use> {
  const hasEntry = schemaTest(schemaId);
  return countUse(context, caller, (mapping) => !hasEntry(mapping));
}

async function countUse(
  { store }: UseContext,
  caller: Caller,
  isUsedBy: (mapping: JsonText | null) => boolean,
): Promise<Use> {
  const endBy = performance.now() + MAX_COUNT_MS;
  let count = 0;
  const reading = { withMappings: true, withProperties: false };
  for await (const { summaries, next } of summaryPages(store, caller, reading)) {
    for (const { mapping } of summaries) {
      if (!isUsedBy(mapping)) continue;
      if (count === MAX_COUNTED) return { count, isBounded: true };
      count++;
    }
    if (next !== null && performance.now() > endBy) return { count, isBounded: true };
  }
  return { count, isBounded: false };
}
