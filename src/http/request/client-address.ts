// The address of a client: that of its connection, or the one that a trusted proxy reports in
// X-Forwarded-For. Clients can send this header too, so an address counts only if a trusted proxy has
// appended it.

import type { IncomingMessage } from 'node:http';
import { type BlockList, isIP, isIPv4, isIPv6, SocketAddress } from 'node:net';

/** More proxies than any installation has; limits the work for a header full of trusted addresses. */
const MAX_PROXIES = 32;
const WITH_PORT = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/;
const MAPPED_IPV4 = '::ffff:';
const GROUPS = 8;
const GROUPS_OF_NETWORK = 4;

/**
 * Returns the last address on the way to this process that does not belong to a trusted proxy, in canonical
 * form: without port and zone, IPv6 in lower case and shortened, IPv4-mapped IPv6 as IPv4. Empty if the
 * client has disconnected.
 */
export function findClientAddress({ headers, socket }: IncomingMessage, trustedProxies: BlockList): string {
  let address = canonical(socket.remoteAddress ?? '');
  const forwarded = headers['x-forwarded-for'] as string | undefined;
  if (forwarded === undefined) return address;
  // Each proxy appends the address that it was called from.
  const hops = forwarded.split(',').slice(-MAX_PROXIES);
  while (isTrusted(address, trustedProxies)) {
    const previous = parseHop(hops.pop() ?? '');
    if (previous === null) break;
    address = previous;
  }
  return address;
}

/** Returns what limits tell clients apart by: the address of a client, for IPv6 its network. */
export function findClientNetwork(message: IncomingMessage, trustedProxies: BlockList): string {
  return networkPrefix(findClientAddress(message, trustedProxies));
}

/** The /64 of an IPv6 address: a host can use every address in it. `address` is in canonical form. */
export function networkPrefix(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array.from({ length: GROUPS - head.length - tail.length }, () => '0');
  const groups = [...head, ...zeros, ...tail];
  return `${groups.slice(0, GROUPS_OF_NETWORK).join(':')}::/64`;
}

function isTrusted(address: string, trustedProxies: BlockList): boolean {
  return address !== '' && trustedProxies.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/** Some proxies append a port. Returns null for anything but an address, such as `unknown`. */
function parseHop(text: string): string | null {
  const hop = text.trim();
  const [, v6 = '', v4 = ''] = WITH_PORT.exec(hop) ?? [];
  const address = v6 || v4 || hop;
  return isIP(address) === 0 ? null : canonical(address);
}

function canonical(text: string): string {
  if (text === '' || isIPv4(text)) return text;
  const [withoutZone] = text.split('%', 1);
  const { address } = new SocketAddress({ address: withoutZone!, family: 'ipv6' });
  const mapped = address.startsWith(MAPPED_IPV4) ? address.slice(MAPPED_IPV4.length) : '';
  return isIPv4(mapped) ? mapped : address;
}
