// The mapping as a form: for each schema of the catalogue a choice of its data sources, and one text of JSON
// for everything else. A submitted form names the schema of each of its inputs, because the catalogue may
// have changed since the form was shown.

import type { Catalogue, DataSource, Reference } from '../../domain/catalogue/catalogue.ts';
import { parseLenient } from '../../domain/json/lenient-json.ts';
import { type JsonText, jsonPointer } from '../../domain/json/strict-json.ts';
import { invalidField } from '../../domain/request-body.ts';
import type { EnvironmentConfig } from '../../operations/document/environment-config.ts';
import type { Problem, Violation } from '../../problem.ts';
import { schemaName } from '../catalogue/data-source.ts';
import { areaField, choiceField, hidden, textField, withoutErrorsOf } from '../form/fields.ts';
import { type Form, parseTypedJson } from '../form/form.ts';
import { type Html, html, isolated, nameWithId } from '../markup/html.ts';
import { membersOf } from '../markup/json.ts';
import { foldedDefaults, MAX_UNFOLDED } from './data-sources.ts';
import { fieldText, otherText } from './members.ts';

interface Input {
  schemaId: string;
  /** JSON of the stored reference; empty if the schema has none. */
  stored: string;
  /** JSON of a chosen reference; the id or name of a data source that was searched for; empty for the default. */
  value: string;
  isSearched: boolean;
}

export interface TypedMapping {
  inputs: readonly Input[];
  /** A text of JSON: the entries without an input. */
  other: string;
}

/** Maximum number of schemas with inputs. More are edited as JSON. */
const MAX_SCHEMAS = 200;
/** Maximum number of data sources in a choice. More are searched, in an input with suggestions. */
const MAX_CHOICES = 50;
/** Maximum number of data sources in all choices: a page has a limited size. More are searched too. */
const MAX_ALL_CHOICES = 2_000;
/** Maximum number of suggestions on a page. The id or the name of every other data source can be typed. */
const MAX_SUGGESTIONS = 400;

export function typedMapping(
  config: EnvironmentConfig,
  mapping: JsonText | null,
  isJson: boolean,
): TypedMapping {
  const schemaIds = [...config.ofKind('schema').keys()];
  const stored = membersOf(mapping);
  const isForm = !isJson && schemaIds.length <= MAX_SCHEMAS;
  const sourceCount = (schemaId: string) => config.catalogue.ofSchema(schemaId).length;
  const all = schemaIds.reduce((sum, schemaId) => sum + sourceCount(schemaId), 0);
  const maxChoices = all > MAX_ALL_CHOICES ? 0 : MAX_CHOICES;
  const inputs = (isForm ? schemaIds : []).map((schemaId) => {
    const text = stored.get(schemaId) ?? '';
    stored.delete(schemaId);
    const isSearched = sourceCount(schemaId) > maxChoices;
    const value = isSearched ? searchedText(config.catalogue, text) : text;
    return { schemaId, stored: text, value, isSearched };
  });
  return { inputs, other: otherText(mapping, stored) };
}

/** Throws `invalid_request` for a schema with several inputs, which would all repeat its data sources. */
export function readMapping(form: Form): TypedMapping {
  const inputs = new Map<string, Input>();
  for (let index = 0; index < MAX_SCHEMAS && form.has(`mapping-${index}-schema`); index++) {
    const name = `mapping-${index}`;
    const schemaId = form.text(`${name}-schema`);
    if (inputs.has(schemaId)) throw invalidField(`/${name}-schema`, 'is also the schema of another field');
    inputs.set(schemaId, {
      schemaId,
      stored: form.text(`${name}-stored`),
      value: form.text(name),
      isSearched: form.has(`${name}-searched`),
    });
  }
  return { inputs: [...inputs.values()], other: form.text('mapping') };
}

/** Returns the exact text, with the entries that `stored` has in its order; null if nothing was chosen. */
export function mappingText(
  { inputs, other }: TypedMapping,
  catalogue: Catalogue,
  stored: JsonText | null,
  violations: Violation[],
): JsonText | null {
  if (inputs.length === 0) return parseTypedJson(other, ['mapping'], violations);
  const chosen = new Map<string, JsonText>();
  for (const input of inputs) {
    const reference = referenceText(input, catalogue, violations);
    if (reference !== null) chosen.set(input.schemaId, reference);
  }
  return fieldText('mapping', stored, chosen, other, violations);
}

/** Returns null for the default. */
function referenceText(
  { schemaId, stored, value, isSearched }: Input,
  catalogue: Catalogue,
  violations: Violation[],
): JsonText | null {
  if (!isSearched) return parseTypedJson(value, ['mapping', schemaId], violations);
  const typed = value.trim();
  if (typed === '') return null;
  // Unchanged: the stored reference may be the number of the data source.
  if (stored !== '' && typed === searchedText(catalogue, stored)) return stored as JsonText;
  const sources = catalogue.ofSchema(schemaId);
  const named = sources.filter((each) => each.providedId === typed || each.name === typed);
  const source =
    named.find((each) => each.providedId === typed) ?? (named.length === 1 ? named[0] : undefined);
  return JSON.stringify(source?.providedId ?? typed) as JsonText;
}

/** Returns the text that an input with suggestions shows for the reference; empty if it is none. */
function searchedText(catalogue: Catalogue, text: string): string {
  const reference = parseReference(text);
  return reference === undefined ? '' : (catalogue.find(reference)?.providedId ?? String(reference));
}

