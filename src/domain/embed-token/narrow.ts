// Narrows a token for one viewer to some of the values of its user group. The caller sends the values, so
// they must be parts of the stored ones; the rest of the service reads the narrowed group as if it were the
// stored one.

import type { Violation } from '../../problem.ts';
import { claimInvalid, violation } from '../integration.ts';
import {
  decodeString,
  EMPTY_OBJECT,
  JsonArray,
  JsonObject,
  type JsonTree,
  joinMembers,
  parseTree,
  splitMembers,
} from '../json/json-tree.ts';
import type { JsonText } from '../json/strict-json.ts';
import type { UserGroup } from '../user-group/user-group.ts';

/**
 * Returns the user group with the members of `narrow` in place of its properties. Throws `claim_invalid`
 * unless each is one of `properties`, and a non-empty part of the stored list or equal to the stored value.
 */
export function narrowed(userGroup: UserGroup, narrow: JsonText, properties: readonly string[]): UserGroup {
  const stored = memberTrees(userGroup.properties ?? EMPTY_OBJECT);
  const errors = [...memberTrees(narrow)].flatMap(([key, value]): Violation[] => {
    const name = decodeString(key);
    const detail = properties.includes(name)
      ? narrowingViolation(value, stored.get(key))
      : 'is not a property in tokens of the integration, so it would not restrict the viewer';
    return detail === null ? [] : [violation(['narrow', name], detail)];
  });
  if (errors.length > 0) throw claimInvalid(errors);
  return withNarrowed(userGroup, narrow);
}

/** Does the same for a narrowing that was checked when a token was minted for this version of the group. */
export function withNarrowed(userGroup: UserGroup, narrow: JsonText): UserGroup {
  const members = new Map([...splitMembers(userGroup.properties ?? EMPTY_OBJECT), ...splitMembers(narrow)]);
  const properties = joinMembers(Array.from(members, ([key, value]) => `${key}:${value}`));
  return { ...userGroup, properties };
}

function narrowingViolation(value: JsonTree, stored: JsonTree | undefined): string | null {
  if (stored === undefined || stored === 'null') return 'is not a property of the user group';
  if (!(stored instanceof JsonArray))
    return orderedText(value) === orderedText(stored) ? null : 'is not equal to the stored value';
  if (!(value instanceof JsonArray) || value.elements.length === 0)
    return 'must be a list of some of the stored elements';
  // Lists may have tens of thousands of elements.
  const texts = new Set(stored.elements.map(orderedText));
  const isPart = value.elements.every((element) => texts.has(orderedText(element)));
  return isPart ? null : 'has an element that is not stored';
}

/** Returns the same text for values that differ only in the order of keys. */
function orderedText(tree: JsonTree): string {
  if (tree instanceof JsonArray) return `[${tree.elements.map(orderedText).join()}]`;
  if (!(tree instanceof JsonObject)) return tree;
  const members = Array.from(tree.members, ([key, value]) => `${key}:${orderedText(value)}`);
  return joinMembers(members.sort());
}

function memberTrees(text: JsonText): JsonObject['members'] {
  return (parseTree(text) as JsonObject).members;
}
