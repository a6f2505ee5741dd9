// Ordinary calls at full speed: what a busy tenant does.

import { type CallName, type CallTarget, calls } from '../../call.ts';
import type { HostileCase } from '../hostile-case.ts';

const GROUPS = 200;

const workloads: Record<string, readonly CallName[]> = {
  mixed: ['get', 'create', 'rotate', 'resolve'],
  resolving: ['resolve'],
  creating: ['create'],
  rotating: ['rotate'],
};

export const ordinaryCases: readonly HostileCase[] = Object.entries(workloads).map(([name, mix]) => ({
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
    return [{ connections: 64, request }];
  },
}));