/** Returns undefined unless the text is the JSON of a reference, which a form need not have. */
function parseReference(text: string): Reference | undefined {
  const parsed = parseLenient(text);
  return typeof parsed === 'string' || typeof parsed === 'number' ? parsed : undefined;
}

export function mappingFields(
  { inputs, other }: TypedMapping,
  config: EnvironmentConfig,
  userGroupId: string | null,
  problem: Problem | undefined,
): Html {
  const schemaIds = inputs.map(({ schemaId }) => schemaId);
  const json = areaField({
    name: 'mapping',
    label: inputs.length === 0 ? 'Mapping' : 'Entries of schemas that are not in the catalogue',
    hint: 'A JSON object from schema ids to data sources, such as {"40": "acme-orders"}, or nothing.',
    value: other,
    rows: inputs.length === 0 ? 5 : 3,
    problem: withoutErrorsOf('mapping', schemaIds, problem),
  });
  if (inputs.length === 0) return json;
  const left = { suggestions: MAX_SUGGESTIONS, choices: MAX_ALL_CHOICES };
  const fields = inputs.map((input, index) => {
    const control = input.isSearched ? 'suggestions' : 'choices';
    const maxShown = left[control];
    const markup = inputField(input, index, { config, userGroupId, problem, maxShown });
    left[control] -= Math.min(maxShown, config.catalogue.ofSchema(input.schemaId).length);
    const isFoldable =
      input.stored === '' && input.value === '' && violationText(input, config.catalogue, userGroupId) === '';
    return { markup, isFolded: isFoldable && inputs.length > MAX_UNFOLDED };
  });
  const folded = fields.filter(({ isFolded }) => isFolded);
  const isOtherShown = other !== '' || problem?.errors.some(({ pointer }) => pointer === '/mapping');
  return html`<fieldset><legend>Mapping</legend>
${fields.filter(({ isFolded }) => !isFolded).map(({ markup }) => markup)}
${foldedDefaults(
  folded.length,
  folded.map(({ markup }) => markup),
)}
${isOtherShown ? json : hidden('mapping', '')}
</fieldset>`;
}

interface Surroundings {
  config: EnvironmentConfig;
  userGroupId: string | null;
  problem: Problem | undefined;
  /** Maximum number of data sources to show. */
  maxShown: number;
}

function inputField(input: Input, index: number, surroundings: Surroundings): Html {
  const { schemaId, stored, value, isSearched } = input;
  const { config, userGroupId, problem, maxShown } = surroundings;
  const name = `mapping-${index}`;
  const title = schemaName(config, schemaId);
  const offered = config.catalogue
    .ofSchema(schemaId)
    .filter(({ reservedFor }) => reservedFor === null || reservedFor === userGroupId);
  const options = {
    name,
    label: nameWithId(title, schemaId),
    value,
    problem,
    pointer: jsonPointer(['mapping', schemaId]),
    warning: violationText(input, config.catalogue, userGroupId),
  };
  const control = isSearched
    ? html`${textField({ ...options, list: `${name}-list`, hint: `The id or the name of one of ${offered.length} data sources; empty: ${defaultText(config.catalogue, schemaId, userGroupId)}.` })}
<datalist id="${name}-list">${offered.slice(0, maxShown).map((each) => html`<option value="${each.providedId}">${each.name}</option>`)}</datalist>
${hidden(`${name}-searched`, '1')}`
    : choiceField({ ...options, choices: choicesFor(input, offered, surroundings) });
  return html`${hidden(`${name}-schema`, schemaId)}${hidden(`${name}-stored`, stored)}
${control}`;
}

/** Lists the default first, then the data sources, and the stored reference if it is none of them. */
function choicesFor(
  { schemaId, value }: Input,
  offered: readonly DataSource[],
  { config: { catalogue }, userGroupId, maxShown }: Surroundings,
): (readonly [string, string])[] {
  const reference = parseReference(value);
  const current = reference === undefined ? undefined : catalogue.find(reference);
  const shown = offered.filter((each, index) => index < maxShown || each === current);
  const choices = shown.map((each) => {
    // A reference by number stays a number.
    const text = each === current ? value : JSON.stringify(each.providedId);
    return [text, nameWithId(each.name, each.providedId)] as const;
  });
  const isOffered = value === '' || choices.some(([text]) => text === value);
  return [
    ['', defaultText(catalogue, schemaId, userGroupId)],
    ...choices,
    ...(isOffered ? [] : [[value, `missing: ${reference ?? value}`] as const]),
  ];
}

function defaultText(catalogue: Catalogue, schemaId: string, userGroupId: string | null): string {
  const reference = catalogue.defaultOf(schemaId);
  if (reference === null) return 'missing: the schema has no default';
  const found = catalogue.lookUp(schemaId, reference, userGroupId ?? '');
  return typeof found === 'object'
    ? `default: ${isolated(found.name)}`
    : `missing: the default ${isolated(String(reference))} cannot be used`;
}

/** Returns an empty text unless dashboards of the group would show an error for the schema. */
function violationText(input: Input, catalogue: Catalogue, userGroupId: string | null): string {
  const { schemaId } = input;
  const text = referenceText(input, catalogue, []);
  const reference = text === null ? catalogue.defaultOf(schemaId) : (JSON.parse(text) as Reference);
  if (reference === null) return 'Missing: dashboards get no data source for it.';
  return typeof catalogue.lookUp(schemaId, reference, userGroupId ?? '') === 'object'
    ? ''
    : `Missing: ${isolated(String(reference))} is not a data source of this schema for this user group.`;
}
