// Generates test cases: for each described operation, requests that the description allows, and requests with one
// error. A case is data, so that it can be shrunk, printed and repeated; it contains no token.

import { METHODS } from 'node:http';
import fc from 'fast-check';
import { withoutReferences } from '../../scripts/openapi/component-schemas.ts';
import { EXAMPLE_TOKEN as EXAMPLE } from '../../src/http/endpoints/user-group/representation.ts';
import type { Schema } from '../../src/http/schema.ts';
import {
  type ApiDescription,
  type DescribedOperation,
  nameOf,
  type Parameter,
} from '../../test/support/api-description/api-description.ts';
import { type Fault, faultsOf } from './fault.ts';
import { Dynamic, type Json } from './json.ts';
import { type Given, type Violation, valuesOf, violationsOf } from './schema.ts';

const locations = ['path', 'query', 'header'] as const;
type Location = (typeof locations)[number];

/** A request of an operation: its parameters by location, and its body if it has one. */
export type Plan = Readonly<Record<Location, Readonly<Record<string, Json>>>> & { readonly body?: Json };

/** The checks have the names that Schemathesis and RESTler use. */
type Trial =
  | { check: 'positive data acceptance' }
  /** The plan contains the violation, unless `fault` is applied to the request. */
  | { check: 'negative data rejection'; breaks?: string; fault?: Fault }
  | { check: 'ignored auth'; credential: Credential }
  | { check: 'unsupported method'; method: string }
  | { check: 'use after free' }
  | { check: 'namespace'; tenant: Tenant };

export type Check = Trial['check'];

export type Case = Trial & {
  operationId: string;
  plan: Plan;
  /** The id of the user group under test. */
  id: string;
  /** Whether the group exists initially. */
  exists: boolean;
  /** Seed for the JSON formatting; 0 is the shortest form. */
  formatting: number;
};

export const credentials = [
  ...(['none', 'empty', 'unknown', 'cut short', 'revoked'] as const),
  ...(['of a user group', 'as Basic', 'without a scheme'] as const),
];
export type Credential = (typeof credentials)[number];

const tenants = ['another workspace', 'another environment'] as const;
export type Tenant = (typeof tenants)[number];

/** Fields whose values come from earlier responses; sometimes they get other values instead. */
const dynamic: Given = {
  user_group_id: fc.constant(new Dynamic('id')),
  current_token: orElse('token', ['unknown', '\u0000', EXAMPLE]),
  token: orElse('token', ['unknown', '\u0000', EXAMPLE]),
  cursor: orElse('cursor', ['unknown', '\u0000', 'AAAA']),
  // Ids that no API token has: a genuine id could belong to the account's own token.
  api_token_id: fc.constantFrom(9_007_199_254_740_991, 9_007_199_254_740_990),
  'If-Match': orElse('etag', ['"0-1"', 'W/"0-1", "0-2"']),
};

/** Fields that every request may send: versions that no group has, and times. */
const harmless: Given = {
  'If-None-Match': fc.constantFrom('"0-1"', 'W/"0-1", "0-2"'),
  seen_before: fc.constantFrom('2026-03-05T16:04:12Z', '1999-12-31T23:59:59.999Z'),
};

function orElse(name: string, others: readonly string[]): fc.Arbitrary<Json> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant(new Dynamic(name)) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
}

/**
 * Whether all values that come from responses are genuine; the cursor belongs to the unfiltered list of
 * groups.
 */
export function isReal({ operationId, plan }: Pick<Case, 'operationId' | 'plan'>): boolean {
  const { path, query, header, body } = plan;
  const isFiltered = Object.keys(query).some((name) => name !== 'cursor' && name !== 'limit');
  if ('cursor' in query && (isFiltered || operationId !== 'listUserGroups')) return false;
  const fields = Object.entries({ ...path, ...query, ...header, ...(body as object) });
  return fields.every(([name, value]) => !(name in dynamic) || value instanceof Dynamic);
}

type Schemas = ApiDescription['schemas'];

/**
 * Tags and operations that are not generated. Their values follow rules that no schema expresses (addresses,
 * templates, names of credentials, dates), or they outlive the group, as events and usage do. Introspection
 * and forward authentication take no JSON.
 */
const NOT_GENERATED: readonly string[] = [
  ...['Webhooks', 'Embed tokens', 'Catalogue', 'Configuration', 'Events', 'Usage'],
  ...['readKeySet', 'readOpenIdConfiguration', 'introspectToken', 'forwardAuth'],
];

export function isGenerated({ operationId, tags }: DescribedOperation): boolean {
  return ![operationId, ...tags].some((name) => NOT_GENERATED.includes(name));
}

/**
 * Generates cases of every generated operation. Throws if the description contains anything for which no case
 * can be generated.
 */
export function casesOf({ operations: all, schemas }: ApiDescription): fc.Arbitrary<Case> {
  const operations = all.filter(isGenerated);
  const ids = idsOf(operations);
  return fc.oneof(
    ...operations.map((operation) => ({
      weight: needsToken(operation) ? 10 : 1,
      arbitrary: fc
        .tuple(circumstances(operation, ids), trialsOf(operation, operations, schemas))
        .map(([circumstance, trial]) => ({ ...circumstance, ...trial }) as Case),
    })),
  );
}

function circumstances({ operationId }: DescribedOperation, id: fc.Arbitrary<Json>) {
  return fc.record({ operationId: fc.constant(operationId), id, exists: fc.boolean(), formatting: fc.nat() });
}

/** A trial, and the circumstances it requires. */
type Trials = fc.Arbitrary<object>;

