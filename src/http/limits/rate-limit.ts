// Counts the requests of each API token in this process.

import type { FastifyReply } from 'fastify';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Caller } from '../../domain/api-token.ts';
import { Problem } from '../../problem.ts';

/** Adds the headers of the limit to the response. Rejects with `rate_limited`. */
export type RateLimit = (caller: Caller, reply: Pick<FastifyReply, 'header'>) => Promise<void>;

const MINUTE_SECONDS = 60;
const POLICY = '"api-token"';

/** Returns null if 0: no limit. */
export function rateLimit(requestsPerMinute: number): RateLimit | null {
  if (requestsPerMinute === 0) return null;
  const limiter = new RateLimiterMemory({ points: requestsPerMinute, duration: MINUTE_SECONDS });
  const policy = `${POLICY};q=${requestsPerMinute};w=${MINUTE_SECONDS}`;
  return async ({ apiTokenId }, reply) => {
    const { remainingPoints, msBeforeNext, isExceeded } = await consume(limiter, apiTokenId!);
    // The library uses the system clock, which may have been set back; its window still ends after a minute.
    const seconds = Math.min(Math.max(1, Math.ceil(msBeforeNext / 1_000)), MINUTE_SECONDS);
    // draft-ietf-httpapi-ratelimit-headers-11
    reply.header('ratelimit-policy', policy);
    reply.header('ratelimit', `${POLICY};r=${remainingPoints};t=${seconds}`);
    if (!isExceeded) return;
    const detail = `This API token is limited to ${requestsPerMinute} requests per minute.`;
    throw new Problem('rate_limited', detail, { retryAfterSeconds: seconds });
  };
}

type Consumed = Pick<RateLimiterRes, 'remainingPoints' | 'msBeforeNext'> & { isExceeded: boolean };

async function consume(limiter: RateLimiterMemory, key: number): Promise<Consumed> {
  try {
    const { remainingPoints, msBeforeNext } = await limiter.consume(key);
    return { remainingPoints, msBeforeNext, isExceeded: false };
  } catch (rejection) {
    if (!(rejection instanceof RateLimiterRes)) throw rejection;
    return { remainingPoints: 0, msBeforeNext: rejection.msBeforeNext, isExceeded: true };
  }
}
