// Large catalogues: resolved as fast as possible, and changed so that the configuration has to be read again.

import { MAX_CONFIG_CHANGES } from '../../../src/operations/config/plan.ts';
import type { Flow } from '../flow.ts';
import { cycle } from '../flow.ts';
import type { HostileCase } from '../hostile-case.ts';
import type { Tenant } from '../tenant.ts';
import { namesOf } from '../tenant.ts';

const SCHEMAS = 1_000;
const DATA_SOURCES = 10_000;
/** Largest attributes that a data source may have. */
const LARGE = { note: 'x'.repeat(16_000) };

/**
 * Stores schemas, each with a default data source, as many as the limits allow. Every data source has these
 * attributes.
 */
export async function storeCatalogue(tenant: Tenant, schemas: number, attributes: object): Promise<void> {
  const bodyOf = (index: number) => ({ schema_id: `schema-${index}`, name: `Source ${index}`, attributes });
  await tenant.putAllowed(namesOf('/v1/data-sources/source', schemas), bodyOf);
  await tenant.putAllowed(namesOf('/v1/schemas/schema', schemas), (index) => ({
    name: `Schema ${index}`,
    default_data_source: `source-${index}`,
  }));
}

export async function resolving(tenant: Tenant, connections: number): Promise<Flow> {
  const groups = await tenant.storeGroups(20);
  const bodies = groups.map(({ token }) => JSON.stringify({ token }));
  return { connections, request: cycle(bodies.map((body) => tenant.request('POST', '/v1/resolve', body))) };
}

function changing(tenant: Tenant): Flow {
  const request = (index: number) =>
    tenant.request('PUT', '/v1/schemas/changing', JSON.stringify({ name: `Schema ${index}` }));
  return { connections: 1, request };
}

/** Returns two requests, each of which changes all the data sources. */
export function storingSources(tenant: Tenant, count: number): Uint8Array[] {
  return ['One', 'Another'].map((name) => {
    const sources = namesOf('source', count).map((id) => [id, { schema_id: 'schema', name }]);
    const config = { version: 1, data_sources: Object.fromEntries(sources) };
    return tenant.request('PUT', '/v1/config', JSON.stringify(config));
  });
}

/** Renames two groups, for each of which so many data sources are reserved, back and forth. */
export async function renaming(tenant: Tenant, reserved: number): Promise<Flow> {
  const groups = await tenant.storeGroups(2);
  for (const { id } of groups) {
    const source = { schema_id: 'schema', name: 'Source', user_group_id: id };
    const sources = namesOf(`${id}-source`, reserved).map((sourceId) => [sourceId, source]);
    await tenant.call('PUT', '/v1/config', { version: 1, data_sources: Object.fromEntries(sources) });
  }
  const requests = ['', '-renamed'].flatMap((from) =>
    groups.map(({ id }) => {
      const body = JSON.stringify({ user_group_id: from === '' ? `${id}-renamed` : id });
      return tenant.request('POST', `/v1/user-groups/${id}${from}/rename`, body);
    }),
  );
  return { connections: groups.length, request: cycle(requests) };
}

export const catalogueCases: readonly HostileCase[] = [
  {
    name: 'catalogues-large',
    prepare: async (attacker) => {
      const flow = await resolving(attacker, 8);
      await storeCatalogue(attacker, SCHEMAS - 1, LARGE);
      return [flow];
    },
  },
  {
    name: 'catalogues-large-changing',
    prepare: async (attacker) => {
      const flow = await resolving(attacker, 8);
      await storeCatalogue(attacker, SCHEMAS - 1, LARGE);
      return [flow, changing(attacker)];
    },
  },
  {
    name: 'catalogues-many-changing',
    prepare: async (attacker) => {
      const flow = await resolving(attacker, 16);
      await attacker.putAllowed(namesOf('/v1/data-sources/source', DATA_SOURCES), (index) => ({
        schema_id: 'schema',
        name: `Source ${index}`,
      }));
      return [flow, changing(attacker)];
    },
  },
  {
    // Changes that wait for each other, and add up the whole catalogue.
    name: 'catalogues-many-replaced',
    prepare: async (attacker) => {
      const paths = namesOf('/v1/data-sources/source', DATA_SOURCES);
      await attacker.putAllowed(paths, () => ({ schema_id: 'schema', name: 'Source' }));
      const bodyOf = (index: number) => JSON.stringify({ schema_id: 'schema', name: `Source ${index}` });
      const request = (index: number) => attacker.request('PUT', paths[index % paths.length]!, bodyOf(index));
      return [{ connections: 64, request }];
    },
  },
  {
    name: 'catalogues-applied',
    prepare: (attacker) => [{ connections: 2, request: cycle(storingSources(attacker, MAX_CONFIG_CHANGES)) }],
  },
  {
    name: 'catalogues-renamed',
    prepare: async (attacker) => [await renaming(attacker, MAX_CONFIG_CHANGES)],
  },
  {
    // A small request whose response would have the whole catalogue.
    name: 'catalogues-deleted-in-plans',
    prepare: async (attacker) => {
      await attacker.putAllowed(namesOf('/v1/data-sources/source', SCHEMAS), () => ({
        schema_id: 'schema',
        name: 'Source',
        attributes: { note: 'x'.repeat(4_000) },
      }));
      const path = '/v1/config?prune=true&dry_run=true';
      const request = attacker.request('PUT', path, '{"version":1,"data_sources":{}}');
      return [{ connections: 32, request: () => request }];
    },
  },
  {
    // A small request that is compared with every stored document.
    name: 'catalogues-kept-in-plans',
    prepare: async (attacker) => {
      await attacker.putAllowed(namesOf('/v1/data-sources/source', DATA_SOURCES), () => ({
        schema_id: 'schema',
        name: 'Source',
      }));
      const path = '/v1/config?dry_run=true';
      const request = attacker.request('PUT', path, '{"version":1,"data_sources":{}}');
      return [{ connections: 256, request: () => request }];
    },
  },
];
