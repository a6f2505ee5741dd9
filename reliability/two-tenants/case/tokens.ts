// Signing and verifying tokens.

import { randomBytes } from 'node:crypto';
import type { HostileCase } from '../hostile-case.ts';
import type { Tenant } from '../tenant.ts';

const CONNECTIONS = 64;

async function storeIntegration(attacker: Tenant): Promise<void> {
  const settings = { audience: 'rig', algorithm: 'RS256' };
  await attacker.call('PUT', '/v1/integrations/jwt', { type: 'jwt', settings, unrestricted: true });
}

function form(attacker: Tenant, token: string): Uint8Array {
  const headers = ['Content-Type: application/x-www-form-urlencoded'];
  return attacker.request('POST', '/oauth/introspect', `token=${token}`, headers);
}

export const tokenCases: readonly HostileCase[] = [
  {
    // Each new set of keys takes as long as a hundred signatures.
    name: 'tokens-keys-revoked',
    prepare: async (attacker) => {
      await storeIntegration(attacker);
      const request = attacker.request('POST', '/v1/signing-keys/rotate', '{"revoke":true}');
      return [{ connections: 8, request: () => request }];
    },
  },
  {
    name: 'tokens-for-the-api',
    prepare: (attacker) => {
      const body = '{"name":"short","permission":"resolve","expires_in_seconds":1}';
      const request = attacker.request('POST', '/v1/api-tokens', body);
      return [{ connections: CONNECTIONS, request: () => request }];
    },
  },
  {
    name: 'tokens-minting',
    prepare: async (attacker) => {
      await storeIntegration(attacker);
      await attacker.storeGroups(1);
      const body = JSON.stringify({ integration: 'jwt', user_group_id: 'group-0' });
      const request = attacker.request('POST', '/v1/embed-tokens', body);
      return [{ connections: CONNECTIONS, request: () => request }];
    },
  },
  {
    name: 'tokens-garbage',
    prepare: async (attacker) => {
      await storeIntegration(attacker);
      await attacker.storeGroups(1);
      const minted = await attacker.call('POST', '/v1/embed-tokens', {
        integration: 'jwt',
        user_group_id: 'group-0',
      });
      const [header, payload] = minted.embed_token.token.split('.');
      const request = () => form(attacker, `${header}.${payload}.${randomBytes(256).toString('base64url')}`);
      return [{ connections: CONNECTIONS, request }];
    },
  },
  {
    name: 'tokens-forward-auth',
    prepare: async (attacker) => {
      const [group] = await attacker.storeGroups(1);
      const headers = [`X-User-Group-Token: ${group!.token}`];
      const request = attacker.request('GET', '/v1/forward-auth', undefined, headers);
      return [{ connections: CONNECTIONS, request: () => request }];
    },
  },
];
