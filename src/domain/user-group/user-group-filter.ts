// Filters of lists that no index supports. They are evaluated here, so that every database gives the same result.

import type { JsonText } from '../json/strict-json.ts';
import type { UserGroup } from './user-group.ts';

/** A group must meet every condition that is not null. */
export interface UserGroupFilter {
  /** Part of the id or name, regardless of case. */
  contains: string | null;
  /** A data source that the mapping refers to. */
  dataSource: string | null;
  suspended: boolean | null;
  /** Last seen before this instant (milliseconds since 1970), or never. */
  seenBefore: number | null;
}

type Filterable = Pick<UserGroup, 'providedId' | 'name' | 'mapping' | 'suspendedAt' | 'lastSeenAt'>;

/** Prepares a test of many groups against the filter. */
export function matcherOf(filter: UserGroupFilter): (group: Filterable) => boolean {
  const { dataSource, suspended, seenBefore } = filter;
  const contains = filter.contains === null ? null : foldCase(filter.contains);
  return ({ providedId, name, mapping, suspendedAt, lastSeenAt }) =>
    (suspended === null || suspended === (suspendedAt !== null)) &&
    (seenBefore === null || lastSeenAt === null || lastSeenAt < seenBefore) &&
    (contains === null || foldCase(providedId).includes(contains) || foldCase(name).includes(contains)) &&
    (dataSource === null || refersTo(mapping, dataSource));
}

/**
 * Equal for texts that differ only in case, in every script: `toLowerCase` alone distinguishes σ from ς and ß from SS,
 * `toUpperCase` alone k from the Kelvin sign.
 */
function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase();
}

/** Whether the mapping has the data source as a string or as a number. */
function refersTo(mapping: JsonText | null, dataSource: string): boolean {
  if (mapping === null) return false;
  const values = Object.values(JSON.parse(mapping) as Record<string, string | number>);
  return values.some((value) => String(value) === dataSource);
}
