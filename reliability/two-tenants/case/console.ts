// The console: searches and sign-ins.

import { send } from '../../../test/support/http.ts';
import { requestBytes } from '../../connection.ts';
import type { HostileCase } from '../hostile-case.ts';
import type { Tenant } from '../tenant.ts';

const GROUPS = 10_000;
const CONNECTIONS = 16;
const FORM = 'application/x-www-form-urlencoded';

function signIn({ apiToken }: Tenant): Uint8Array {
  return requestBytes({
    method: 'POST',
    path: '/console/sign-in',
    headers: ['Origin: http://rig', `Content-Type: ${FORM}`],
    body: `api_token=${apiToken}`,
  });
}

async function cookieOf({ url, apiToken }: Tenant): Promise<string> {
  const { headers } = await send(url, {
    method: 'POST',
    path: '/console/sign-in',
    body: `api_token=${apiToken}`,
    headers: { origin: url, 'content-type': FORM },
  });
  return headers['set-cookie']![0]!.split(';', 1)[0]!;
}

export const consoleCases: readonly HostileCase[] = [
  {
    name: 'console-searches',
    prepare: async (attacker) => {
      await attacker.storeGroups(GROUPS);
      const path = '/console/user-groups?search=nothing';
      const headers = [`Cookie: ${await cookieOf(attacker)}`];
      const request = requestBytes({ method: 'GET', path, headers });
      return [{ connections: CONNECTIONS, request: () => request }];
    },
  },
  {
    name: 'console-sign-ins',
    prepare: (attacker) => [{ connections: CONNECTIONS, request: () => signIn(attacker) }],
  },
];
