// Ordinary calls at full speed, as a busy tenant sends them.

import { type CallName, type CallTarget, calls } from '../../support/call.ts';
import type { HostileCase } from '../hostile-case.ts';

const GROUPS = 200;

interface Workload {
  mix: readonly CallName[];
  connections: number;
}

const workloads: Record<string, Workload> = {
  mixed: { mix: ['get', 'create', 'rotate', 'resolve'], connections: 64 },
  resolving: { mix: ['resolve'], connections: 64 },
  creating: { mix: ['create'], connections: 64 },
  rotating: { mix: ['rotate'], connections: 64 },
  'many-connections': { mix: ['get', 'create', 'rotate', 'resolve'], connections: 1_000 },
};

export const ordinaryCases: readonly HostileCase[] = Object.entries(workloads).map(
  ([name, { mix, connections }]) => ({
    name: `ordinary-${name}`,
    prepare: async (attacker) => {
      const rotated = await attacker.storeGroups(GROUPS, () => ({}), 'rotated');
      const groups = await attacker.storeGroups(GROUPS);
      const target: CallTarget = {
        apiToken: attacker.apiToken,
        prefix: 'created-',
        groups: groups.map((group, index) => ({ ...group, rotatedId: rotated[index]!.id })),
      };
      const request = (index: number) =>
        calls[mix[index % mix.length]!](target, `created-${process.hrtime.bigint()}`, index);
      return [{ connections, request }];
    },
  }),
);
