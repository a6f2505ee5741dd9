// What is sent: for each operation that is described, requests that the description allows, and the same with one
// thing wrong. A case is data, so that it can be made smaller, printed and repeated; it holds no token.

import { METHODS } from 'node:http';
import fc from 'fast-check';
import { TOKEN as EXAMPLE } from '../src/http/openapi/example.ts';
import type { Parameter } from '../src/http/openapi/object.ts';
import type { Schema } from '../src/http/openapi/schema.ts';
import { type ApiDescription, type DescribedOperation, nameOf } from '../test/api-description.ts';
import { type Fault, faultsOf } from './fuzz-fault.ts';
import { Dynamic, type Json } from './fuzz-json.ts';
import { type Given, type Violation, valuesOf, violationsOf } from './fuzz-schema.ts';

const places = ['path', 'query', 'header'] as const;
type Place = (typeof places)[number];

/** A request of an operation: its parameters by place, and its body where it has one. */
export type Plan = Readonly<Record<Place, Readonly<Record<string, Json>>>> & { readonly body?: Json };

/** The checks are called what Schemathesis and RESTler call them. */
type Trial =
  | { check: 'positive data acceptance' }
  /** What is broken is broken in the plan, unless it is a fault that is done to the request. */
  | { check: 'negative data rejection'; breaks?: string; fault?: Fault }
  | { check: 'ignored auth'; credential: Credential }
  | { check: 'unsupported method'; method: string }
  | { check: 'use after free' }
  | { check: 'namespace'; tenant: Tenant };

export type Check = Trial['check'];

export type Case = Trial & {
  operationId: string;
  plan: Plan;
  /** Of the user group that the case is about. */
  id: string;
  /** Whether there is one at the beginning. */
  exists: boolean;
  /** Chooses how the JSON is written; 0 is the shortest way. */
  spelling: number;
};

export const credentials = [
  ...(['none', 'empty', 'unknown', 'cut short', 'revoked'] as const),
  ...(['of a user group', 'as Bearer', 'without a scheme'] as const),
];
export type Credential = (typeof credentials)[number];

const tenants = ['another workspace', 'another environment'] as const;
export type Tenant = (typeof tenants)[number];

/** Fields that take what an answer has given; at times they are given what no answer has. */
const dynamic: Given = {
  user_group_id: fc.constant(new Dynamic('id')),
  current_token: orElse('token', ['unknown', '\u0000', EXAMPLE]),
  token: orElse('token', ['unknown', '\u0000', EXAMPLE]),
  cursor: orElse('cursor', ['unknown', '\u0000', 'AAAA']),
  'If-Match': orElse('etag', ['"0-1"', 'W/"0-1", "0-2"']),
};

function orElse(name: string, others: readonly string[]): fc.Arbitrary<Json> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant(new Dynamic(name)) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
}

/** Whether every field that takes what an answer has given has it; a cursor is of the list without a search. */
export function isReal({ path, query, header, body }: Plan): boolean {
  if ('cursor' in query && 'search' in query) return false;
  const fields = Object.entries({ ...path, ...query, ...header, ...(body as object) });
  return fields.every(([name, value]) => !(name in dynamic) || value instanceof Dynamic);
}

type Schemas = Readonly<Record<string, Schema | null>>;

/** Cases of every operation. Throws where the description has what no case can be made of. */
export function casesOf({ operations }: ApiDescription, schemas: Schemas): fc.Arbitrary<Case> {
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
  return fc.record({ operationId: fc.constant(operationId), id, exists: fc.boolean(), spelling: fc.nat() });
}

/** A trial, and what it needs of its circumstances. */
type Trials = fc.Arbitrary<object>;

function trialsOf(
  operation: DescribedOperation,
  operations: readonly DescribedOperation[],
  schemas: Schemas,
): Trials {
  const plan = plansOf(operation, schemas);
  const of = (check: Check, fields: Record<string, fc.Arbitrary<unknown>> = {}): Trials =>
    fc.record({ check: fc.constant(check), plan, ...fields });
  const there = { exists: fc.constant(true) };
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
    { weight: 1, arbitrary: of('use after free', there) },
    { weight: 2, arbitrary: of('namespace', { tenant: fc.constantFrom(...tenants), ...there }) },
  );
}

function needsToken({ security }: DescribedOperation): boolean {
  return security.length > 0;
}

function plansOf(operation: DescribedOperation, schemas: Schemas): fc.Arbitrary<Plan> {
  const body = bodySchemaOf(operation, schemas);
  const ofPlaces = places.map((place) => [place, valuesOf(parametersIn(place, operation), dynamic)]);
  return fc.record({
    ...Object.fromEntries(ofPlaces),
    ...(body !== null && { body: valuesOf(body, dynamic) }),
  }) as fc.Arbitrary<Plan>;
}

/** The parameters of a place as the fields of an object. */
function parametersIn(place: Place, { parameters = [] }: DescribedOperation): Schema {
  const here = parameters.filter((parameter) => parameter.in === place);
  return {
    type: 'object',
    properties: Object.fromEntries(here.map(({ name, schema }) => [name, schema])),
    required: here.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

function bodySchemaOf({ requestBody }: DescribedOperation, schemas: Schemas): Schema | null {
  const [content] = Object.values(requestBody?.content ?? {});
  return content === undefined ? null : schemas[nameOf(content.schema)]!;
}

/** Trials whose plans break the description in one place: the body first, then each parameter that can be broken. */
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
    .filter(({ in: place }) => place !== 'header')
    .map((parameter) =>
      broken(violationsOf(parameter.schema).filter(isWritable(parameter)), (good, value) => ({
        ...good,
        [parameter.in]: { ...good[parameter.in], [parameter.name]: value },
      })),
    );
  return [...ofBody, ...ofParameters];
}

/** In a URL everything is text, and a path without its parameter is another path. */
function isWritable({ in: place, schema }: Parameter): (violation: Violation) => boolean {
  return ({ breaks, value }) =>
    (schema.type !== 'string' || breaks !== 'type') && (place !== 'path' || value !== '');
}

/** Clients that follow the URL Standard resolve these two before they send them. */
const DOTS: readonly unknown[] = ['.', '..'];

function idsOf(operations: readonly DescribedOperation[]): fc.Arbitrary<Json> {
  const parameters = operations.flatMap((operation) => operation.parameters ?? []);
  const { schema } = parameters.find(({ name }) => name === 'user_group_id')!;
  return valuesOf(schema).filter((id) => !DOTS.includes(id));
}

/** The methods that the path does not take. CONNECT has no path. */
function otherMethods(operation: DescribedOperation, operations: readonly DescribedOperation[]): string[] {
  const taken = methodsAt(operation, operations);
  return METHODS.filter((method) => method !== 'CONNECT' && !taken.includes(method));
}

/** The methods that the path takes: those that are described, and HEAD where the GET takes no API token. */
export function methodsAt(
  operation: DescribedOperation,
  operations: readonly DescribedOperation[],
): string[] {
  const described = operations.filter(({ path }) => path === operation.path).map(({ method }) => method);
  return needsToken(operation) ? described : [...described, 'HEAD'];
}
