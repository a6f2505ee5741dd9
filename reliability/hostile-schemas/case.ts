// Schemas of properties that are expensive to parse, to compile or to check with, and properties to check.
// Both reach their limits of size and depth.

import { limits } from '../../src/domain/field.ts';
import { SCHEMA_BYTES } from '../../src/domain/property-schema/property-schema-body.ts';
import { fill } from '../support/filler.ts';

export interface HostileSchema {
  name: string;
  /** JSON text. */
  schema: string;
  /** JSON text. */
  properties: string;
}

/** Maximum number of levels below `schema` in the body of a request. */
const LEVELS = 15;
const PROPERTIES_BYTES = limits.propertiesBytes - 100;
const BYTES = SCHEMA_BYTES - 500;

const manyNumbers = `{"a":[${fill(PROPERTIES_BYTES, () => '1')}]}`;
const manyObjects = `{"a":[${fill(PROPERTIES_BYTES, (index) => `{"n":${index}}`)}]}`;
const manyMembers = `{"a":{${fill(PROPERTIES_BYTES, (index) => `"k${index}":1`)}}}`;
const longText = `{"a":"${'a'.repeat(PROPERTIES_BYTES)}!"}`;

export const hostileSchemas: readonly HostileSchema[] = [
  { name: 'deep', schema: deep('{"properties":{"a":', '}}', LEVELS / 2), properties: deep('{"a":', '}', 15) },
  { name: 'deep and wide', schema: wideAtTheBottom(), properties: manyMembers },
  { name: 'too deep', schema: deep('{"not":', '}', 5_000), properties: '{}' },
  {
    name: 'huge enum',
    schema: ofA(`{"enum":[${fill(BYTES, (index) => `${index}`)}]}`),
    properties: manyNumbers,
  },
  {
    name: 'enum reported often',
    schema: ofItems(`{"enum":["${'x'.repeat(BYTES)}"]}`),
    properties: manyNumbers,
  },
  {
    name: 'huge const',
    schema: ofItems(`{"not":{"const":{${fill(BYTES, (index) => `"k${index}":${index}`)}}}}`),
    properties: manyObjects,
  },
  {
    name: 'many properties',
    schema: `{"properties":{${fill(BYTES, (index) => `"k${index}":{}`)}}}`,
    properties: manyMembers,
  },
  {
    name: 'many patterns of names',
    schema: ofA(`{"patternProperties":{${fill(BYTES, (index) => `"^k*${index}$":{}`)}}}`),
    properties: manyMembers,
  },
  {
    name: 'many failing schemas',
    schema: ofItems(`{"allOf":[${fill(BYTES, () => '{"type":"string"}')}]}`),
    properties: manyNumbers,
  },
  {
    name: 'many alternatives',
    schema: ofItems(`{"anyOf":[${fill(BYTES, (index) => `{"const":"${index}"}`)}]}`),
    properties: manyNumbers,
  },
  { name: 'unique items', schema: ofA('{"uniqueItems":true}'), properties: manyObjects },
  { name: 'unique items of items', schema: ofA(nestedUnique()), properties: manyObjects },
  {
    name: 'exponential references',
    schema: `{"$defs":{${doubling(900)}},"properties":{"a":{"$ref":"#/$defs/899"}}}`,
    properties: '{"a":1}',
  },
  {
    name: 'exponential references, at once',
    schema: `{"$defs":{${doubling(900)}},"$ref":"#/$defs/899"}`,
    properties: '{}',
  },
  { name: 'endless reference', schema: '{"$ref":"#"}', properties: '{}' },
  {
    name: 'endless reference in properties',
    schema: ofA('{"$ref":"#/properties/a"}'),
    properties: '{"a":1}',
  },
  {
    name: 'circle of references',
    schema: `{"$defs":{${fill(BYTES, (index) => `"${index}":{"$ref":"#/$defs/${(index + 1) % 100}"}`)}},"$ref":"#/$defs/0"}`,
    properties: '{}',
  },
  {
    name: 'recursion into every level',
    schema:
      '{"anyOf":[{"additionalProperties":{"$ref":"#"}},{"additionalProperties":{"$ref":"#"}}],"not":{"$ref":"#/anyOf/0"}}',
    properties: deep('{"a":', '}', 15),
  },
  {
    name: 'unevaluated members of many branches',
    schema: ofA(
      `{"anyOf":[${fill(BYTES, (index) => `{"properties":{"k${index}":true}}`)}],"unevaluatedProperties":false}`,
    ),
    properties: manyMembers,
  },
  { name: 'catastrophic pattern', schema: ofA('{"pattern":"^(a+)+$"}'), properties: longText },
  { name: 'nested repetition', schema: ofA('{"pattern":"^((a{0,30}){0,30})$"}'), properties: longText },
  {
    name: 'counted repetition',
    schema: ofA('{"pattern":"(((a{100}){100}){100}){100}"}'),
    properties: longText,
  },
  { name: 'ambiguous pattern', schema: ofA(`{"pattern":"${'(.*)'.repeat(2_000)}b$"}`), properties: longText },
  {
    name: 'long alternation',
    schema: ofA(`{"pattern":"${fill(BYTES, (index) => `a${index}`).replaceAll(',', '|')}"}`),
    properties: longText,
  },
  {
    name: 'deeply nested groups',
    schema: ofA(`{"pattern":"${'('.repeat(20_000)}a${')'.repeat(20_000)}"}`),
    properties: longText,
  },
  {
    name: 'a pattern for every item',
    schema: ofItems(`{"pattern":"^(a|b|ab)*${'[ab]?'.repeat(1_000)}$"}`),
    properties: `{"a":[${fill(PROPERTIES_BYTES, () => '"abababab"')}]}`,
  },
  {
    name: 'many patterns',
    schema: ofA(`{"allOf":[${fill(BYTES, (index) => `{"pattern":"(x+x+)+y${index}"}`)}]}`),
    properties: longText,
  },
  {
    name: 'classes of characters',
    schema: ofA(`{"pattern":"${'[\\\\p{L}\\\\S]'.repeat(3_000)}"}`),
    properties: longText,
  },
];

