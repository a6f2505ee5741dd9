// Counts the requests of each API token in this process.

import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Caller } from '../domain/api-token.ts';
import { Problem } from '../problem.ts';

/** Rejects with `rate_limited`. */
export type RateLimit = (caller: Caller) => Promise<void>;

const MINUTE_SECONDS = 60;

/** Returns null if 0: no limit. */
export function rateLimit(requestsPerMinute: number): RateLimit | null {
  if (requestsPerMinute === 0) return null;
  const limiter = new RateLimiterMemory({ points: requestsPerMinute, duration: MINUTE_SECONDS });
  return async (caller) => {
    try {
      await limiter.consume(caller.apiTokenId!);
    } catch (rejection) {
      if (!(rejection instanceof RateLimiterRes)) throw rejection;
      // The library uses the system clock, which may have been set back; its window still ends after a minute.
      const seconds = Math.ceil(rejection.msBeforeNext / 1_000);
      const retryAfterSeconds = Math.min(Math.max(1, seconds), MINUTE_SECONDS);
      throw new Problem(
        'rate_limited',
        `This API token is limited to ${requestsPerMinute} requests per minute.`,
        { retryAfterSeconds },
      );
    }
  };
}
