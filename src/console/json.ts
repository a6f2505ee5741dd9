// JSON as people read it. Numbers keep their digits.

import { JsonArray, JsonObject, type JsonTree, parseTree, treeText } from '../domain/json/json-tree.ts';
import type { JsonText } from '../domain/json/strict-json.ts';
import { MAX_ENCODED_FIELD_BYTES } from './form.ts';

const INDENTATION = '  ';

export function prettyJson(text: JsonText): string {
  return pretty(parseTree(text), '');
}

/** The text for a field: with line breaks, unless the field would take more than its part of a form. */
export function editableJson(text: JsonText): string {
  const shown = prettyJson(text);
  const sent = new URLSearchParams({ '': shown.replaceAll('\n', '\r\n') }).toString();
  return sent.length <= MAX_ENCODED_FIELD_BYTES ? shown : text;
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
  return treeText(tree);
}