/**
 * Moves the check below a member whose name only a pattern describes, so that examples derived from the
 * schema do not reach it.
 */
export function hidden({ name, schema, properties }: HostileSchema): HostileSchema {
  return {
    name: `${name}, hidden`,
    // Sets an `$id`, because references of the schema are relative to it.
    schema: `{"patternProperties":{"^[q-z]{3}[0-4]$":{"$id":"hidden",${schema.slice(1)}}}`,
    properties: `{"xyz3":${properties}}`,
  };
}

function ofA(schema: string): string {
  return `{"properties":{"a":${schema}}}`;
}

function ofItems(schema: string): string {
  return ofA(`{"items":${schema}}`);
}

function deep(open: string, close: string, levels: number): string {
  const count = Math.floor(levels);
  return `${open.repeat(count)}{}${close.repeat(count)}`;
}

function wideAtTheBottom(): string {
  const levels = Math.floor(LEVELS / 2) - 1;
  const members = fill(BYTES, (index) => `"k${index}":{"type":"string"}`);
  return `${'{"properties":{"a":'.repeat(levels)}{"properties":{${members}}}${'}}'.repeat(levels)}`;
}

function nestedUnique(): string {
  return `{"uniqueItems":true,"allOf":[${fill(BYTES, () => '{"uniqueItems":true}')}]}`;
}

/** Returns definitions, each of which refers twice to the one before. */
function doubling(count: number): string {
  const definitions = Array.from({ length: count }, (_, index) => {
    const reference = `{"$ref":"#/$defs/${index - 1}"}`;
    return `"${index}":${index === 0 ? 'true' : `{"allOf":[${reference},${reference}]}`}`;
  });
  return definitions.join(',');
}
