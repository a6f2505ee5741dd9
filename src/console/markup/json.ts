// JSON on pages and in forms. Numbers keep their digits.

import { limits } from '../../domain/field.ts';
import { namedMembers } from '../../domain/json/json-tree.ts';
import { prettyJson } from '../../domain/json/pretty-json.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { BEYOND_ASCII, bdi, code, type Html, html } from './html.ts';

/** Several fields of this size fit into a form. */
const MAX_ENCODED_FIELD_BYTES = limits.bodyBytes - 16_384;

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

/** Returns the members of an object by name; empty for null. */
export function membersOf(object: JsonText | null): Map<string, JsonText> {
  return new Map(object === null ? [] : namedMembers(object));
}
