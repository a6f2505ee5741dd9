// Request bodies: bytes in, validated values out. Bodies of a single endpoint are defined with the endpoint, the others
// with their noun.

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { listViolations, MAX_ERRORS, Problem, type Violation } from '../problem.ts';
import * as field from './field.ts';
import { parseInstant } from './instant.ts';
import {
  type JsonDocument,
  type JsonText,
  jsonPointer,
  parsePointer,
  parseStrictJson,
  parseStrictJsonInParts,
} from './json/strict-json.ts';
import { canonicalText } from './json-schema/value.ts';
import { defaultsOf, type Schema, type SchemaMembers } from './schema-value.ts';
import { suggestField } from './suggest.ts';

/** The schema of a body, and its conversion to the value that an operation accepts. */
export interface BodyType<Body> {
  /** null if an empty object is the only permitted body. */
  readonly schema: BodySchema | null;
  /** Whether an empty body is rejected. */
  readonly isRequired: boolean;
  /** Whether the body is not even read, whatever its size and type. */
  readonly isIgnored?: true;
  /** `maxMembers` is for files. Throws `invalid_json`, `unknown_field` and `invalid_request`. */
  readonly read: (bytes: Buffer, maxMembers?: number) => Body;
  /** Does the same in parts of about `part` characters, for a large body; absent if bodies are read whole. */
  readonly readInParts?: (bytes: Buffer, part: number) => Generator<void, Body>;
}

type BodySchema = Schema & Required<Pick<Schema, 'title' | 'properties' | 'required'>>;

/** The body itself is one level more than `properties`. */
export const MAX_LEVELS = field.limits.propertiesLevels + 1;
const EMPTY_OBJECT = /^[ \t\r\n]*\{[ \t\r\n]*\}[ \t\r\n]*$/;

// The check of docs/openapi.json covers the schemas: compiling their meta-schema here would double the time.
const ajv = new Ajv({
  allErrors: true,
  strict: true,
  allowUnionTypes: true,
  verbose: true,
  meta: false,
  validateSchema: false,
});
ajv.addFormat('date-time', (text) => parseInstant(text) !== null);
ajv.addVocabulary(['x-pattern-detail', 'x-type-detail', 'x-max-bytes', 'x-max-levels']);
// Ajv compares each element with all others, which takes seconds for a list that is too long.
ajv.removeKeyword('uniqueItems').addKeyword({
  keyword: 'uniqueItems',
  type: 'array',
  validate: (_isUnique: true, items: readonly unknown[]) =>
    new Set(items.map(canonicalText)).size === items.length,
});

export const noBody: BodyType<null> = {
  schema: null,
  isRequired: false,
  read: (bytes) => {
    // Generated clients send an empty object.
    if (bytes.length === 0 || EMPTY_OBJECT.test(bytes.toString('latin1'))) return null;
    throw new Problem(
      'invalid_request',
      'This endpoint has no fields: send no body, or an empty JSON object.',
    );
  },
};

/** Body that is not addressed to this service. */
export const ignoredBody: BodyType<null> = {
  schema: null,
  isRequired: false,
  isIgnored: true,
  read: () => null,
};

/** Compiles the schema on its first use: compiling all schemas would take a sixth of the start-up time. */
function compileOnce(schema: Schema): () => ValidateFunction {
  let check: ValidateFunction | undefined;
  return () => {
    check ??= ajv.compile(schema);
    return check;
  };
}

export function invalidField(pointer: string, detail: string): Problem {
  return invalid('invalid_request', [{ pointer, detail }]);
}

/** Throws `invalid_request` for a field whose JSON has more bytes than its schema allows. */
export function checkBytes(
  name: string,
  text: JsonText | null | undefined,
  { 'x-max-bytes': maxBytes = Infinity }: Schema,
): void {
  const size = Buffer.byteLength(text ?? '');
  if (size > maxBytes)
    throw invalidField(`/${name}`, `must be at most ${maxBytes} bytes of JSON and has ${size}`);
}

/** A check of a single value, such as a parameter: returns the detail of its violation, or null. */
export function valueCheck(schema: Schema): (value: unknown) => string | null {
  const compiled = compileOnce(schema);
  return (value) => {
    const check = compiled();
    if (check(value)) return null;
    const violations = check.errors!.filter(isViolation);
    // A violated format, such as that of a date, explains more than a length.
    return toViolation(violations.find(({ keyword }) => keyword !== 'maxLength') ?? violations[0]!).detail;
  };
}

