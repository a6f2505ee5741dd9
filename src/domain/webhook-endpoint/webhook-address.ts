// Permitted targets of webhooks: only public addresses, unless the operator allows others. Otherwise a caller could use
// the service to reach the network that it runs in.

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export const MAX_URL_LENGTH = 2_048;
/** Lower ports, apart from those of HTTP, belong to other protocols. */
const FIRST_USER_PORT = 1_024;
const INVISIBLE = /[^\x21-\u{10ffff}]|[\x7f-\xa0]/u;
/** Azure: metadata and DNS of a virtual machine, on an address that is not reserved. */
const CLOUD_SERVICES = new Set(['168.63.129.16']);
const GLOBAL_UNICAST_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/** Describes the rule that the URL of an endpoint breaks, or null. Names are resolved and checked on connecting. */
export function urlViolation(text: string, allowsPrivate: boolean): string | null {
  const url = INVISIBLE.test(text) ? null : URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'must be an https or http URL';
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password';
  if (text.includes('#')) return 'must not have a fragment';
  const port = Number(url.port || 443);
  if (port !== 80 && port !== 443 && port < FIRST_USER_PORT)
    return `must have port 80, 443, or one from ${FIRST_USER_PORT}`;
  if (allowsPrivate || isPublicHost(url.hostname)) return null;
  return 'must have a public address: this service calls private, local or reserved ones only if its operator sets UGS_WEBHOOK_ALLOW_PRIVATE';
}

/** false for an address that is not public, and for names of this machine; true for other names. */
export function isPublicHost(hostname: string): boolean {
  const address = literalAddress(hostname);
  if (address !== null) return isPublicAddress(address);
  return !/(?:^|\.)localhost\.?$/i.test(hostname);
}

/** The address in the host of a URL, without brackets; null for a name. */
function literalAddress(hostname: string): string | null {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(address) === 0 ? null : address;
}

/** Accepts, in IPv6, only the allocated unicast space: addresses that embed an IPv4 address lie outside. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || CLOUD_SERVICES.has(parsed.toString())) return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST_IPV6);
}
