// Small changes of large groups: what they read and write is not in the request.

import type { HostileCase } from '../hostile-case.ts';

const GROUPS = 256;
const LARGE = 'x'.repeat(60_000);

export const changeCases: readonly HostileCase[] = [
  {
    name: 'changes-of-large-groups',
    prepare: async (attacker) => {
      const groups = await attacker.storeGroups(GROUPS, () => ({ properties: { text: LARGE } }));
      const request = (index: number) => {
        const action = Math.floor(index / GROUPS) % 2 === 0 ? 'suspend' : 'resume';
        return attacker.request('POST', `/v1/user-groups/${groups[index % GROUPS]!.id}/${action}`);
      };
      return [{ connections: GROUPS, request }];
    },
  },
];
