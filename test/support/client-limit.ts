// Checks that a proxy reports the addresses of its clients, for each of which the service limits failed
// authentications.

import assert from 'node:assert/strict';
import { send } from './http.ts';

const LIMIT = 3;
/** Settings of the service behind the proxy. */
export const LIMITED = { UGS_FAILED_AUTHENTICATION_LIMIT_PER_MINUTE: String(LIMIT) };

/**
 * Sends requests from two clients on this machine. The proxy connects from 127.0.0.1, and clients cannot
 * choose the address that it reports.
 */
export async function assertLimitedByClient(url: string): Promise<void> {
  const statusOf = async (localAddress: string) => {
    const headers = { 'x-forwarded-for': '198.51.100.1' };
    return (await send(url, { token: 'invalid', localAddress, headers, body: { user_group_id: 'a' } }))
      .status;
  };
  for (let failure = 0; failure < LIMIT; failure++) assert.equal(await statusOf('127.0.0.2'), 401);
  assert.equal(await statusOf('127.0.0.2'), 429);
  assert.equal(await statusOf('127.0.0.3'), 401);
}
