// The console: searches, sign-ins, and forms that anyone can send.

import { MAX_KEPT_CHARACTERS } from '../../../src/console/request/interrupted-form.ts';
import { EXPORT_PATH } from '../../../src/console/user-group/export.ts';
import { requestBytes } from '../../support/connection.ts';
import type { Flow } from '../flow.ts';
import type { HostileCase } from '../hostile-case.ts';
import type { Tenant } from '../tenant.ts';

const GROUPS = 10_000;
const CONNECTIONS = 16;
const FORM = 'application/x-www-form-urlencoded';
/** Maximum number of fields of a form without a session. */
const FIELDS = 8_192;

function post(path: string, body: string): Uint8Array {
  return requestBytes({
    method: 'POST',
    path,
    headers: ['Origin: http://rig', `Content-Type: ${FORM}`],
    body,
  });
}

/** Returns the request for the page of a group. */
async function opening(tenant: Tenant, headers: readonly string[] = []): Promise<Flow['request']> {
  const path = '/console/user-groups/group-0';
  const cookie = `Cookie: ${await tenant.signIn()}`;
  const request = requestBytes({ method: 'GET', path, headers: [cookie, ...headers] });
  return () => request;
}

export const consoleCases: readonly HostileCase[] = [
  {
    name: 'console-searches',
    prepare: async (attacker) => {
      await attacker.storeGroups(GROUPS);
      const path = '/console/user-groups?search=nothing';
      const headers = [`Cookie: ${await attacker.signIn()}`];
      const request = requestBytes({ method: 'GET', path, headers });
      return [{ connections: CONNECTIONS, request: () => request }];
    },
  },
  {
    // The other tenant lists too.
    name: 'console-exports',
    otherCalls: ['list', 'events'],
    prepare: async (attacker) => {
      await attacker.storeGroups(2_000, () => ({ properties: { text: 'x'.repeat(20_000) } }));
      const headers = [`Cookie: ${await attacker.signIn()}`];
      const request = requestBytes({ method: 'GET', path: EXPORT_PATH, headers });
      return [{ connections: CONNECTIONS, request: () => request }];
    },
  },
  {
    name: 'console-sign-ins',
    prepare: ({ apiToken }) => {
      const request = post('/console/sign-in', `api_token=${apiToken}`);
      return [{ connections: CONNECTIONS, request: () => request }];
    },
  },
  {
    // Pages as large as that of a group can be, compressed.
    name: 'console-pages-large',
    otherCalls: ['page', 'page'],
    prepare: async (attacker) => {
      await attacker.storeGroups(1, () => ({ properties: { text: '<'.repeat(65_000) } }));
      return [{ connections: 600, request: await opening(attacker, ['Accept-Encoding: gzip']) }];
    },
  },
  {
    name: 'console-pages-small',
    otherCalls: ['page', 'page'],
    prepare: async (attacker) => {
      await attacker.storeGroups(1);
      return [{ connections: 256, request: await opening(attacker) }];
    },
  },
  ...Object.entries({
    large: `text=${'%3C'.repeat(MAX_KEPT_CHARACTERS - 4)}`,
    'of-many-fields': Array.from({ length: FIELDS }, (_, index) => `field-${index}`).join('&'),
  }).map(([name, body]) => ({
    name: `console-forms-${name}`,
    prepare: () => {
      const request = post('/console/user-groups/group-0/review', body);
      return [{ connections: CONNECTIONS, request: () => request }];
    },
  })),
];
