// Resolves the names of receivers. Where only public addresses are allowed, each connection is made to an address that
// was checked: a name that resolves to another address the second time does not get around the check.

import { type LookupAddress, promises } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from '../domain/webhook-endpoint/webhook-address.ts';

/** The name has no public address, or does not resolve: the difference would tell which internal names exist. */
export class NoPublicAddress extends Error {
  override readonly name = 'NoPublicAddress';
}

export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

const resolver = new promises.Resolver({ timeout: 3_000, tries: 2 });

/** Not `getaddrinfo`: four slow names would occupy all threads that Node resolves names with. */
async function resolveName(hostname: string): Promise<LookupAddress[]> {
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  if (ipv4.status === 'rejected' && ipv6.status === 'rejected') throw ipv4.reason;
  const listAddresses = (result: typeof ipv4, family: number) =>
    result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];
  return [...listAddresses(ipv4, 4), ...listAddresses(ipv6, 6)];
}

/** For `net.connect`. `resolve` is replaced by tests. */
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
