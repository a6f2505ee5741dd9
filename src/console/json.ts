// JSON as people read it. Numbers keep their digits.

import { JsonArray, JsonObject, type JsonTree, textOf, treeOf } from '../domain/json/json-tree.ts';
import type { JsonText } from '../domain/json/strict-json.ts';

const INDENTATION = '  ';
const MAX_EDITABLE_BYTES = 32 * 1024;

export function prettyJson(text: JsonText): string {
  return pretty(treeOf(text), '');
}

/** For a form, which is sent with up to six bytes for each of these: longer texts stay as they are stored. */
export function editableJson(text: JsonText): string {
  const shown = prettyJson(text);
  return Buffer.byteLength(shown) <= MAX_EDITABLE_BYTES ? shown : text;
}

function pretty(tree: JsonTree, margin: string): string {
  const inner = margin + INDENTATION;
  if (tree instanceof JsonObject && tree.members.size > 0) {
    const members = [...tree.members].map(([key, value]) => `${inner}${key}: ${pretty(value, inner)}`);
    return `{\n${members.join(',\n')}\n${margin}}`;
  }
  if (tree instanceof JsonArray && tree.elements.length > 0) {
    const elements = tree.elements.map((element) => inner + pretty(element, inner));
    return `[\n${elements.join(',\n')}\n${margin}]`;
  }
  return textOf(tree);
}
