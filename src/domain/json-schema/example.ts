// Examples of values for a schema, as large as properties can be, which show whether checking takes too long.
// They reach the keywords of the schema and need not be valid.

import { limits } from '../field.ts';
import { parsePointer } from '../json/strict-json.ts';
import { isObject, type ObjectValue } from './value.ts';

/** Fills the places that the schema leaves open. `deep` has one member or item per level, the others as many as fit. */
const fillers = {
  numbers: (index) => index,
  texts: (index) => `text ${index}`,
  objects: (index) => ({ n: index }),
  deep: (index) => index,
} as const satisfies Record<string, (index: number) => unknown>;
type Filling = keyof typeof fillers;

const MAX_BYTES = limits.propertiesBytes;
/** The sizes of places are approximate: an example that has become too large is built again for a smaller one. */
const SHRINKING = 0.7;
const MAX_ATTEMPTS = 6;
/** Places smaller than this are not divided, which bounds the number of values in an example. */
const MIN_BYTES = 8;
/** Single members that are tried alone, with all bytes: those with the longest schemas. */
const MAX_MEMBERS = 8;
/** Maximum number of schemas that apply to one place. */
const MAX_APPLICABLE = 500;
const MAX_ENTRIES = 6_000;
/** Assumed size of an item or a member that a schema repeats. */
const REPEATED_BYTES = 14;
const TEXT = 'ab1 ';

/**
 * Yields the empty object first, then examples from the most plausible to the least. Building one calls `step` repeatedly,
 * which may throw to stop it: in a schema that refers to itself, the places multiply with every level.
 */
export function* schemaExamples(schema: unknown, step: () => void): Generator<unknown> {
  yield {};
  const examples = new Examples(schema, step);
  for (const only of [null, ...examples.longestMembers()])
    for (const filling of Object.keys(fillers) as Filling[]) yield* examples.largest({ filling, only });
}

interface Place {
  filling: Filling;
  /** Approximate size of the value. */
  bytes: number;
  levels: number;
  /** The only member of the properties; null for all. */
  only: string | null;
}

class Examples {
  readonly #root: unknown;
  readonly #step: () => void;

  constructor(root: unknown, step: () => void) {
    this.#root = root;
    this.#step = step;
  }

  longestMembers(): string[] {
    const members = membersIn(this.#applicable(this.#root)).map(
      ({ name, schema }) => [name, JSON.stringify(schema).length] as const,
    );
    return members
      .sort(([, a], [, b]) => b - a)
      .slice(0, MAX_MEMBERS)
      .map(([name]) => name);
  }

  /** Yields nothing if the example does not fit within the limit of properties. */
  *largest({ filling, only }: Pick<Place, 'filling' | 'only'>): Generator<unknown> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const bytes = MAX_BYTES * SHRINKING ** attempt;
      const example = this.#value(this.#root, { filling, only, bytes, levels: limits.propertiesLevels });
      if (JSON.stringify(example).length > MAX_BYTES) continue;
      yield example;
      return;
    }
  }

  #value(schema: unknown, place: Place): unknown {
    this.#step();
    const schemas = this.#applicable(schema);
    const constant = constantIn(schemas);
    if (constant !== undefined && JSON.stringify(constant).length <= place.bytes) return constant;
    const type = typeIn(schemas);
    if (type === 'string') return textFor(schemas, place);
    if (place.levels <= 0 || place.bytes < MIN_BYTES) return 1;
    if (type === 'object') return this.#object(schemas, place);
    if (type === 'array') return this.#array(schemas, place);
    return type === undefined ? open(place) : 1;
  }

  #array(schemas: readonly ObjectValue[], place: Place): unknown[] {
    const prefix = schemas.flatMap(({ prefixItems }) => (Array.isArray(prefixItems) ? prefixItems : []));
    const share = within(place, prefix.length + 1);
    const first = prefix.slice(0, MAX_ENTRIES).map((schema) => this.#value(schema, share));
    return [
      ...first,
      ...this.#repeated(keywordValues(schemas, ['items', 'contains', 'unevaluatedItems']), share),
    ];
  }

  #object(schemas: readonly ObjectValue[], { only, ...place }: Place): Record<string, unknown> {
    const described = membersIn(schemas).filter(({ name }) => only === null || name === only);
    const share = within({ ...place, only: null }, described.length + (only === null ? 1 : 0));
    const members = described.map(({ name, schema }) => [name, this.#value(schema, share)] as const);
    if (only !== null) return Object.fromEntries(members);
    const additional = keywordValues(schemas, ['additionalProperties', 'unevaluatedProperties']);
    const values = this.#repeated(additional, share);
    return Object.fromEntries([...members, ...values.map((value, index) => [`k${index}`, value] as const)]);
  }

  /** Fits as many values as possible. */
  #repeated(allOf: readonly unknown[], place: Place): unknown[] {
    if (allOf.length === 0) return open(place);
    const count = entryCount(place);
    const value = this.#value({ allOf }, within({ ...place, levels: place.levels + 1 }, count));
    return new Array(count).fill(value);
  }

  /** The schemas that apply to the same value as this one, itself included. */
  #applicable(schema: unknown): ObjectValue[] {
    const found = new Set<ObjectValue>();
    const pending = [schema];
    while (pending.length > 0 && found.size < MAX_APPLICABLE) {
      const next = pending.shift();
      if (!isObject(next) || found.has(next)) continue;
      found.add(next);
      pending.push(...inPlaceSubschemas(next), ...this.#referenceTargets(next));
    }
    return [...found];
  }

  /** Follows only references by path: those by anchor are as rare in examples as in schemas. */
  #referenceTargets({ $ref, $dynamicRef }: ObjectValue): unknown[] {
    return [$ref, $dynamicRef].flatMap((reference) =>
      typeof reference === 'string' && /^#(?:\/|$)/.test(reference) ? [this.#dereference(reference)] : [],
    );
  }

  #dereference(reference: string): unknown {
    return parsePointer(decodeURIComponent(reference)).reduce<unknown>(
      (parent, key) => (parent as ObjectValue | undefined)?.[key],
      this.#root,
    );
  }
}

