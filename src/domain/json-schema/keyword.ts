// The assertions of the keywords of JSON Schema 2020-12. Keywords that are not here (`format`, `title`,
// `contentEncoding` …) are annotations.

import type { Assertion, Evaluated, Evaluation } from './evaluation.ts';
import { compareNumbers, isNumber, type JsonNumber, multipleTest } from './exact-number.ts';
import { compilePattern } from './pattern.ts';
import { SchemaInvalid, type SchemaPath } from './schema-invalid.ts';
import {
  canonicalText,
  countCodePoints,
  isObject,
  isOfType,
  type ObjectValue,
  type Type,
  types,
} from './value.ts';

/** A keyword in a schema. */
interface KeywordUse {
  value: unknown;
  path: SchemaPath;
  /** All keywords of the schema. */
  siblings: ObjectValue;
  subschema: (value: unknown, path: SchemaPath) => Assertion;
  /** The assertion of the schema that a reference leads to. */
  reference: (text: string, path: SchemaPath, isDynamic: boolean) => Assertion;
}

type Keyword = (use: KeywordUse) => Assertion;

/** Keywords in the order of evaluation: the last ones depend on what the others have evaluated. */
export const keywords: Readonly<Record<string, Keyword>> = {
  $defs: (use) => {
    namedSubschemasIn(use);
    return () => true;
  },
  $ref: (use) => use.reference(textIn(use), use.path, false),
  $dynamicRef: (use) => use.reference(textIn(use), use.path, true),
  type: (use) => {
    const all = (Array.isArray(use.value) ? use.value : [use.value]) as Type[];
    if (all.length === 0 || !all.every((type) => types.includes(type)))
      throw new SchemaInvalid(use.path, `must be one of ${types.join(', ')}, or a list of these`);
    return (value, evaluation) =>
      all.some((type) => isOfType(value, type)) || evaluation.fail(`must be ${all.join(' or ')}`);
  },
  enum: (use) => {
    const all = new Set(arrayIn(use).map(canonicalText));
    return (value, evaluation) =>
      all.has(canonicalText(value)) || evaluation.fail(`must be one of ${JSON.stringify(use.value)}`);
  },
  const: ({ value: constant }) => {
    const text = canonicalText(constant);
    return (value, evaluation) =>
      canonicalText(value) === text || evaluation.fail(`must be ${JSON.stringify(constant)}`);
  },
  multipleOf: (use) => {
    const divisor = numberIn(use);
    if (compareNumbers(divisor, 0) <= 0) throw new SchemaInvalid(use.path, 'must be greater than 0');
    return ofNumber(multipleTest(divisor), `must be multiple of ${divisor}`);
  },
  maximum: bound((order) => order <= 0, '<='),
  exclusiveMaximum: bound((order) => order < 0, '<'),
  minimum: bound((order) => order >= 0, '>='),
  exclusiveMinimum: bound((order) => order > 0, '>'),
  maxLength: countBound('most', 'characters'),
  minLength: countBound('least', 'characters'),
  pattern: (use) => ofText(patternIn(textIn(use), use.path), `must match pattern "${use.value}"`),
  maxItems: countBound('most', 'items'),
  minItems: countBound('least', 'items'),
  uniqueItems: (use) => {
    if (typeof use.value !== 'boolean') throw new SchemaInvalid(use.path, 'must be true or false');
    if (!use.value) return () => true;
    return ofArray(
      (items, evaluation) =>
        new Set(items.map(canonicalText)).size === items.length ||
        evaluation.fail('must not have two items that are equal'),
    );
  },
  maxProperties: countBound('most', 'properties'),
  minProperties: countBound('least', 'properties'),
  required: (use) => hasAll(use.value, use.path),
  dependentRequired: (use) =>
    ofPresent(
      Object.entries(objectIn(use)).map(([name, value]) => [name, hasAll(value, [...use.path, name])]),
    ),
  allOf: (use) => together(subschemasIn(use)),
  anyOf: (use) => {
    const all = subschemasIn(use);
    return (value, evaluation, evaluated) => {
      let isValid = false;
      for (const assertion of all) {
        if (evaluation.quietly(value, assertion, evaluated)) isValid = true;
        // If evaluation is tracked, the others may evaluate more.
        if (isValid && evaluated === null) break;
      }
      return isValid || evaluation.fail('must match a schema of anyOf');
    };
  },
  oneOf: (use) => {
    const all = subschemasIn(use);
    return (value, evaluation, evaluated) =>
      all.filter((assertion) => evaluation.quietly(value, assertion, evaluated)).length === 1 ||
      evaluation.fail('must match exactly one schema of oneOf');
  },
  not: (use) => {
    const assertion = use.subschema(use.value, use.path);
    return (value, evaluation) =>
      !evaluation.quietly(value, assertion) || evaluation.fail('must not match the schema of not');
  },
  if: (use) => {
    const { siblings, path } = use;
    const condition = use.subschema(use.value, path);
    const branch = (name: string): Assertion =>
      Object.hasOwn(siblings, name)
        ? use.subschema(siblings[name], [...path.slice(0, -1), name])
        : () => true;
    const [consequence, alternative] = [branch('then'), branch('else')];
    return (value, evaluation, evaluated) =>
      evaluation.quietly(value, condition, evaluated)
        ? consequence(value, evaluation, evaluated)
        : alternative(value, evaluation, evaluated);
  },
  dependentSchemas: (use) => ofPresent(namedSubschemasIn(use)),
  prefixItems: (use) => {
    const schemas = subschemasIn(use);
    return eachItem(0, schemas.length, (index) => schemas[index]);
  },
  items: (use) => {
    const { prefixItems } = use.siblings;
    const start = Array.isArray(prefixItems) ? prefixItems.length : 0;
    const assertion = orNone(use, 'is not an item of the schema');
    return eachItem(start, undefined, () => assertion);
  },
  contains: (use) => {
    const assertion = use.subschema(use.value, use.path);
    const minContains = countBeside(use, 'minContains') ?? 1;
    const maxContains = countBeside(use, 'maxContains') ?? Infinity;
    return ofArray((items, evaluation, evaluated) => {
      let count = 0;
      for (const [index, item] of items.entries()) {
        if (!evaluation.quietly(item, assertion)) continue;
        count++;
        evaluated?.add(index);
      }
      if (count < minContains)
        return evaluation.fail(`must contain at least ${minContains} items of the schema of contains`);
      return (
        count <= maxContains ||
        evaluation.fail(`must contain at most ${maxContains} items of the schema of contains`)
      );
    });
  },
  minContains: besideContains,
  maxContains: besideContains,
  propertyNames: (use) => {
    const assertion = use.subschema(use.value, use.path);
    return ofObject((object, evaluation) =>
      every(Object.keys(object), evaluation, (name) => {
        const isValid = evaluation.quietly(name, assertion);
        return isValid || evaluation.fail('has a name that the schema does not allow', name);
      }),
    );
  },
  properties: (use) => {
    const schemas = new Map(namedSubschemasIn(use));
    return eachMember((name) => schemas.get(name));
  },
  patternProperties: (use) => {
    const all = Object.entries(objectIn(use)).map(([pattern, schema]) => {
      const path = [...use.path, pattern];
      const matches = patternIn(pattern, path);
      const assertion = use.subschema(schema, path);
      return eachMember((name) => (matches(name) ? assertion : undefined));
    });
    return together(all);
  },
  additionalProperties: (use) => {
    const { properties, patternProperties } = use.siblings;
    const names = new Set(isObject(properties) ? Object.keys(properties) : []);
    const patterns = Object.keys(isObject(patternProperties) ? patternProperties : {}).map((pattern) =>
      patternIn(pattern, use.path),
    );
    const isAdditional = (name: string) => !names.has(name) && !patterns.some((matches) => matches(name));
    const assertion = orNone(use, 'is not a property of the schema');
    return eachMember((name) => (isAdditional(name) ? assertion : undefined));
  },
  unevaluatedItems: (use) => {
    const assertion = orNone(use, 'is not an item of the schema');
    return eachItem(0, undefined, (index, evaluated) => (evaluated!.has(index) ? undefined : assertion));
  },
  unevaluatedProperties: (use) => {
    const assertion = orNone(use, 'is not a property of the schema');
    return eachMember((name, evaluated) => (evaluated!.has(name) ? undefined : assertion));
  },
};