function trialsOf(
  operation: DescribedOperation,
  operations: readonly DescribedOperation[],
  schemas: Schemas,
): Trials {
  const plan = plansOf(operation, schemas);
  const of = (check: Check, fields: Record<string, fc.Arbitrary<unknown>> = {}): Trials =>
    fc.record({ check: fc.constant(check), plan, ...fields });
  const existing = { exists: fc.constant(true) };
  const method = fc.constantFrom(...otherMethods(operation, operations));
  const fault = fc.constantFrom(...faultsOf(operation));
  const everywhere = [
    { weight: 6, arbitrary: of('positive data acceptance') },
    { weight: 3, arbitrary: of('negative data rejection', { fault }) },
    { weight: 1, arbitrary: of('unsupported method', { method }) },
  ];
  if (!needsToken(operation)) return fc.oneof(...everywhere);
  return fc.oneof(
    ...everywhere,
    ...brokenPlansOf(operation, schemas, plan).map((broken) => ({ weight: 3, arbitrary: broken })),
    { weight: 1, arbitrary: of('ignored auth', { credential: fc.constantFrom(...credentials) }) },
    { weight: 1, arbitrary: of('use after free', existing) },
    {
      weight: isSearch(operation) ? 8 : 2,
      arbitrary: of('namespace', {
        tenant: fc.constantFrom(...tenants),
        ...existing,
        ...(isSearch(operation) && { plan: plan.chain(targeted) }),
      }),
    },
  );
}

function isSearch({ parameters = [] }: DescribedOperation): boolean {
  return parameters.some(({ name }) => name === 'search');
}

/** Searches for the id or name of the group under test, which random searches would not find. */
function targeted(plan: Plan): fc.Arbitrary<Plan> {
  const { cursor: _, ...query } = plan.query;
  return fc
    .constantFrom('name', 'id')
    .map((of) => ({ ...plan, query: { ...query, search: new Dynamic(of) } }));
}

function needsToken({ security }: DescribedOperation): boolean {
  return security.length > 0;
}

function plansOf(operation: DescribedOperation, schemas: Schemas): fc.Arbitrary<Plan> {
  const body = bodySchemaOf(operation, schemas);
  const ofPlaces = locations.map((location) => [
    location,
    valuesOf(parametersIn(location, operation), { ...dynamic, ...harmless }).filter(isComplete),
  ]);
  return fc.record({
    ...Object.fromEntries(ofPlaces),
    ...(body !== null && { body: valuesOf(body, dynamic) }),
  }) as fc.Arbitrary<Plan>;
}

/** Whether `search` is present if `match` requires it, which no schema expresses. */
function isComplete(parameters: Json): boolean {
  return !('match' in (parameters as object)) || 'search' in (parameters as object);
}

/** Returns the parameters of a location as the fields of an object. */
function parametersIn(location: Location, { parameters = [] }: DescribedOperation): Schema {
  const here = parameters.filter((parameter) => parameter.in === location);
  return {
    type: 'object',
    properties: Object.fromEntries(here.map(({ name, schema }) => [name, schema])),
    required: here.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

export function bodySchemaOf({ requestBody }: DescribedOperation, schemas: Schemas): Schema | null {
  const [content] = Object.values(requestBody?.content ?? {});
  return content === undefined ? null : withoutReferences(schemas[nameOf(content.schema)]!, schemas);
}

/**
 * Generates trials whose plans violate the description in one place: the body first, then each parameter that
 * can be invalid.
 */
function brokenPlansOf(operation: DescribedOperation, schemas: Schemas, plan: fc.Arbitrary<Plan>): Trials[] {
  const broken = (violations: fc.Arbitrary<Violation>, at: (plan: Plan, value: Json) => Plan): Trials =>
    fc.tuple(plan, violations).map(([good, { breaks, value }]) => ({
      check: 'negative data rejection' satisfies Check,
      breaks,
      plan: at(good, value),
    }));
  const body = bodySchemaOf(operation, schemas);
  const ofBody =
    body === null ? [] : [broken(violationsOf(body, dynamic), (good, value) => ({ ...good, body: value }))];
  const ofParameters = (operation.parameters ?? [])
    .filter(({ in: location }) => location !== 'header')
    .map((parameter) =>
      broken(violationsOf(parameter.schema).filter(isWritable(parameter)), (good, value) => ({
        ...good,
        [parameter.in]: { ...good[parameter.in], [parameter.name]: value },
      })),
    );
  return [...ofBody, ...ofParameters];
}

/**
 * Whether a violation can be written: in a URL every value is text, and a path without its parameter is a
 * different path.
 */
function isWritable({ in: location, schema }: Parameter): (violation: Violation) => boolean {
  return ({ breaks, value }) =>
    (schema.type !== 'string' || breaks !== 'type') && (location !== 'path' || value !== '');
}

/** Path segments that clients which follow the URL Standard resolve before they send the request. */
const DOTS: readonly unknown[] = ['.', '..'];

function idsOf(operations: readonly DescribedOperation[]): fc.Arbitrary<Json> {
  const parameters = operations.flatMap((operation) => operation.parameters ?? []);
  const { schema } = parameters.find(({ name }) => name === 'user_group_id')!;
  return valuesOf(schema).filter((id) => !DOTS.includes(id));
}

/** Returns the methods that the path does not support. CONNECT has no path. */
function otherMethods(operation: DescribedOperation, operations: readonly DescribedOperation[]): string[] {
  const supported = methodsAt(operation, operations);
  return METHODS.filter((method) => method !== 'CONNECT' && !supported.includes(method));
}

/** Returns the methods that the path supports: those described, and HEAD if GET requires no API token. */
export function methodsAt(
  operation: DescribedOperation,
  operations: readonly DescribedOperation[],
): string[] {
  const described = operations.filter(({ path }) => path === operation.path).map(({ method }) => method);
  return needsToken(operation) ? described : [...described, 'HEAD'];
}
