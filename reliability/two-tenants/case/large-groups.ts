// Small requests for large groups, whose data is read and written although it is not in the request.

import type { HostileCase } from '../hostile-case.ts';

const GROUPS = 256;
const LARGE = 'x'.repeat(60_000);

/** Returns method and path of a request for a group; `round` is the number of earlier requests for it. */
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
