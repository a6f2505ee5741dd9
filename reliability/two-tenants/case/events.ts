// Small changes to large properties, each of which is an event, and readers of events.

import type { Flow } from '../flow.ts';
import type { HostileCase } from '../hostile-case.ts';
import type { Tenant } from '../tenant.ts';

const WRITERS = 8;
const READERS = 8;
const LARGE = 'x'.repeat(60_000);

async function patching(attacker: Tenant): Promise<Flow> {
  const groups = await attacker.storeGroups(WRITERS, () => ({ properties: { text: LARGE, n: 0 } }));
  const request = (index: number) =>
    attacker.request(
      'PATCH',
      `/v1/user-groups/${groups[index % WRITERS]!.id}`,
      `{"properties":{"n":${index}}}`,
    );
  return { connections: WRITERS, request };
}

/** Replaces properties of 60 KB in each change. */
async function replacing(attacker: Tenant): Promise<Flow> {
  const groups = await attacker.storeGroups(WRITERS);
  const request = (index: number) =>
    attacker.request(
      'PUT',
      `/v1/user-groups/${groups[index % WRITERS]!.id}`,
      `{"name":"Group","properties":{"text":"${index}${LARGE}"}}`,
    );
  return { connections: WRITERS, request };
}

export const eventCases: readonly HostileCase[] = [
  { name: 'events-small-patches', prepare: async (attacker) => [await patching(attacker)] },
  { name: 'events-large-changes', prepare: async (attacker) => [await replacing(attacker)] },
  {
    name: 'events-pages',
    prepare: async (attacker) => {
      for (let change = 0; change < 5; change++)
        await attacker.storeGroups(50, () => ({ properties: { text: `${change}${LARGE}` } }));
      const request = attacker.request('GET', '/v1/events?limit=1000');
      return [{ connections: READERS, request: () => request }];
    },
  },
  {
    // Each request reads all the events. The other tenant lists too.
    name: 'events-filtered',
    otherCalls: ['list', 'events'],
    prepare: async (attacker) => {
      for (let change = 0; change < 10; change++)
        await attacker.storeGroups(1_000, () => ({ name: `Change ${change}` }));
      const request = attacker.request('GET', '/v1/events?limit=1000&field=nothing');
      return [{ connections: 2 * READERS, request: () => request }];
    },
  },
];
