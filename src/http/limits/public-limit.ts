// Limits the requests of each client address that no API token covers: those that are refused, and public pages. A request
// with a valid API token, or for the keys of an issuer that exists, is never counted, so it always works, whatever else
// its address has sent.

import type { IncomingMessage } from 'node:http';
import { type BlockList, isIPv6 } from 'node:net';
import { Problem } from '../../problem.ts';
import { clientAddressOf } from '../request/client-address.ts';
import { statusOf } from '../response/problem.ts';

const MINUTE_MS = 60_000;
/** A few megabytes. Beyond it the address that came first is forgotten, so that many addresses cannot exhaust memory. */
export const MAX_NETWORKS = 16_384;
const GROUPS = 8;
const GROUPS_OF_NETWORK = 4;

export class PublicLimit {
  readonly #perMinute: number;
  readonly #trustedProxies: BlockList;
  /** Separate: the refusals of one client do not lock others at its address out of the pages. */
  readonly #refusals = new RequestsOfMinute();
  readonly #pages = new RequestsOfMinute();

  /** Returns null if 0: no limit. */
  static of(perMinute: number, trustedProxies: BlockList): PublicLimit | null {
    return perMinute === 0 ? null : new PublicLimit(perMinute, trustedProxies);
  }

  private constructor(perMinute: number, trustedProxies: BlockList) {
    this.#perMinute = perMinute;
    this.#trustedProxies = trustedProxies;
  }

  /** Counts a refused request. Returns `rate_limited` in place of the problem if its address was refused too often. */
  refuse(request: IncomingMessage, problem: Problem): Problem {
    if (statusOf(problem) >= 500 || problem.code === 'rate_limited') return problem;
    const seconds = this.#secondsBeyond(this.#refusals, request);
    if (seconds === null) return problem;
    const refused =
      problem.code === 'unauthenticated' ? 'The API token is missing or not valid' : problem.message;
    return new Problem(
      'rate_limited',
      `${refused.replace(/\.$/, '')}, and more than ${this.#perMinute} requests per minute from this address were refused.`,
      { retryAfterSeconds: seconds, cause: problem },
    );
  }

  /** Counts the request of a page. Throws `rate_limited`. */
  countPage(request: IncomingMessage): void {
    const seconds = this.#secondsBeyond(this.#pages, request);
    if (seconds === null) return;
    throw new Problem(
      'rate_limited',
      `Pages without sign-in are limited to ${this.#perMinute} requests per minute and address.`,
      { retryAfterSeconds: seconds },
    );
  }

  /** Counts the request; returns the seconds until the next minute if it exceeds the limit, otherwise null. */
  #secondsBeyond(requests: RequestsOfMinute, request: IncomingMessage): number | null {
    const now = performance.now();
    const count = requests.add(networkOf(clientAddressOf(request, this.#trustedProxies)), now);
    return count <= this.#perMinute ? null : requests.secondsLeft(now);
  }
}

/**
 * One window for all addresses, so that counters need no timers and no times. `rate-limiter-flexible` keeps a timer per
 * key and does not bound the number of keys.
 */
export class RequestsOfMinute {
  readonly #counts = new Map<string, number>();
  #startedAt = Number.NEGATIVE_INFINITY;

  get size(): number {
    return this.#counts.size;
  }

  /** Returns the requests of the network in the current minute, with this one. */
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
