// Property schemas that are expensive to compile or to check with: refused schemas, schemas that the examples
// of the service do not reach, and a stream of new schemas.

import { type HostileSchema, hidden, hostileSchemas } from '../../hostile-schemas/case.ts';
import { cycle } from '../flow.ts';
import type { HostileCase } from '../hostile-case.ts';
import { namesOf, type Tenant } from '../tenant.ts';

const WRITERS = 4;
const PATH = '/v1/property-schema';
const EXPENSIVE = [
  'many patterns of names',
  'unevaluated members of many branches',
  'a pattern for every item',
  'classes of characters',
  'unique items of items',
  'many alternatives',
];

const expensive = EXPENSIVE.map((name) => hidden(hostileSchemas.find((each) => each.name === name)!));

/** Returns changes, each to a group of its own. */
function change(attacker: Tenant, { properties }: HostileSchema): Uint8Array[] {
  return namesOf('hostile', WRITERS).map((id) =>
    attacker.request('PUT', `/v1/user-groups/${id}`, `{"name":"Hostile","properties":${properties}}`),
  );
}

/**
 * Returns a request that stores the schema with a comment, so that the service has not compiled it before.
 */
function store(attacker: Tenant, { schema }: HostileSchema, index: number): Uint8Array {
  const unknown = `{"$comment":"${index}",${schema.slice(1)}`;
  return attacker.request('PUT', PATH, `{"schema":${unknown},"mode":"enforce"}`);
}

/** Stores new schemas while groups are written. */
function replacing(attacker: Tenant, schemas: readonly HostileSchema[]) {
  return [
    {
      connections: 2,
      request: (index: number) => store(attacker, schemas[index % schemas.length]!, index),
    },
    { connections: WRITERS, request: cycle(schemas.flatMap((schema) => change(attacker, schema))) },
  ];
}

export const schemaCases: readonly HostileCase[] = [
  { name: 'schemas-replaced', prepare: (attacker) => replacing(attacker, hostileSchemas) },
  { name: 'schemas-replaced-hidden', prepare: (attacker) => replacing(attacker, expensive) },
  ...expensive.map((schema) => ({
    name: `schemas-${schema.name.replace(/,? /g, '-')}`,
    prepare: async (attacker: Tenant) => {
      await attacker.call('PUT', PATH, `{"schema":${schema.schema},"mode":"enforce"}`);
      return [{ connections: WRITERS, request: cycle(change(attacker, schema)) }];
    },
  })),
];
