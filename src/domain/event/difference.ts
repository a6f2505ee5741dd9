// The difference between two versions of the fields of a user group or a document: a list of members and fields.

import { memberPairs, type Pair, smallestPair } from '../json/json-difference.ts';
import { joinMembers, memberTexts } from '../json/json-tree.ts';
import type { JsonText } from '../json/strict-json.ts';

/** Names include their quotes. */
export interface Difference extends Pair {
  readonly field: string;
  /** null: the field as a whole. */
  readonly member: string | null;
  /** Whether its values are omitted. */
  readonly isTruncated: boolean;
}

/** Texts by name, including its quotes. */
export type Texts = ReadonlyMap<string, JsonText>;

/** The fields in the order of `from`, then new ones. */
export function listDifferences(from: Texts, to: Texts): Difference[] {
  return [...new Set([...from.keys(), ...to.keys()])].flatMap((field) =>
    fieldDifferences(field, from.get(field), to.get(field)),
  );
}

function fieldDifferences(field: string, from: JsonText | undefined, to: JsonText | undefined): Difference[] {
  const members =
    isComparable(from) && isComparable(to) ? memberPairs(memberTexts(from), memberTexts(to)) : [];
  if (members.length > 0)
    return members.map(({ name, ...pair }) => ({ field, member: name, ...pair, isTruncated: false }));
  // An empty object has no members that differ from those of null.
  const pair = smallestPair(from, to);
  return pair === null ? [] : [{ field, member: null, ...pair, isTruncated: false }];
}

/** Whether a field is compared member by member. A field that is absent or null has no members. */
function isComparable(value: JsonText | undefined): boolean {
  return value === undefined || value === 'null' || value.startsWith('{');
}

export function truncated({ field, member }: Pick<Difference, 'field' | 'member'>): Difference {
  return { field, member, from: undefined, to: undefined, isTruncated: true };
}

/**
 * Returns `{field: text}` and `{field: {member: text}}`, without differences that have no text. Members
 * replace the text of their field: a new field whose members are all omitted becomes an empty object.
 */
export function objectOfFields(
  differences: readonly Difference[],
  pickText: (difference: Difference) => JsonText | undefined,
): JsonText {
  const fields = new Map<string, string | string[]>();
  for (const difference of differences) {
    const { field, member } = difference;
    const text = pickText(difference);
    if (member === null) {
      if (text !== undefined) fields.set(field, text);
      continue;
    }
    const known = fields.get(field);
    const members = Array.isArray(known) ? known : [];
    if (text !== undefined) members.push(`${member}:${text}`);
    fields.set(field, members);
  }
  return joinMembers(
    [...fields].map(([field, value]) => `${field}:${typeof value === 'string' ? value : joinMembers(value)}`),
  );
}
