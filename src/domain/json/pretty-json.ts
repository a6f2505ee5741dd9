// JSON as people read it. Numbers keep their digits.

import { JsonArray, JsonObject, type JsonTree, parseTree, treeText } from './json-tree.ts';
import type { JsonText } from './strict-json.ts';

const INDENTATION = '  ';

export function prettyJson(text: JsonText): string {
  return pretty(parseTree(text), '');
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
