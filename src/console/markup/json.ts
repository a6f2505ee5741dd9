// JSON on pages and in forms. Numbers keep their digits.

import { namedMembers, objectText } from '../../domain/json/json-tree.ts';
import { prettyJson } from '../../domain/json/pretty-json.ts';
import { type JsonText, jsonPointer } from '../../domain/json/strict-json.ts';
import type { Violation } from '../../problem.ts';
import { MAX_ENCODED_FIELD_BYTES, parseTypedJson } from '../form/form.ts';
import { BEYOND_ASCII, bdi, code, type Html, html } from './html.ts';

/** Matches a JSON string, or the start of one that was cut. */
const STRING = /("[^"\\]*(?:\\.[^"\\]*)*(?:"|$))/;

/** Renders JSON: a right-to-left string does not trade places with the one beside it. */
export function jsonText(text: string): Html {
  if (!BEYOND_ASCII.test(text)) return html`${text}`;
  return html`${text.split(STRING).map(bdi)}`;
}

/** Renders JSON with line breaks. */
export function jsonBlock(text: JsonText): Html {
  return code(jsonText(prettyJson(text)));
}

/** Returns the text for a field: with line breaks, unless it would then exceed its share of a form. */
export function editableJson(text: JsonText): string {
  const shown = prettyJson(text);
  const sent = new URLSearchParams({ '': shown.replaceAll('\n', '\r\n') }).toString();
  return sent.length <= MAX_ENCODED_FIELD_BYTES ? shown : text;
}

/** Parses JSON that a person may have changed; undefined if it is not valid. */
export function jsonValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the members of an object by name; empty for null. */
export function membersOf(object: JsonText | null): Map<string, JsonText> {
  return new Map(object === null ? [] : namedMembers(object));
}

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
