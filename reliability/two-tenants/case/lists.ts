// Lists and searches of many user groups.

import type { HostileCase } from '../hostile-case.ts';

const GROUPS = 10_000;
const READERS = 16;

const lists: Record<string, string> = {
  pages: 'limit=1000',
  contains: 'limit=1000&match=contains&search=nothing',
  filters: 'limit=1000&data_source=nothing',
};

export const listCases: readonly HostileCase[] = Object.entries(lists).map(([name, query]) => ({
  name: `lists-${name}`,
  prepare: async (attacker) => {
    await attacker.storeGroups(GROUPS, (index) => ({
      mapping: { orders: `source-${index}` },
      properties: { plan: 'gold' },
    }));
    const request = attacker.request('GET', `/v1/user-groups?${query}`);
    return [{ connections: READERS, request: () => request }];
  },
}));
