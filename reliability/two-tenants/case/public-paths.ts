// Paths that need no API token, requested as fast as possible.

import { mintApiToken } from '../../../src/domain/token.ts';
import { send } from '../../../test/support/http.ts';
import { requestBytes } from '../../support/connection.ts';
import type { HostileCase } from '../hostile-case.ts';
import type { Tenant } from '../tenant.ts';
import { storeCatalogue } from './catalogues.ts';

/** Returns the request that the connections send. */
const paths: Record<string, (attacker: Tenant) => Promise<Uint8Array> | Uint8Array> = {
  'key-set': async (attacker) => {
    const settings = { audience: 'rig' };
    await attacker.call('PUT', '/v1/integrations/jwt', { type: 'jwt', settings, unrestricted: true });
    const { jwks_url: url } = await attacker.call('GET', '/v1/signing-keys');
    await storeCatalogue(attacker, 1_000, { note: 'x'.repeat(16_000) });
    return get(new URL(url).pathname);
  },
  'key-set-unknown': () => get('/issuers/5f0c9a3be81d4c7704d0a1162/.well-known/jwks.json'),
  openapi: () => get('/openapi.json'),
  docs: () => get('/docs'),
  errors: () => get('/errors'),
  asset: async ({ url }) => {
    const { text } = await send(url, { path: '/docs' });
    return get(/"(\/docs\/assets\/[^"]+\.js)"/.exec(text)![1]!);
  },
  'sign-in': () => get('/console/sign-in'),
  'sign-in-unknown': () =>
    requestBytes({
      method: 'POST',
      path: '/console/sign-in',
      headers: ['Origin: http://rig', 'Content-Type: application/x-www-form-urlencoded'],
      body: `api_token=${mintApiToken().reveal()}`,
    }),
  'not-found': () => get('/nothing/here'),
  'invalid-token': () =>
    requestBytes({ method: 'GET', path: '/v1/user-groups', apiToken: mintApiToken().reveal() }),
  readiness: () => get('/readyz'),
  'parser-error': () => Buffer.from('GET / HTTP/1.1\r\nno header\r\n\r\n'),
};

function get(path: string): Uint8Array {
  return requestBytes({ method: 'GET', path });
}

export const publicCases: readonly HostileCase[] = [
  ...Object.entries(paths).flatMap(([name, requestOf]) =>
    [4, 16].map((connections) => ({
      name: `public-${name}-${connections}`,
      prepare: async (attacker: Tenant) => {
        const request = await requestOf(attacker);
        return [{ connections, request: () => request }];
      },
    })),
  ),
  {
    // The other tenant opens pages too, and its supervisor checks the process.
    name: 'public-invalid-token-many-connections',
    otherCalls: ['page', 'health'],
    prepare: async (attacker) => {
      const request = await paths['invalid-token']!(attacker);
      return [{ connections: 1_500, request: () => request }];
    },
  },
];
