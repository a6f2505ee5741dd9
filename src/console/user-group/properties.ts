// Properties as a form: an input for each simple member of the property schema, and one text of JSON for
// everything else. A submitted form names the key and kind of each of its inputs, because the schema may have
// changed since the form was shown. Values are texts of JSON throughout: numbers keep their digits.

import {
  decodeString,
  JsonArray,
  JsonObject,
  type JsonTree,
  jsonText,
  parseTree,
} from '../../domain/json/json-tree.ts';
import { type JsonText, jsonPointer, ONLY_NUMBER } from '../../domain/json/strict-json.ts';
import { type CpuQueue, GRACE_MS } from '../../operations/machinery/cpu-queue.ts';
import type { Problem, Violation } from '../../problem.ts';
import { areaField, choiceField, group, hidden, textField, withoutErrorsOf } from '../form/fields.ts';
import { type Form, parseTypedJson } from '../form/form.ts';
import { type Html, html, table } from '../markup/html.ts';
import { editableJson, membersOf } from '../markup/json.ts';
import { fieldText, otherText } from './members.ts';

/** `choice` has texts of JSON as its values; `json` is for a stored value that the other kinds cannot show unchanged. */
const kinds = ['text', 'number', 'choice', 'json'] as const;
type Kind = (typeof kinds)[number];

/** A simple member of the property schema. */
interface Definition {
  kind: Exclude<Kind, 'json'>;
  label: string;
  hint: string;
  /** Texts of JSON, for the kind `choice`. */
  choices: readonly string[];
}

interface Input extends Omit<Definition, 'kind'> {
  key: string;
  kind: Kind;
  /** Text as typed; an absent member is empty. */
  value: string;
}

export interface TypedProperties {
  inputs: readonly Input[];
  /** A text of JSON: the members without an input. */
  other: string;
  /** Whether the environment has no schema, so that each input is a row with its name and type. */
  hasRows: boolean;
}

/** Maximum number of rows. More members are edited as JSON. */
const MAX_ROWS = 40;
const BLANK_ROWS = 3;
/** Size of JSON whose processing takes as long as rendering an input. */
const INPUT_BYTES = 256;

// biome-ignore lint/suspicious/noControlCharactersInRegex: browsers drop line breaks, and parsers of HTML replace NUL.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const JSON_HINT = 'As JSON, because the stored value is empty, has another type, or has several lines.';

/** `isJson` means no inputs, whatever the schema. */
export function typedProperties(
  schema: JsonText | null,
  properties: JsonText | null,
  isJson: boolean,
): TypedProperties {
  if (isJson)
    return { inputs: [], other: properties === null ? '' : editableJson(properties), hasRows: false };
  if (schema === null) return typedRows(properties);
  const stored = membersOf(properties);
  const inputs = [...propertyDefinitions(schema)].map(([key, definition]) => {
    const value = stored.get(key);
    stored.delete(key);
    return propertyInput(key, definition, value);
  });
  return { inputs, other: otherText(properties, stored), hasRows: false };
}

/** Returns a row for each member, and some for new ones. */
function typedRows(properties: JsonText | null): TypedProperties {
  const members = [...membersOf(properties)];
  const isRows = members.length <= MAX_ROWS && members.every(([key]) => key !== '' && !CONTROL.test(key));
  if (!isRows) return typedProperties(null, properties, true);
  const blank = Array.from({ length: BLANK_ROWS }, () => rowInput('', undefined));
  return {
    inputs: [...members.map(([key, value]) => rowInput(key, value)), ...blank],
    other: properties === '{}' ? properties : '',
    hasRows: true,
  };
}

function rowInput(key: string, stored: JsonText | undefined): Input {
  const kind = stored === undefined || stored[0] === '"' ? 'text' : 'number';
  return propertyInput(key, { kind, label: key, hint: '', choices: [] }, stored);
}

/** Reads the inputs that the form has. The schema may no longer contain some of them. */
export function readProperties(form: Form, schema: JsonText | null): TypedProperties {
  const definitions = propertyDefinitions(schema);
  const hasRows = form.has('property-rows');
  const maxInputs = hasRows ? MAX_ROWS + BLANK_ROWS : Number.POSITIVE_INFINITY;
  const inputs: Input[] = [];
  for (let index = 0; index < maxInputs && form.has(`property-${index}-key`); index++) {
    const name = `property-${index}`;
    const key = form.text(`${name}-key`);
    const kind = form.choice(`${name}-kind`, kinds) ?? 'json';
    inputs.push(typedInput(key, kind, form.text(name), definitions.get(key)));
    // Used once: thousands of inputs with the same key would all repeat its choices.
    definitions.delete(key);
  }
  return { inputs, other: form.text('properties'), hasRows };
}

