// Counts the requests of each API token in this process.

import type { FastifyReply } from 'fastify';
import type { Caller } from '../../domain/api-token.ts';
import { Problem } from '../../problem.ts';
import { WindowCounts } from '../../scheduling/window-counts.ts';

/** Adds the headers of the limit to the response. Throws `rate_limited`. */
export type RateLimit = (caller: Caller, reply: Pick<FastifyReply, 'header'>) => void;

const MINUTE_SECONDS = 60;
const POLICY = '"api-token"';
/** Maximum number of API tokens. Beyond it the one whose minute began first is forgotten. */
const MAX_API_TOKENS = 65_536;

/** Allocates memory that all threads of the process share. Returns null for 0, which means no limit. */
export function rateLimitMemory(requestsPerMinute: number): SharedArrayBuffer | null {
  return requestsPerMinute === 0 ? null : WindowCounts.allocate(MAX_API_TOKENS);
}

export function rateLimit(requestsPerMinute: number, memory: SharedArrayBuffer): RateLimit {
  const counts = new WindowCounts(memory);
  const policy = `${POLICY};q=${requestsPerMinute};w=${MINUTE_SECONDS}`;
  return ({ apiTokenId }, reply) => {
    const { count, secondsLeft } = counts.add(String(apiTokenId));
    // draft-ietf-httpapi-ratelimit-headers-11
    reply.header('ratelimit-policy', policy);
    reply.header('ratelimit', `${POLICY};r=${Math.max(0, requestsPerMinute - count)};t=${secondsLeft}`);
    if (count <= requestsPerMinute) return;
    throw rateLimited(requestsPerMinute, secondsLeft);
  };
}

export function rateLimited(requestsPerMinute: number, retryAfterSeconds: number): Problem {
  const detail = `This API token is limited to ${requestsPerMinute} requests per minute.`;
  return new Problem('rate_limited', detail, { retryAfterSeconds });
}
