// Small requests for large groups: what they read and write is not in the request.

import type { HostileCase } from '../hostile-case.ts';

const GROUPS = 256;
const LARGE = 'x'.repeat(60_000);

/** Method and path of the request for a group; `round`: how many there were for each group before. */
const requests: Record<string, (path: string, round: number) => [method: string, path: string]> = {
  changes: (path, round) => ['POST', `${path}/${round % 2 === 0 ? 'suspend' : 'resume'}`],
  reads: (path) => ['GET', path],
};

export const largeGroupCases: readonly HostileCase[] = Object.entries(requests).map(([name, requestOf]) => ({
  name: `${name}-of-large-groups`,
  prepare: async (attacker) => {
    const groups = await attacker.storeGroups(GROUPS, () => ({ properties: { text: LARGE } }));
    const request = (index: number) => {
      const path = `/v1/user-groups/${groups[index % GROUPS]!.id}`;
      return attacker.request(...requestOf(path, Math.floor(index / GROUPS)));
    };
    return [{ connections: GROUPS, request }];
  },
}));
