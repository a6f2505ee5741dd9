// Bodies at every limit: valid and invalid, sent quickly, slowly, and over many connections.

import { mintApiToken } from '../../../src/domain/token.ts';
import { bodies, endpoints, requestOf } from '../../large-bodies/case.ts';
import { cycle } from '../flow.ts';
import type { HostileCase } from '../hostile-case.ts';
import type { Tenant } from '../tenant.ts';

const GROUPS = 20;
const UPDATE = endpoints.find(({ name }) => name === 'updateUserGroup')!;
const PATCH = endpoints.find(({ name }) => name === 'patchUserGroup')!;
const VALID = ['levels', 'numbers', 'text'];
const INVALID = ['unknown fields', 'unfinished', 'too many entries'];
/** Speed above that at which the service disconnects a client. */
const SLOW_BYTES_PER_SECOND = 80 * 1024;
const PARAMETERS = 100_000;
const DUPLICATES = 8_000;
/** Maximum that the service accepts. */
const CHUNKS = 32_768;

export const bodyCases: readonly HostileCase[] = [
  {
    name: 'bodies-valid',
    prepare: async (attacker) => [{ connections: 64, request: await requests(attacker, VALID) }],
  },
  {
    name: 'bodies-invalid',
    prepare: async (attacker) => [{ connections: 64, request: await requests(attacker, INVALID) }],
  },
  {
    name: 'bodies-many-connections',
    prepare: async (attacker) => [
      { connections: 500, request: await requests(attacker, [...VALID, ...INVALID]) },
    ],
  },
  {
    name: 'bodies-slow',
    prepare: async (attacker) => [
      {
        connections: 200,
        request: await requests(attacker, INVALID),
        bytesPerSecond: SLOW_BYTES_PER_SECOND,
      },
    ],
  },
  {
    name: 'bodies-invalid-token',
    prepare: async (attacker) => {
      const unknown = mintApiToken().reveal();
      return [{ connections: 64, request: await requests(attacker, INVALID, unknown) }];
    },
  },
  {
    name: 'bodies-many-parameters',
    prepare: (attacker) => {
      const headers = ['Content-Type: application/x-www-form-urlencoded'];
      const request = attacker.request('POST', '/oauth/introspect', 'a&'.repeat(PARAMETERS), headers);
      return [{ connections: 64, request: () => request }];
    },
  },
  {
    name: 'bodies-tiny-chunks',
    prepare: (attacker) => {
      const head = attacker.request('POST', '/v1/user-groups', undefined, ['Transfer-Encoding: chunked']);
      const request = Buffer.concat([head, Buffer.from(`${'1\r\n \r\n'.repeat(CHUNKS)}0\r\n\r\n`)]);
      return [{ connections: 64, request: () => request }];
    },
  },
  {
    name: 'bodies-duplicates',
    prepare: (attacker) => {
      const resources = Array.from({ length: DUPLICATES }, () => ({ n: 1 }));
      const body = JSON.stringify({ type: 'metabase', settings: { resources } });
      const request = attacker.request('PUT', '/v1/integrations/metabase', body);
      return [{ connections: 64, request: () => request }];
    },
  },
];

async function requests(attacker: Tenant, names: readonly string[], apiToken = attacker.apiToken) {
  const groups = await attacker.storeGroups(GROUPS);
  const wanted = bodies.filter(({ name }) => names.includes(name));
  return cycle(
    groups.flatMap((group) =>
      wanted.flatMap((body) => [UPDATE, PATCH].map((endpoint) => requestOf(endpoint, body, group, apiToken))),
    ),
  );
}
