// The tenant of a page before its session is authenticated: otherwise pages would wait for the requests of unknown callers.

import type { FastifyRequest } from 'fastify';
import type { EndpointOptions } from '../../http/endpoint.ts';
import { UNKNOWN_TENANT } from '../../scheduling/fair-queue.ts';
import { digestOfSession, requestSession } from '../session/session.ts';

/** Returns the tenant (a workspace id) that a request with a session is probably from. */
export function guessTenant(
  { context, prefetcher }: Pick<EndpointOptions, 'context' | 'prefetcher'>,
  request: FastifyRequest,
): number {
  const session = requestSession(context, request);
  return session === null ? UNKNOWN_TENANT : prefetcher.guessTenantOf(digestOfSession(session));
}
