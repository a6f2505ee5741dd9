// The schema of properties: JSON Schema 2020-12, compiled by ajv. Patterns run on RE2, in linear time; references stay
// inside the schema; `format` is an annotation, as the specification defaults to.

import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import type { FieldError } from '../problem.ts';
import { pathOf, pointerOf } from './strict-json.ts';

export const SCHEMA_BYTES = 64 * 1024;
const SCHEMA_LEVELS = 32;
const MAX_ERRORS = 20;

/** Why a schema cannot be used. */
export class SchemaInvalid extends Error {
  override readonly name = 'SchemaInvalid';
  /** Where in the schema. */
  readonly pointer: string;

  constructor(pointer: string, message: string) {
    super(message);
    this.pointer = pointer;
  }
}

/** What the properties violate, each with its place in them. */
export type PropertyCheck = (properties: unknown) => FieldError[];

/** Takes time that only a deadline bounds: call it in a thread. Throws `SchemaInvalid`. */
export function compilePropertySchema(schema: unknown): PropertyCheck {
  refuseUnsupported(schema);
  // Of its own, because compiled schemas are kept by their id.
  const ajv = new Ajv2020({
    allErrors: true,
    strict: false,
    validateFormats: false,
    inlineRefs: false,
    ownProperties: true,
    logger: false,
    code: { regExp: Object.assign(toRegExp, { code: '' }) },
  });
  const check = compile(ajv, schema as object | boolean);
  return (properties) => (check(properties) ? [] : check.errors!.slice(0, MAX_ERRORS).map(faultOf));
}

function compile(ajv: Ajv2020, schema: object | boolean): ValidateFunction {
  try {
    return ajv.compile(schema);
  } catch (error) {
    if (error instanceof SchemaInvalid) throw error;
    const { errors } = ajv;
    const [first] = errors ?? [];
    const pointer = first === undefined ? '' : pointerOf(pathOf(first.instancePath));
    throw new SchemaInvalid(pointer, (error as Error).message);
  }
}

function toRegExp(pattern: string): { test: (text: string) => boolean } {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  // ajv tells patterns apart by their text.
  return { test: (text) => compiled.matcher(text).find(), toString: () => pattern } as {
    test: (text: string) => boolean;
  };
}

/** Walks the whole document: what looks like a keyword inside an example is refused too. */
function refuseUnsupported(schema: unknown, path: readonly (string | number)[] = []): void {
  if (typeof schema !== 'object' || schema === null) return;
  if (path.length > SCHEMA_LEVELS)
    throw new SchemaInvalid(pointerOf(path), `must have at most ${SCHEMA_LEVELS} levels`);
  for (const [key, value] of Object.entries(schema)) {
    const here = [...path, Array.isArray(schema) ? Number(key) : key];
    if (key === '$ref' && typeof value === 'string' && !value.startsWith('#'))
      throw new SchemaInvalid(pointerOf(here), 'must refer to a place in this schema: "#" or "#/$defs/…"');
    if (key === 'pattern' && typeof value === 'string') refusePattern(value, here);
    if (key === 'patternProperties' && typeof value === 'object' && value !== null)
      for (const pattern of Object.keys(value)) refusePattern(pattern, [...here, pattern]);
    refuseUnsupported(value, here);
  }
}

function refusePattern(pattern: string, path: readonly (string | number)[]): void {
  try {
    RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (error) {
    throw new SchemaInvalid(
      pointerOf(path),
      `must be a regular expression in RE2 syntax, without lookaround or backreferences (${(error as Error).message})`,
    );
  }
}

function faultOf({ instancePath, keyword, params, message }: ErrorObject): FieldError {
  const path = pathOf(instancePath);
  if (keyword === 'required')
    return { pointer: pointerOf([...path, params.missingProperty as string]), detail: 'is required' };
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const extra = (params.additionalProperty ?? params.unevaluatedProperty) as string;
    return { pointer: pointerOf([...path, extra]), detail: 'is not a property of the schema' };
  }
  if (keyword === 'enum')
    return { pointer: pointerOf(path), detail: `must be one of ${JSON.stringify(params.allowedValues)}` };
  return { pointer: pointerOf(path), detail: message ?? 'is not valid' };
}
