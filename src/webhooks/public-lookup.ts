// Resolves the host names of receivers. If only public addresses are allowed, a connection is made to an
// address that was checked, so a name cannot evade the check by resolving to another address the second time.

import { type LookupAddress, promises } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from '../domain/webhook-endpoint/webhook-address.ts';

/**
 * The name has no public address or does not resolve; telling the two apart would reveal which internal names
 * exist.
 */
export class NoPublicAddress extends Error {
  override readonly name = 'NoPublicAddress';
}

export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

const resolver = new promises.Resolver({ timeout: 3_000, tries: 2 });

/** Does not use `getaddrinfo`: four slow names would occupy all threads with which Node resolves names. */
async function resolveName(hostname: string): Promise<LookupAddress[]> {
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  if (ipv4.status === 'rejected' && ipv6.status === 'rejected') throw ipv4.reason;
  const listAddresses = (result: typeof ipv4, family: number) =>
    result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];
  return [...listAddresses(ipv4, 4), ...listAddresses(ipv6, 6)];
}

/** Returns a lookup function for `net.connect`. Tests replace `resolve`. */
export function publicLookup(resolve: Resolve = resolveName): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (found) => {
        const [first, ...rest] = found.filter(({ address }) => isPublicAddress(address));
        if (first === undefined) callback(new NoPublicAddress(), '');
        else if (options.all) callback(null, [first, ...rest]);
        else callback(null, first.address, first.family);
      },
      (cause: NodeJS.ErrnoException) => callback(new NoPublicAddress('', { cause }), ''),
    );
  };
}
