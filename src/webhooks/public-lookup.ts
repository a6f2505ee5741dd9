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

/** Maximum wait for the addresses of the other family: some name servers never answer queries for IPv6. */
const OTHER_FAMILY_MS = 1_000;

/**
 * Does not use `getaddrinfo`: two slow names would occupy all threads with which Node resolves names. Each lookup has its
 * own resolver: one that is kept shortens its timeouts after a few fast names, so that slower ones fail, and never reads
 * the name servers of the system again. `servers` replaces those in tests.
 */
export async function resolveName(hostname: string, servers?: readonly string[]): Promise<LookupAddress[]> {
  const resolver = new promises.Resolver({ timeout: 3_000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  const lookups = [
    resolver.resolve4(hostname).then((found) => found.map((address) => ({ address, family: 4 }))),
    resolver.resolve6(hostname).then((found) => found.map((address) => ({ address, family: 6 }))),
  ];
  await Promise.any(lookups);
  const timer = setTimeout(() => resolver.cancel(), OTHER_FAMILY_MS);
  const settled = await Promise.allSettled(lookups);
  clearTimeout(timer);
  return settled.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
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
