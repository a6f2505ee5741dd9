// Filters of lists that no index supports. They are evaluated here, so that every database gives the same result.

import { type Catalogue, parseMapping } from '../catalogue/catalogue.ts';
import { foldText } from '../fold-text.ts';
import { decodeString, JsonArray, type JsonTree, parseTree, splitMembers } from '../json/json-tree.ts';
import type { JsonText } from '../json/strict-json.ts';
import type { UserGroup } from './user-group.ts';

/** A group must meet every condition that is not null. */
export interface UserGroupFilter {
  /** Part of the id or name, regardless of case and accents; with the form `name: value` also of the value of a property. */
  contains: string | null;
  /** A data source that the mapping refers to, or the default of a schema that has no entry in it. */
  dataSource: string | null;
  suspended: boolean | null;
  /** Last seen before this instant (milliseconds since 1970), or never. */
  seenBefore: number | null;
  neverSeen: boolean | null;
  /** Created at this instant (milliseconds since 1970) or later. */
  createdSince: number | null;
  /** Fields that violate a rule of the environment, whatever its policies: the catalogue or the property schema. */
  invalid: InvalidField | null;
}

/** Cursors contain the conditions in this order. */
export const EVERY_GROUP: UserGroupFilter = {
  contains: null,
  dataSource: null,
  suspended: null,
  seenBefore: null,
  neverSeen: null,
  createdSince: null,
  invalid: null,
};

export const invalidFields = ['mapping', 'properties'] as const;
type InvalidField = (typeof invalidFields)[number];

export type Filterable = Pick<
  UserGroup,
  'providedId' | 'name' | 'mapping' | 'properties' | 'createdAt' | 'suspendedAt' | 'lastSeenAt'
>;

/** Whether a filter reads mappings and properties, which may be large. */
export interface ReadFields {
  withMappings: boolean;
  withProperties: boolean;
}

export function fieldsReadBy({ contains, dataSource, invalid }: UserGroupFilter): ReadFields {
  return {
    withMappings: dataSource !== null || invalid === 'mapping',
    withProperties: invalid === 'properties' || (contains !== null && isAboutProperty(contains)),
  };
}

/**
 * Returns the lower-case text for databases, which fold the case of ASCII characters only: a group of only
 * ASCII characters meets the filter only if its id or name has the text. null: no such group meets it.
 * Undefined if the filter is not about ids and names, or reads mappings or properties.
 */
export function searchableText(filter: UserGroupFilter): string | null | undefined {
  const { withMappings, withProperties } = fieldsReadBy(filter);
  if (filter.contains === null || withMappings || withProperties) return undefined;
  const text = foldText(filter.contains);
  return /^[\x20-\x7e]*$/.test(text) ? text.toLowerCase() : null;
}

/** Compiles a test of groups against a filter, except property schemas, whose checks take threads. */
export function compileFilter(filter: UserGroupFilter, catalogue: Catalogue): (group: Filterable) => boolean {
  const { suspended, seenBefore, neverSeen, createdSince, invalid } = filter;
  const hasText = filter.contains === null ? null : textTest(filter.contains);
  const usesDataSource = filter.dataSource === null ? null : referenceTest(filter.dataSource, catalogue);
  return (group) =>
    (suspended === null || suspended === (group.suspendedAt !== null)) &&
    (seenBefore === null || group.lastSeenAt === null || group.lastSeenAt < seenBefore) &&
    (neverSeen === null || neverSeen === (group.lastSeenAt === null)) &&
    (createdSince === null || group.createdAt >= createdSince) &&
    (hasText === null || hasText(group)) &&
    (usesDataSource === null || usesDataSource(group.mapping)) &&
    (invalid !== 'mapping' || hasInvalidMapping(group, catalogue));
}

/** Returns false without a catalogue: mappings then refer to data sources that are kept elsewhere. */
export function hasInvalidMapping(
  group: Pick<Filterable, 'providedId' | 'mapping'>,
  catalogue: Catalogue,
): boolean {
  return !catalogue.isEmpty && catalogue.violations(group).length > 0;
}

function textTest(contains: string): (group: Filterable) => boolean {
  const text = foldText(contains);
  // The empty text would be part of every id and name.
  if (text === '') return () => false;
  const condition = propertyConditionIn(contains);
  const hasProperty = condition === null ? null : propertyTest(condition);
  return ({ providedId, name, properties }) =>
    foldText(providedId).includes(text) ||
    foldText(name).includes(text) ||
    (hasProperty !== null && properties !== null && hasProperty(properties));
}

interface PropertyCondition {
  name: string;
  value: string;
}

/** Whether a search for the text also reads properties. */
export function isAboutProperty(text: string): boolean {
  return propertyConditionIn(text) !== null;
}

/** Name that stands for every property. */
const ANY = '*';

/** `plan: gold`; null for a text of another form. Ids with a colon have no space after it. */
function propertyConditionIn(text: string): PropertyCondition | null {
  const [, name, value] = /^\s*(\S.*?)\s*:\s+(\S.*?)\s*$/.exec(text) ?? [];
  const condition = { name: foldText(name ?? ''), value: foldText(value ?? '') };
  return condition.name === '' || condition.value === '' ? null : condition;
}

/** Matches strings that contain the value, or other scalars written like it; in a list, any element. */
function propertyTest({ name, value }: PropertyCondition): (properties: JsonText) => boolean {
  const isValue = (tree: JsonTree): boolean => {
    if (typeof tree !== 'string') return tree instanceof JsonArray && tree.elements.some(isValue);
    if (!tree.startsWith('"')) return foldText(tree) === value;
    return foldText(decodeString(tree)).includes(value);
  };
  return (properties) => {
    // Most groups lack the text entirely, which is faster to find out than splitting their members.
    if (!properties.includes('\\') && !foldText(properties).includes(value)) return false;
    for (const [key, text] of splitMembers(properties))
      if ((name === ANY || foldText(decodeString(key)) === name) && isValue(parseTree(text))) return true;
    return false;
  };
}

/** Parts of other spellings of the same string or number, such as `1e1`. */
const ESCAPE_OR_FRACTION = /\\|\d[.eE]/;

/** Tests whether a mapping refers to the data source, or lacks an entry for a schema whose default it is. */
export function referenceTest(
  dataSource: string,
  catalogue: Catalogue,
): (mapping: JsonText | null) => boolean {
  const { references, schemaIds } = catalogue.referencesTo(dataSource);
  const texts = [...references].map(String);
  return (mapping) => {
    if (mapping === null) return schemaIds.length > 0;
    // Most mappings lack the text entirely, which is faster to find out than parsing their entries.
    const isPlain = !ESCAPE_OR_FRACTION.test(mapping);
    if (schemaIds.length === 0 && isPlain && !texts.some((text) => mapping.includes(text))) return false;
    const entries = parseMapping(mapping);
    return (
      Object.values(entries).some((reference) => references.has(reference)) ||
      schemaIds.some((schemaId) => !Object.hasOwn(entries, schemaId))
    );
  };
}

/** Tests whether a mapping has an entry for the schema. */
export function schemaTest(schemaId: string): (mapping: JsonText | null) => boolean {
  return (mapping) => Object.hasOwn(parseMapping(mapping), schemaId);
}