/** Stops at the first failure if further ones would not be reported. */
function every<Item>(
  items: readonly Item[],
  evaluation: Evaluation,
  holds: (item: Item) => boolean,
): boolean {
  let isValid = true;
  for (const item of items) {
    evaluation.step();
    if (holds(item)) continue;
    isValid = false;
    if (evaluation.isDecided) break;
  }
  return isValid;
}

/** Requires all to hold. Unlike in a `conjunction`, what each of them evaluates counts. */
function together(assertions: readonly Assertion[]): Assertion {
  return (value, evaluation, evaluated) =>
    every(assertions, evaluation, (assertion) => assertion(value, evaluation, evaluated));
}

/** Returns the assertion of the member or item; undefined if there is none. */
type FindAssertion<Key> = (key: Key, evaluated: Evaluated) => Assertion | undefined;

function eachMember(findAssertion: FindAssertion<string>): Assertion {
  return ofObject((object, evaluation, evaluated) =>
    every(Object.keys(object), evaluation, (name) => {
      const assertion = findAssertion(name, evaluated);
      if (assertion === undefined) return true;
      evaluated?.add(name);
      return evaluation.at(name, object[name], assertion);
    }),
  );
}

/** Asserts something about the items from `start`, up to `end` if given. */
function eachItem(start: number, end: number | undefined, findAssertion: FindAssertion<number>): Assertion {
  return ofArray((items, evaluation, evaluated) =>
    every([...items.slice(start, end).keys()], evaluation, (key) => {
      const index = start + key;
      const assertion = findAssertion(index, evaluated);
      if (assertion === undefined) return true;
      evaluated?.add(index);
      return evaluation.at(index, items[index], assertion);
    }),
  );
}

