// A JSON Schema in words: the fields of an object, each with its type, its limits and its meaning.

import type { Schema } from '../openapi/schema.ts';
import { type Html, html, nothing } from './html.ts';
import { inline } from './prose.ts';

export interface Field {
  name: string;
  schema: Schema;
  /** Stands beside the name. */
  note?: string | undefined;
  description?: string | undefined;
}

export function fieldList(fields: readonly Field[]): Html {
  return html`<dl class="fields">${fields.map(fieldEntry)}</dl>`;
}

/** Of a request the fields that must be there are marked, of an answer those that may not be. */
export function fieldsOf({ properties = {}, required = [] }: Schema, of: 'request' | 'answer'): Field[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    note: required.includes(name) ? marks[of].required : marks[of].optional,
  }));
}

const marks = {
  request: { required: 'required', optional: undefined },
  answer: { required: undefined, optional: 'not always' },
} as const;

function fieldEntry({ name, schema, note, description = schema.description }: Field): Html {
  const limits = limitsOf(schema);
  return html`<dt><code class="plain">${name}</code> <span class="type">${typeOf(schema)}</span>${
    note === undefined ? nothing : html` <span class="note">${note}</span>`
  }</dt>
<dd>${description === undefined ? nothing : html`<p>${inline(description)}</p>`}${
    limits.length === 0 ? nothing : html`<p class="limits">${inline(sentence(limits))}</p>`
  }${nested(schema)}</dd>`;
}

function nested(schema: Schema): Html {
  const inner = schema.items ?? schema;
  if (inner.properties !== undefined) return fieldList(fieldsOf(inner, 'answer'));
  return html`${(schema.oneOf ?? []).map((choice) => fieldList(fieldsOf(choice, 'answer')))}`;
}

function typeOf({ type, const: constant, items, oneOf }: Schema): string {
  if (constant !== undefined) return JSON.stringify(constant);
  if (oneOf !== undefined) return oneOf.map(typeOf).filter(isFirst).join(' or ');
  if (items !== undefined) return `array of ${typeOf(items)}s`;
  return [type].flat().join(' or ');
}

function isFirst<Item>(item: Item, index: number, items: readonly Item[]): boolean {
  return items.indexOf(item) === index;
}

/** What the keywords of the schema ask for, in the order of a sentence. */
function limitsOf(schema: Schema): string[] {
  const { propertyNames, additionalProperties } = schema;
  const limits = [
    lengthOf(schema),
    rangeOf(schema),
    schema['x-pattern-detail']?.replace(/^must have /, ''),
    schema.maxProperties && `at most ${schema.maxProperties} entries`,
    propertyNames && `keys of ${lengthOf(propertyNames)}`,
    typeof additionalProperties === 'object' &&
      `values: ${typeOf(additionalProperties)}, ${limitsOf(additionalProperties).join(', ')}`,
    schema['x-max-bytes'] && `at most ${schema['x-max-bytes'] / 1024} KiB of JSON`,
    schema['x-max-levels'] && `at most ${schema['x-max-levels']} levels`,
    schema.enum && `one of ${schema.enum.map((value) => `\`${value}\``).join(', ')}`,
    schema.default !== undefined && `default ${schema.default}`,
  ];
  return limits.filter((limit) => typeof limit === 'string');
}

function lengthOf({ minLength, maxLength }: Schema): string | undefined {
  if (maxLength === undefined) return minLength === undefined ? undefined : 'not empty';
  return `${minLength ?? 0} to ${maxLength} characters`;
}

function rangeOf({ minimum, maximum }: Schema): string | undefined {
  if (minimum === undefined) return undefined;
  if (maximum === undefined) return `at least ${minimum}`;
  if (minimum === -maximum) return `within ±(${numberText(maximum)})`;
  return `${numberText(minimum)} to ${numberText(maximum)}`;
}

function numberText(value: number): string {
  return value === Number.MAX_SAFE_INTEGER ? '2⁵³ − 1' : value.toLocaleString('en');
}

function sentence(limits: readonly string[]): string {
  const text = limits.join('; ');
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}