/**
 * Returns the exact text, with the members that `stored` has in its order; null if nothing was typed. Adds to
 * `violations` what is not valid.
 */
export function propertiesText(
  { inputs, other }: TypedProperties,
  stored: JsonText | null,
  violations: Violation[],
): JsonText | null {
  if (inputs.length === 0) return parseTypedJson(other, ['properties'], violations);
  const typed = new Map<string, JsonText>();
  for (const input of inputs) {
    const value = inputJson(input, violations);
    if (value === null) continue;
    if (input.key === '') {
      violations.push({ pointer: '/properties', detail: `has no name for the value ${value}` });
      continue;
    }
    if (typed.has(input.key))
      violations.push({ pointer: jsonPointer(['properties', input.key]), detail: 'occurs twice' });
    typed.set(input.key, value);
  }
  return fieldText('properties', stored, typed, other, violations);
}

/** `problem` is why the form was rejected. A property schema may have thousands of simple members. */
export async function propertyFields(
  cpu: CpuQueue,
  { inputs, other, hasRows }: TypedProperties,
  problem: Problem | undefined,
): Promise<Html> {
  if (hasRows) return rowFields(inputs, other, problem);
  const names = inputs.map(({ key }) => key);
  const ofOther = areaField({
    name: 'properties',
    label: inputs.length === 0 ? 'Properties' : 'Other properties',
    hint: 'A JSON object, or nothing.',
    value: other,
    rows: inputs.length === 0 ? 12 : 6,
    problem: withoutErrorsOf('properties', names, problem),
  });
  if (inputs.length === 0) return ofOther;
  const fields: Html[] = [];
  for (const [index, input] of inputs.entries()) {
    await cpu.turn(INPUT_BYTES, GRACE_MS);
    fields.push(inputField(input, index, problem));
  }
  return html`<fieldset><legend>Properties</legend>
${fields}
${ofOther}
</fieldset>`;
}

function rowFields(inputs: readonly Input[], other: string, problem: Problem | undefined): Html {
  const cells = inputs.map((input, index) => {
    // The last of several rows with the same name shows its errors.
    const isLast = inputs.findLastIndex(({ key }) => key === input.key) === index;
    return rowCells(input, index, isLast ? problem : undefined);
  });
  // Errors of rows without a name are shown above the rows.
  const names = inputs.map(({ key }) => key).filter((key) => key !== '');
  return group(
    { name: 'properties', problem: withoutErrorsOf('properties', names, problem) },
    html`<p class="hint">An empty value removes the row. JSON: true, false, null, a list or an object.</p>
${table('Properties', ['Name', 'Type', 'Value'], cells)}
${hidden('property-rows', '1')}${hidden('properties', other)}
`,
  );
}

const rowKinds = [
  ['text', 'text'],
  ['number', 'number'],
  ['json', 'JSON'],
] as const;

function rowCells({ key, kind, value }: Input, index: number, problem: Problem | undefined): readonly Html[] {
  const name = `property-${index}`;
  const title = key === '' ? `new property ${index + 1}` : key;
  const pointer = jsonPointer(['properties', key]);
  return [
    textField({
      name: `${name}-key`,
      label: `Name of ${title}`,
      isLabelHidden: true,
      value: key,
      size: 'small',
    }),
    choiceField({
      name: `${name}-kind`,
      label: `Type of ${title}`,
      isLabelHidden: true,
      value: kind,
      choices: rowKinds,
    }),
    areaField({
      name,
      label: `Value of ${title}`,
      isLabelHidden: true,
      value,
      rows: value.split('\n').length,
      isText: kind === 'text',
      problem: key === '' ? undefined : problem,
      pointer,
    }),
  ];
}

/** Returns the members of the schema that have one simple type or list their values. */
function propertyDefinitions(schema: JsonText | null): Map<string, Definition> {
  const definitions = new Map<string, Definition>();
  const tree = schema === null ? null : parseTree(schema);
  const members = tree instanceof JsonObject ? tree.members.get('"properties"') : undefined;
  if (!(members instanceof JsonObject)) return definitions;
  for (const [text, member] of members.members) {
    const key = decodeString(text);
    const definition = member instanceof JsonObject ? propertyDefinition(key, member) : null;
    if (definition !== null) definitions.set(key, definition);
  }
  return definitions;
}

