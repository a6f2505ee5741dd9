// Property schemas that are expensive to compile and to check with, each stored as a new one again and again.

import { hostileSchemas } from '../../hostile-schema-case.ts';
import { cycle } from '../flow.ts';
import type { HostileCase } from '../hostile-case.ts';
import { namesOf, type Tenant } from '../tenant.ts';

const WRITERS = 4;
const PATH = '/v1/property-schema';

function change(attacker: Tenant, id: string, properties: string): Uint8Array {
  return attacker.request('PUT', `/v1/user-groups/${id}`, `{"name":"Hostile","properties":${properties}}`);
}

/** The schema as one that the service has not compiled. */
function store(attacker: Tenant, schema: string, index: number): Uint8Array {
  const unknown = `{"$comment":"${index}",${schema.slice(1)}`;
  return attacker.request('PUT', PATH, `{"schema":${unknown},"mode":"enforce"}`);
}

export const schemaCases: readonly HostileCase[] = [
  {
    name: 'schemas-replaced',
    prepare: (attacker) => [
      {
        connections: 2,
        request: (index) => store(attacker, hostileSchemas[index % hostileSchemas.length]!.schema, index),
      },
      {
        connections: WRITERS,
        request: cycle(
          namesOf('hostile', WRITERS).flatMap((id) =>
            hostileSchemas.map(({ properties }) => change(attacker, id, properties)),
          ),
        ),
      },
    ],
  },
  ...['many failing schemas', 'a pattern for every item', 'unique items of items'].map((name) => ({
    name: `schemas-${name.replaceAll(' ', '-')}`,
    prepare: async (attacker: Tenant) => {
      const { schema, properties } = hostileSchemas.find((each) => each.name === name)!;
      await attacker.call('PUT', PATH, `{"schema":${schema},"mode":"report"}`);
      const ids = namesOf('hostile', WRITERS);
      return [{ connections: WRITERS, request: cycle(ids.map((id) => change(attacker, id, properties))) }];
    },
  })),
];
