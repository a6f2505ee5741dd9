// The bodies of the operations: their schemas, and bytes in, checked values out.

import { Ajv, type ErrorObject } from 'ajv';
import { type FieldError, Problem } from '../problem.ts';
import * as field from './field.ts';
import { nearest } from './nearest.ts';
import { Secret } from './secret.ts';
import { type JsonDocument, type JsonText, parseStrictJson, pathOf, pointerOf } from './strict-json.ts';

/** A field that is absent stays as it is; null clears it. */
export interface UserGroupFields {
  name?: string;
  mapping?: JsonText | null;
  properties?: JsonText | null;
}

export interface UserGroupBody extends UserGroupFields {
  userGroupId: string;
}

/** A line of an import. */
export interface ImportedUserGroupBody extends UserGroupBody {
  name: string;
  /** null where a new one is to be made. */
  token: Secret | null;
}

export interface RotateBody {
  currentToken: string;
  gracePeriodSeconds?: number;
}

export interface ResolveBody {
  token: string;
}

/** The schema of a body, and how its checked document becomes the value that an operation takes. */
export interface BodyType<Body> {
  /** null where there must be no body. */
  readonly schema: BodySchema | null;
  readonly read: (bytes: Buffer) => Body;
}

interface BodySchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** The body itself is a level above `properties`. */
const MAX_LEVELS = field.limits.propertiesLevels + 1;
const MAX_ERRORS = 20;

const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true, verbose: true });
ajv.addVocabulary(['x-pattern-detail', 'x-max-bytes', 'x-max-levels']);

export const userGroupBody = bodyType<UserGroupBody>({
  fields: {
    name: field.name,
    user_group_id: field.userGroupId,
    mapping: field.mapping,
    properties: field.properties,
  },
  required: ['user_group_id'],
  convert: ({ value, members }) => {
    const { name, user_group_id: userGroupId } = value as { name?: string; user_group_id: string };
    return { userGroupId, ...fieldsOf(name, members) };
  },
});

export const importedUserGroupBody = bodyType<ImportedUserGroupBody>({
  fields: {
    user_group_id: field.userGroupId,
    name: field.name,
    mapping: field.mapping,
    properties: field.properties,
    token: field.importedToken,
  },
  required: ['user_group_id', 'name'],
  convert: ({ value, members }) => {
    const {
      name,
      user_group_id: userGroupId,
      token,
    } = value as Record<'name' | 'user_group_id', string> & {
      token?: string;
    };
    return {
      userGroupId,
      ...fieldsOf(name, members),
      name,
      token: token === undefined ? null : new Secret(token),
    };
  },
});

/** The merge patch of a group: null removes. */
export const userGroupPatch = bodyType<UserGroupFields>({
  fields: { name: field.name, mapping: field.mappingPatch, properties: field.properties },
  required: [],
  convert: ({ value, members }) => fieldsOf((value as { name?: string }).name, members),
});

export const noBody: BodyType<null> = {
  schema: null,
  read: (bytes) => {
    if (bytes.length === 0) return null;
    throw new Problem('invalid_request', 'This operation takes no body: send the request without one.');
  },
};

export const rotateBody = bodyType<RotateBody>({
  fields: { current_token: field.token, grace_period_seconds: field.gracePeriodSeconds },
  required: ['current_token'],
  hint: (value) =>
    'user_group_id' in value && !('current_token' in value)
      ? 'This call rotates a token and needs current_token, but the body is one of get-or-create: a client or a ' +
        "proxy has turned GET into POST, as Java's HttpURLConnection does. Send it to POST /v1/user-groups instead."
      : undefined,
  convert: ({ value }) => {
    const body = value as { current_token: string; grace_period_seconds?: number };
    return {
      currentToken: body.current_token,
      ...(body.grace_period_seconds !== undefined && { gracePeriodSeconds: body.grace_period_seconds }),
    };
  },
});

export const resolveBody = bodyType<ResolveBody>({
  fields: { token: field.token },
  required: ['token'],
  convert: ({ value }) => value as ResolveBody,
});

function fieldsOf(name: string | undefined, members: JsonDocument['members']): UserGroupFields {
  const fields: UserGroupFields = {};
  if (name !== undefined) fields.name = name;
  for (const key of ['mapping', 'properties'] as const) {
    const text = members.get(key);
    if (text !== undefined) fields[key] = text === 'null' ? null : text;
  }
  checkBytes(fields);
  return fields;
}