function propertyDefinition(key: string, { members }: JsonObject): Definition | null {
  const label = stringValue(members.get('"title"')) || key;
  const hint = stringValue(members.get('"description"'));
  const values = members.get('"enum"');
  if (values instanceof JsonArray) {
    const choices = values.elements.filter((each) => typeof each === 'string');
    return choices.length < values.elements.length ? null : { kind: 'choice', label, hint, choices };
  }
  const simple = SIMPLE_TYPES.get(stringValue(members.get('"type"')));
  return simple === undefined ? null : { ...simple, label, hint };
}

const SIMPLE_TYPES = new Map<string, Pick<Definition, 'kind' | 'choices'>>([
  ['string', { kind: 'text', choices: [] }],
  ['number', { kind: 'number', choices: [] }],
  ['integer', { kind: 'number', choices: [] }],
  ['boolean', { kind: 'choice', choices: ['true', 'false'] }],
]);

/** Returns an empty text for anything but a string. */
function stringValue(tree: JsonTree | undefined): string {
  return typeof tree === 'string' && tree[0] === '"' ? decodeString(tree) : '';
}

function propertyInput(key: string, definition: Definition, stored: JsonText | undefined): Input {
  if (stored === undefined) return { ...definition, key, value: '' };
  const value = shownValue(definition, stored);
  if (value !== null) return { ...definition, key, value };
  return { ...definition, key, kind: 'json', hint: JSON_HINT, value: editableJson(stored) };
}

/** Returns null if the control would not send the value back unchanged. */
function shownValue({ kind, choices }: Definition, stored: JsonText): string | null {
  switch (kind) {
    case 'text': {
      const text = stringValue(stored);
      return text.trim() === '' || CONTROL.test(text) ? null : text;
    }
    case 'number':
      return ONLY_NUMBER.test(stored) ? stored : null;
    case 'choice':
      return choices.includes(stored) ? stored : null;
    default:
      return kind satisfies never;
  }
}

function typedInput(key: string, kind: Kind, value: string, definition: Definition | undefined): Input {
  const { label = key, hint = '', choices = [] } = definition ?? {};
  const isShown = kind !== 'choice' || value === '' || choices.includes(value);
  return { key, kind: isShown ? kind : 'json', value, label, hint, choices };
}

/** Returns the text of JSON; null if the member is absent or not valid. */
function inputJson({ key, kind, value }: Input, violations: Violation[]): JsonText | null {
  if (value.trim() === '') return null;
  switch (kind) {
    case 'text':
      return jsonText(value);
    case 'number':
      if (ONLY_NUMBER.test(value.trim())) return value.trim() as JsonText;
      violations.push({
        pointer: jsonPointer(['properties', key]),
        detail: 'must be a number, such as 25 or 0.5',
      });
      return null;
    case 'choice':
    case 'json':
      return parseTypedJson(value, ['properties', key], violations);
    default:
      return kind satisfies never;
  }
}

function inputField(input: Input, index: number, problem: Problem | undefined): Html {
  const { key, kind, label, hint, value } = input;
  const name = `property-${index}`;
  const pointer = jsonPointer(['properties', key]);
  const options = { name, label, value, problem, pointer, ...(hint !== '' && { hint }) };
  return html`${hidden(`${name}-key`, key)}${hidden(`${name}-kind`, kind)}
${control(input, options)}`;
}

function control({ kind, choices }: Input, options: Parameters<typeof textField>[0]): Html {
  switch (kind) {
    case 'text':
      return textField(options);
    case 'number':
      return textField({ ...options, inputMode: 'decimal' });
    case 'choice':
      return choiceField({
        ...options,
        choices: [['', 'not set'], ...choices.map((each) => [each, choiceText(each)] as const)],
      });
    case 'json':
      return areaField({ ...options, rows: 3 });
    default:
      return kind satisfies never;
  }
}

/** Removes the quotes of a string, unless it would then read like another value. */
function choiceText(value: string): string {
  const text = stringValue(value as JsonText);
  return text === '' || text.trim() !== text || ONLY_NUMBER.test(text) || /^(?:true|false|null)$/.test(text)
    ? value
    : text;
}
