// Clients that request large responses and do not read them.

import type { HostileCase } from '../hostile-case.ts';
import { namesOf, type Tenant } from '../tenant.ts';
import { storeCatalogue } from './catalogues.ts';

const CONNECTIONS = 600;
const PIPELINED = 10;
const GROUPS = 20;
const CHANGES = 5;

interface Unread {
  method?: 'POST';
  path: string;
  /** Stores what makes the response large, and returns the body of the request. */
  prepare?: (attacker: Tenant) => Promise<string | undefined>;
}

const unread: Record<string, Unread> = {
  resolve: {
    method: 'POST',
    path: '/v1/resolve',
    prepare: async (attacker) => {
      const [group] = await attacker.storeGroups(1);
      await storeCatalogue(attacker, 100, { note: 'x'.repeat(16_000) });
      return JSON.stringify({ token: group!.token });
    },
  },
  lists: {
    path: '/v1/user-groups?limit=1000',
    prepare: async (attacker) => {
      await attacker.storeGroups(GROUPS, () => ({ properties: { text: 'x'.repeat(60_000) } }));
      return undefined;
    },
  },
  events: {
    path: '/v1/events?limit=1000',
    prepare: async (attacker) => {
      for (let change = 0; change < CHANGES; change++)
        await attacker.storeGroups(GROUPS, () => ({ properties: { [`text${change}`]: 'x'.repeat(60_000) } }));
      return undefined;
    },
  },
  'data-sources': {
    path: '/v1/data-sources?limit=1000',
    prepare: async (attacker) => {
      await attacker.putAllowed(namesOf('/v1/data-sources/source', 1_000), () => ({
        schema_id: 'schema',
        name: 'Source',
        attributes: { note: 'x'.repeat(900) },
      }));
      return undefined;
    },
  },
  openapi: { path: '/openapi.json' },
};

export const unreadCases: readonly HostileCase[] = Object.entries(unread).flatMap(
  ([name, { method = 'GET', path, prepare }]) =>
    [1, PIPELINED].map((pipelined) => ({
      name: pipelined === 1 ? `unread-${name}` : `unread-${name}-pipelined`,
      prepare: async (attacker) => {
        const body = await prepare?.(attacker);
        const request = attacker.request(method, path, body);
        return [{ connections: CONNECTIONS, request: () => request, isUnread: true, pipelined }];
      },
    })),
);