/** What the schema of `properties` cannot say. Throws `invalid_request`. */
export function checkBytes({ properties }: UserGroupFields): void {
  const size = Buffer.byteLength(properties ?? '');
  if (size <= field.limits.propertiesBytes) return;
  const most = `${field.limits.propertiesBytes} bytes of JSON`;
  throw invalidField('/properties', `must be at most ${most} and has ${size}`);
}

export function invalidField(pointer: string, detail: string): Problem {
  return invalid('invalid_request', [{ pointer, detail }]);
}

/** A check of one value that is no body, such as a parameter: says what is wrong with it, or gives null. */
export function valueCheck(schema: object): (value: unknown) => string | null {
  const check = ajv.compile(schema);
  return (value) => (check(value) ? null : faultOf(check.errors![0]!, []).detail);
}

function bodyType<Body>(definition: {
  fields: Record<string, object>;
  required: readonly string[];
  /** A better word than the schema's, for a mistake that is known to happen. */
  hint?: (value: object) => string | undefined;
  convert: (document: JsonDocument) => Body;
}): BodyType<Body> {
  const schema: BodySchema = {
    type: 'object',
    properties: definition.fields,
    required: definition.required,
    additionalProperties: false,
  };
  const check = ajv.compile(schema);
  const read = (bytes: Buffer): Body => {
    const document = parseStrictJson(bytes, MAX_LEVELS);
    if (!check(document.value)) throw refusal(check.errors ?? [], document.value, definition);
    return definition.convert(document);
  };
  return { schema, read };
}

function refusal(
  errors: readonly ErrorObject[],
  value: unknown,
  definition: { fields: Record<string, object>; hint?: (value: object) => string | undefined },
): Problem {
  const known = Object.keys(definition.fields);
  const isUnknown = errors.some((error) => error.keyword === 'additionalProperties');
  const hint = typeof value === 'object' && value !== null ? definition.hint?.(value) : undefined;
  // The error of a key stands beside the error of what is wrong with it.
  const faults = errors.filter((error) => error.keyword !== 'propertyNames');
  const shown = faults.slice(0, MAX_ERRORS).map((error) => faultOf(error, known));
  const code = isUnknown && hint === undefined ? 'unknown_field' : 'invalid_request';
  return invalid(code, shown, { more: faults.length - shown.length, hint });
}

function invalid(
  code: 'invalid_request' | 'unknown_field',
  errors: readonly FieldError[],
  { more = 0, hint }: { more?: number; hint?: string | undefined } = {},
): Problem {
  const details = errors.map(
    ({ pointer, detail }) => `${pointer === '' ? 'The body' : pointer.slice(1) || '""'} ${detail}`,
  );
  if (more > 0) details.push(`and ${more} more`);
  return new Problem(code, hint ?? `${details.join('; ')}.`, { errors });
}

function faultOf(error: ErrorObject, known: readonly string[]): FieldError {
  const path = pathOf(error.instancePath);
  const pointer = pointerOf(path);
  const { params, schema, data, propertyName } = error;
  const parent = error.parentSchema as { type?: string | string[]; 'x-pattern-detail'?: string };
  if (propertyName !== undefined) {
    return {
      pointer: pointerOf([...path, propertyName]),
      detail: `must be a key of 1 to ${field.limits.textCodePoints} characters`,
    };
  }
  switch (error.keyword) {
    case 'required':
      return { pointer: pointerOf([...path, params.missingProperty]), detail: 'is required' };
    case 'additionalProperties': {
      const unknown: string = params.additionalProperty;
      return {
        pointer: pointerOf([...path, unknown]),
        detail: `is not a known field${nearest(unknown, known)}`,
      };
    }
    case 'type': {
      const wanted = [parent.type].flat().map(nameOfType).join(' or ');
      const quoted =
        typeof data === 'number' && wanted.startsWith('a string') ? ': send it in double quotes' : '';
      return { pointer, detail: `must be ${wanted}${quoted}` };
    }
    case 'pattern':
      return { pointer, detail: parent['x-pattern-detail'] ?? 'is not of the expected form' };
    case 'minLength':
      return { pointer, detail: 'must not be empty' };
    case 'maxLength':
      return { pointer, detail: `must have at most ${schema} characters` };
    case 'maxProperties':
      return { pointer, detail: `must have at most ${schema} entries` };
    case 'minimum':
      return { pointer, detail: `must be at least ${schema}` };
    case 'maximum':
      return { pointer, detail: `must be at most ${schema}` };
    default:
      return { pointer, detail: error.message ?? 'is not valid' };
  }
}

function nameOfType(type: string | undefined): string {
  if (type === 'null') return 'null';
  return type === 'object' || type === 'integer' ? `an ${type}` : `a ${type}`;
}
