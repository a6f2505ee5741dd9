// Limits, per client address, the requests that no API token covers: refused requests and public pages. A
// request with a valid API token, or for the keys of an existing issuer, is never counted, so it always
// works, whatever else its address has sent.

import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { Problem } from '../../problem.ts';
import { WindowCounts } from '../../scheduling/window-counts.ts';
import { findClientNetwork } from '../request/client-address.ts';
import { httpStatus } from '../response/problem.ts';

/** Maximum number of addresses; beyond it the first one is forgotten, so that memory is bounded. */
const MAX_NETWORKS = 16_384;

export interface PublicLimitMemory {
  refusals: SharedArrayBuffer;
  pages: SharedArrayBuffer;
}

export class PublicLimit {
  readonly #perMinute: number;
  readonly #trustedProxies: BlockList;
  /** Separate, so that the refusals of one client do not lock others at its address out of the pages. */
  readonly #refusals: WindowCounts;
  readonly #pages: WindowCounts;

  /** Allocates memory that all threads of the process share. Returns null for 0, which means no limit. */
  static allocate(perMinute: number): PublicLimitMemory | null {
    if (perMinute === 0) return null;
    return { refusals: WindowCounts.allocate(MAX_NETWORKS), pages: WindowCounts.allocate(MAX_NETWORKS) };
  }

  constructor(perMinute: number, trustedProxies: BlockList, { refusals, pages }: PublicLimitMemory) {
    this.#perMinute = perMinute;
    this.#trustedProxies = trustedProxies;
    this.#refusals = new WindowCounts(refusals);
    this.#pages = new WindowCounts(pages);
  }

  /** Counts a refused request. Returns `rate_limited` in place of the problem if its address was refused too often. */
  refuse(request: IncomingMessage, problem: Problem): Problem {
    if (httpStatus(problem) >= 500 || problem.code === 'rate_limited') return problem;
    const seconds = this.#secondsBeyond(this.#refusals, request);
    if (seconds === null) return problem;
    const refused =
      problem.code === 'unauthenticated' ? 'The API token is missing or not valid.' : problem.message;
    return new Problem(
      'rate_limited',
      `${refused} More than ${this.#perMinute} requests per minute from this address were refused.`,
      { retryAfterSeconds: seconds, cause: problem },
    );
  }

  /** Counts a request for a page, or one that takes as long as several. Throws `rate_limited`. */
  countPage(request: IncomingMessage, pages = 1): void {
    const seconds = this.#secondsBeyond(this.#pages, request, pages);
    if (seconds === null) return;
    throw new Problem(
      'rate_limited',
      `Pages without sign-in are limited to ${this.#perMinute} requests per minute and address.`,
      { retryAfterSeconds: seconds },
    );
  }

  /** Counts the request; returns the seconds until the next minute if it exceeds the limit, otherwise null. */
  #secondsBeyond(requests: WindowCounts, request: IncomingMessage, more = 1): number | null {
    const network = findClientNetwork(request, this.#trustedProxies);
    const { count, secondsLeft } = requests.add(network, more);
    return count <= this.#perMinute ? null : secondsLeft;
  }
}