function inPlaceSubschemas(schema: ObjectValue): unknown[] {
  const { allOf, anyOf, oneOf, not, dependentSchemas } = schema;
  const lists = [allOf, anyOf, oneOf].filter(Array.isArray).flat();
  const dependent = isObject(dependentSchemas) ? Object.values(dependentSchemas) : [];
  return [...lists, schema.if, schema.then, schema.else, not, ...dependent];
}

function constantIn(schemas: readonly ObjectValue[]): unknown {
  for (const schema of schemas) {
    if (schema.const !== undefined) return schema.const;
    if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum.at(-1);
  }
  return undefined;
}

const KEYWORDS = {
  object:
    /^(?:properties|patternProperties|additionalProperties|unevaluatedProperties|propertyNames|required|dependent.*|(?:min|max)Properties)$/,
  array: /^(?:items|prefixItems|contains|unevaluatedItems|uniqueItems|(?:min|max)Items)$/,
  string: /^(?:pattern|(?:min|max)Length)$/,
  number: /^(?:minimum|maximum|exclusive.*|multipleOf)$/,
} as const;

/** Type of the example: composite values have more to check than texts and numbers. */
function typeIn(schemas: readonly ObjectValue[]): string | undefined {
  const named = schemas.flatMap(({ type }) => type ?? []);
  const keywords = schemas.flatMap((schema) => Object.keys(schema));
  const all = Object.entries(KEYWORDS);
  const described = all.find(([, pattern]) => keywords.some((keyword) => pattern.test(keyword)));
  return (
    described?.[0] ?? all.map(([type]) => type).find((type) => named.includes(type)) ?? (named[0] as string)
  );
}

interface Member {
  name: string;
  schema: unknown;
}

function membersIn(schemas: readonly ObjectValue[]): Member[] {
  const named = schemas.flatMap(({ properties }) => namedSchemas(properties));
  const byPattern = schemas.flatMap(({ patternProperties }) =>
    namedSchemas(patternProperties).map(({ name, schema }) => ({ name: patternText(name), schema })),
  );
  const required = schemas.flatMap(({ required: names, dependentSchemas, dependentRequired }) => [
    ...(Array.isArray(names) ? names.map(String) : []),
    ...namedSchemas(dependentSchemas).map(({ name }) => name),
    ...namedSchemas(dependentRequired).map(({ name }) => name),
  ]);
  const open = required.map((name) => ({ name, schema: true }));
  return [...open, ...named, ...byPattern].slice(0, MAX_ENTRIES);
}

function namedSchemas(value: unknown): Member[] {
  return isObject(value) ? Object.entries(value).map(([name, schema]) => ({ name, schema })) : [];
}

function keywordValues(schemas: readonly ObjectValue[], keywords: readonly string[]): unknown[] {
  return schemas.flatMap((schema) => keywords.map((keyword) => schema[keyword])).filter(isObject);
}

function textFor(schemas: readonly ObjectValue[], { filling, bytes }: Place): string {
  const pattern = schemas.map((schema) => schema.pattern).find((each) => typeof each === 'string');
  const letters = patternText(pattern ?? TEXT) || TEXT;
  const text = filling === 'texts' ? letters[0]! : letters;
  return text.repeat(Math.ceil(bytes / text.length)).slice(0, bytes);
}

/** The letters and digits of a pattern: a text that matches it at least in part. */
function patternText(pattern: string): string {
  return pattern.replace(/\\.|[^\p{L}\p{N}_-]/gu, '');
}

/** Items that no schema describes. */
function open(place: Place): unknown[] {
  return Array.from({ length: entryCount(place) }, (_, index) => fillers[place.filling](index));
}

function entryCount({ filling, bytes }: Place): number {
  if (filling === 'deep') return 1;
  return Math.min(MAX_ENTRIES, Math.floor(bytes / REPEATED_BYTES));
}

function within(place: Place, parts: number): Place {
  const bytes = Math.floor(place.bytes / Math.max(1, parts));
  return { ...place, bytes, levels: place.levels - 1 };
}