/** Returns the detail of the violation of a text that is not the id of a user group or document, or null. */
export const idViolation = valueCheck(field.userGroupId);

/** A check of a part of a body by another schema: returns the violations of the value at the path. */
export function partCheck(schema: Schema): (value: unknown, path: readonly string[]) => Violation[] {
  const compiled = compileOnce(schema);
  return (value, path) => {
    const check = compiled();
    if (check(value)) return [];
    const violations = check.errors!.filter(isViolation).slice(0, MAX_ERRORS).map(toViolation);
    return violations.map(({ pointer, detail }) => ({ pointer: jsonPointer(path) + pointer, detail }));
  };
}

interface BodyDefinition<Body, Fields = Record<string, Schema>, Required = string> {
  name: string;
  fields: Fields;
  required: readonly Required[];
  /** Maximum levels of objects and arrays; by default those of a user group. */
  maxLevels?: number;
  /** Source of the environment, for a caller that sends one in the body; the API token if absent. */
  environmentSource?: string;
  /** A better message than the schema's for a known mistake. */
  hint?: (value: object) => string | undefined;
  convert: (document: JsonDocument<SchemaMembers<Fields, Required>>) => Body;
  /** Whether an empty body stands for an empty object; otherwise a body is required. */
  isOptional?: true;
}

export function bodyType<
  Body,
  const Fields extends Record<string, Schema>,
  const Required extends keyof Fields & string = never,
>(definition: BodyDefinition<Body, Fields, Required>): BodyType<Body> {
  const schema: BodySchema = {
    title: definition.name,
    type: 'object',
    properties: definition.fields,
    required: definition.required,
    additionalProperties: false,
  };
  // Creating an error object for each of thousands of unknown fields would cost more than parsing.
  const { additionalProperties: _, ...known } = schema;
  const compiled = compileOnce(known);
  const addDefaults = defaultsOf(definition.fields);
  const sized = Object.entries(definition.fields).filter(([, each]) => each['x-max-bytes'] !== undefined);
  const { isOptional = false, maxLevels = MAX_LEVELS } = definition;
  const convert = (document: JsonDocument): Body => {
    const check = compiled();
    const isValid = check(document.value);
    const unknown = unknownFields(document.value, definition.fields);
    if (!isValid || unknown.length > 0)
      throw refusal(check.errors ?? [], unknown, document.value, definition);
    for (const [name, each] of sized) checkBytes(name, document.members.get(name), each);
    addDefaults(document.value as object);
    // The only cast: the value has passed the checks of the schema that its type comes from.
    return definition.convert(document as JsonDocument<SchemaMembers<Fields, Required>>);
  };
  return {
    schema,
    isRequired: !isOptional,
    read: (bytes, maxMembers) =>
      convert(parseStrictJson(bytes.length === 0 && isOptional ? NO_FIELDS : bytes, maxLevels, maxMembers)),
    readInParts: function* (bytes, part) {
      return convert(yield* parseStrictJsonInParts(bytes, maxLevels, part));
    },
  };
}

const NO_FIELDS = Buffer.from('{}');
const NONE: readonly string[] = [];

function unknownFields(value: unknown, known: Readonly<Record<string, Schema>>): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return NONE;
  const unknown: string[] = [];
  for (const key in value) if (!Object.hasOwn(known, key)) unknown.push(key);
  return unknown;
}

function refusal(
  errors: readonly ErrorObject[],
  unknown: readonly string[],
  value: unknown,
  {
    fields,
    environmentSource,
    hint: findHint,
  }: Pick<BodyDefinition<never>, 'fields' | 'environmentSource' | 'hint'>,
): Problem {
  const known = Object.keys(fields);
  const hint = typeof value === 'object' && value !== null ? findHint?.(value) : undefined;
  const violations = errors.filter(isViolation);
  const ofBody = violations.filter(({ instancePath }) => instancePath === '');
  const ofFields = violations.filter(({ instancePath }) => instancePath !== '');
  const shown = [
    ...ofBody.slice(0, MAX_ERRORS).map(toViolation),
    ...unknown.slice(0, MAX_ERRORS).map((key) => unknownField(key, known, environmentSource)),
    ...ofFields.slice(0, MAX_ERRORS).map(toViolation),
  ];
  const code = unknown.length > 0 && hint === undefined ? 'unknown_field' : 'invalid_request';
  return invalid(code, shown, { count: violations.length + unknown.length, hint });
}

