// Counts the requests without a valid API token of each client address in this process. It is checked only after
// authentication has failed, so a valid token always works, whatever else its address has sent.

import type { IncomingMessage } from 'node:http';
import { type BlockList, isIPv6 } from 'node:net';
import { Problem } from '../problem.ts';
import { clientAddressOf } from './client-address.ts';

/** Throws `rate_limited` in place of the error if the address has failed too often. */
export type FailedAuthenticationLimit = (request: IncomingMessage, error: unknown) => void;

const MINUTE_MS = 60_000;
/** A few megabytes. Beyond it the address that failed first is forgotten, so that many addresses cannot exhaust memory. */
export const MAX_NETWORKS = 16_384;
const GROUPS = 8;
const GROUPS_OF_NETWORK = 4;

/** Returns null if 0: no limit. */
export function failedAuthenticationLimit(
  failuresPerMinute: number,
  trustedProxies: BlockList,
): FailedAuthenticationLimit | null {
  if (failuresPerMinute === 0) return null;
  const failures = new FailuresOfMinute();
  return (request, error) => {
    if (!(error instanceof Problem) || error.code !== 'unauthenticated') return;
    const address = clientAddressOf(request, trustedProxies);
    if (failures.add(networkOf(address), performance.now()) <= failuresPerMinute) return;
    throw new Problem(
      'rate_limited',
      `The API token is missing or not valid, and more than ${failuresPerMinute} requests per minute from this address have failed for this reason.`,
      { retryAfterSeconds: failures.secondsLeft(performance.now()), cause: error },
    );
  };
}

/**
 * One window for all addresses, so that counters need no timers and no times. `rate-limiter-flexible` keeps a timer per
 * key and does not bound the number of keys.
 */
export class FailuresOfMinute {
  readonly #counts = new Map<string, number>();
  #startedAt = Number.NEGATIVE_INFINITY;

  get size(): number {
    return this.#counts.size;
  }

  /** Returns how often the network has failed in the current minute. */
  add(network: string, now: number): number {
    if (now - this.#startedAt >= MINUTE_MS) {
      this.#counts.clear();
      this.#startedAt = now;
    }
    const count = (this.#counts.get(network) ?? 0) + 1;
    if (count === 1 && this.#counts.size === MAX_NETWORKS) this.#forgetFirst();
    this.#counts.set(network, count);
    return count;
  }

  secondsLeft(now: number): number {
    return Math.max(1, Math.ceil((this.#startedAt + MINUTE_MS - now) / 1_000));
  }

  #forgetFirst(): void {
    for (const first of this.#counts.keys()) {
      this.#counts.delete(first);
      return;
    }
  }
}

/** The /64 of an IPv6 address: a host can use every address in it. `address` is in canonical form. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array.from({ length: GROUPS - head.length - tail.length }, () => '0');
  const groups = [...head, ...zeros, ...tail];
  return `${groups.slice(0, GROUPS_OF_NETWORK).join(':')}::/64`;
}