/** Returns the assertion of the subschema; false has its own message. */
function orNone({ value, path, subschema }: KeywordUse, detail: string): Assertion {
  return value === false ? (_value, evaluation) => evaluation.fail(detail) : subschema(value, path);
}

/** Requires the named members of an object. */
function hasAll(value: unknown, path: SchemaPath): Assertion {
  const names = namesIn(value, path);
  return ofObject((object, evaluation) =>
    every(names, evaluation, (name) => Object.hasOwn(object, name) || evaluation.fail('is required', name)),
  );
}

/** Asserts something about an object for each of the named members that it has. */
function ofPresent(assertions: readonly (readonly [name: string, assertion: Assertion])[]): Assertion {
  return ofObject((object, evaluation, evaluated) => {
    const present = assertions.filter(([name]) => Object.hasOwn(object, name));
    return every(present, evaluation, ([, assertion]) => assertion(object, evaluation, evaluated));
  });
}

/** `holds` gets the order of the value and the limit: negative, zero or positive. */
function bound(holds: (order: number) => boolean, sign: string): Keyword {
  return (use) => {
    const limit = numberIn(use);
    return ofNumber((value) => holds(compareNumbers(value, limit)), `must be ${sign} ${limit}`);
  };
}

/** Counts in a value; null for a value of another type. */
const counts = {
  characters: (value: unknown) => (typeof value === 'string' ? countCodePoints(value) : null),
  items: (value: unknown) => (Array.isArray(value) ? value.length : null),
  properties: (value: unknown) => (isObject(value) ? Object.keys(value).length : null),
};

function countBound(side: 'most' | 'least', noun: keyof typeof counts): Keyword {
  return (use) => {
    const limit = countIn(use);
    const count = counts[noun];
    return (value, evaluation) => {
      const counted = count(value);
      if (counted === null || (side === 'most' ? counted <= limit : counted >= limit)) return true;
      return evaluation.fail(`must have at ${side} ${limit} ${noun}`);
    };
  };
}

function ofNumber(holds: (value: JsonNumber) => boolean, detail: string): Assertion {
  return (value, evaluation) => !isNumber(value) || holds(value) || evaluation.fail(detail);
}

function ofText(holds: (value: string) => boolean, detail: string): Assertion {
  return (value, evaluation) => typeof value !== 'string' || holds(value) || evaluation.fail(detail);
}

function ofArray(
  holds: (items: readonly unknown[], evaluation: Evaluation, evaluated: Evaluated) => boolean,
): Assertion {
  return (value, evaluation, evaluated) => !Array.isArray(value) || holds(value, evaluation, evaluated);
}

function ofObject(
  holds: (object: ObjectValue, evaluation: Evaluation, evaluated: Evaluated) => boolean,
): Assertion {
  return (value, evaluation, evaluated) => !isObject(value) || holds(value, evaluation, evaluated);
}

function textIn({ value, path }: KeywordUse): string {
  if (typeof value === 'string') return value;
  throw new SchemaInvalid(path, 'must be a string');
}

function numberIn({ value, path }: KeywordUse): JsonNumber {
  if (isNumber(value)) return value;
  throw new SchemaInvalid(path, 'must be a number');
}

/** The keyword `contains` asserts it. */
function besideContains(use: KeywordUse): Assertion {
  countIn(use);
  return () => true;
}

/** Rounds a large number: no value has so many parts. */
function countIn({ value, path }: Pick<KeywordUse, 'value' | 'path'>): number {
  if (isOfType(value, 'integer') && compareNumbers(value as JsonNumber, 0) >= 0) return Number(value);
  throw new SchemaInvalid(path, 'must be a whole number from 0');
}

function countBeside({ siblings, path }: KeywordUse, keyword: string): number | undefined {
  const value = siblings[keyword];
  return value === undefined ? undefined : countIn({ value, path: [...path.slice(0, -1), keyword] });
}

function arrayIn({ value, path }: KeywordUse): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new SchemaInvalid(path, 'must be an array');
}

function objectIn({ value, path }: KeywordUse): ObjectValue {
  if (isObject(value)) return value;
  throw new SchemaInvalid(path, 'must be an object');
}

function namesIn(value: unknown, path: SchemaPath): readonly string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value;
  throw new SchemaInvalid(path, 'must be an array of strings');
}

function namedSubschemasIn(use: KeywordUse): [name: string, assertion: Assertion][] {
  return Object.entries(objectIn(use)).map(([name, schema]) => [
    name,
    use.subschema(schema, [...use.path, name]),
  ]);
}

function subschemasIn(use: KeywordUse): Assertion[] {
  const all = arrayIn(use);
  if (all.length === 0) throw new SchemaInvalid(use.path, 'must not be empty');
  return all.map((schema, index) => use.subschema(schema, [...use.path, index]));
}

function patternIn(pattern: string, path: SchemaPath): (text: string) => boolean {
  try {
    return compilePattern(pattern);
  } catch (error) {
    throw new SchemaInvalid(
      path,
      `must be a regular expression of ECMAScript without lookaround or backreferences, which RE2 lacks (${(error as Error).message})`,
    );
  }
}