function unknownField(key: string, known: readonly string[], environmentSource?: string): Violation {
  const detail = `is not a known field${suggestField(key, known, environmentSource)}`;
  return { pointer: jsonPointer([key]), detail };
}

/** Excludes errors that only accompany another: for an invalid key, and for the form of a text that must not be empty. */
function isViolation({ keyword, data, parentSchema }: ErrorObject): boolean {
  return (
    keyword !== 'propertyNames' && !(keyword === 'pattern' && data === '' && parentSchema?.minLength > 0)
  );
}

/** Throws `invalid_request` unless the list is empty. */
export function refuseFields(errors: readonly Violation[]): void {
  if (errors.length > 0) throw invalid('invalid_request', errors);
}

function invalid(
  code: 'invalid_request' | 'unknown_field',
  violations: readonly Violation[],
  { count, hint }: { count?: number; hint?: string | undefined } = {},
): Problem {
  const describe = ({ pointer, detail }: Violation) =>
    `${pointer === '' ? 'The body' : pointer.slice(1) || '""'} ${detail}`;
  const { errors, texts } = listViolations(violations, describe, count);
  return new Problem(code, hint ?? `${texts.join('; ')}.`, { errors });
}

function toViolation(error: ErrorObject): Violation {
  const { instancePath, keyword, params, propertyName, message = 'is not valid' } = error;
  const member = propertyName ?? params.missingProperty ?? params.additionalProperty;
  const pointer = jsonPointer([...parsePointer(instancePath), ...(member === undefined ? [] : [member])]);
  if (propertyName !== undefined)
    return { pointer, detail: `must be a key of 1 to ${field.limits.textCodePoints} characters` };
  return { pointer, detail: violationDetails[keyword]?.(error) ?? message };
}

/** Requirements on a value, by the keyword of the schema that it violates. */
const violationDetails: Readonly<Record<string, (error: ErrorObject) => string>> = {
  required: () => 'is required',
  type: ({ data, parentSchema }) => {
    const detail = parentSchema?.['x-type-detail'];
    if (detail !== undefined) return detail;
    const wanted = [parentSchema?.type].flat().map(nameOfType).join(' or ');
    const isUnquoted = typeof data === 'number' && wanted.startsWith('a string');
    return `must be ${wanted}${isUnquoted ? ': send it in double quotes' : ''}`;
  },
  pattern: patternDetail,
  not: patternDetail,
  enum: ({ schema }) => `must be ${choiceText(schema as string[])}`,
  format: () => 'must be an RFC 3339 timestamp, such as 2026-03-05T16:04:12Z',
  minLength: ({ schema }) => (schema === 1 ? 'must not be empty' : `must have at least ${schema} characters`),
  maxLength: ({ schema }) => `must have at most ${schema} characters`,
  maxProperties: ({ schema }) => `must have at most ${schema} ${schema === 1 ? 'entry' : 'entries'}`,
  minProperties: ({ schema }) => `must have at least ${schema} entry`,
  maxItems: ({ schema }) => `must have at most ${schema} entries`,
  minItems: ({ schema }) => `must have at least ${schema} entry`,
  uniqueItems: () => 'must not have duplicate entries',
  additionalProperties: () => 'is not a known member',
  minimum: ({ schema }) => `must be at least ${schema}`,
  maximum: ({ schema }) => `must be at most ${schema}`,
};

function patternDetail({ parentSchema }: ErrorObject): string {
  return parentSchema?.['x-pattern-detail'] ?? 'is not of the expected form';
}

function choiceText(values: readonly string[]): string {
  return values.length > 2 ? `one of ${values.join(', ')}` : values.join(' or ');
}

function nameOfType(type: string | undefined): string {
  if (type === 'null') return 'null';
  if (type === 'boolean') return 'true or false';
  return /^[aio]/.test(type ?? '') ? `an ${type}` : `a ${type}`;
}
