// Mapping and properties as fields of a form: some members have inputs of their own, and a text of JSON has the others.

import { objectText } from '../../domain/json/json-tree.ts';
import { type JsonText, jsonPointer } from '../../domain/json/strict-json.ts';
import type { Violation } from '../../problem.ts';
import { parseTypedJson } from '../form/form.ts';
import { editableJson, membersOf } from '../markup/json.ts';

/** Returns the text for a field with the members of a stored object that have no field of their own. */
export function otherText(stored: JsonText | null, others: ReadonlyMap<string, JsonText>): string {
  // An empty object is not the same as none.
  return stored === null || (others.size === 0 && stored !== '{}') ? '' : editableJson(objectText(others));
}

/**
 * Returns the exact text of a field of a user group: the members that have inputs of their own, and those in
 * the text `other`, first those that `stored` has, in its order. Null if nothing was typed. Adds violations.
 */
export function fieldText(
  field: 'mapping' | 'properties',
  stored: JsonText | null,
  ofInputs: ReadonlyMap<string, JsonText>,
  other: string,
  violations: Violation[],
): JsonText | null {
  const text = parseTypedJson(other, [field], violations);
  if (text !== null && text[0] !== '{') {
    violations.push({ pointer: `/${field}`, detail: 'must be an object' });
    return null;
  }
  const others = membersOf(text);
  const what = field === 'mapping' ? 'entries' : 'properties';
  for (const name of others.keys())
    if (ofInputs.has(name))
      violations.push({
        pointer: jsonPointer([field, name]),
        detail: `is also in the other ${what}: remove it there`,
      });
  const members = new Map([...ofInputs, ...others]);
  if (members.size === 0) return text;
  const names = new Set([...membersOf(stored).keys(), ...members.keys()]);
  return objectText(Array.from(names, (name) => [name, members.get(name)]));
}
