// One log line per request. It contains no data of the caller except ids that are safe to log: neither the
// path with its ids, nor the query, nor a token.

import type { BlockList } from 'node:net';
import type { Logger } from 'pino';
import { HEALTH_CHECKS } from '../endpoints/service/health.ts';
import { findClientAddress } from '../request/client-address.ts';
import type { RequestObserver } from '../request-observer.ts';
import { parseTraceId } from './trace-context.ts';

interface AccessLogOptions {
  level: 'info' | 'debug';
  /** Whether health checks that succeed are logged too. */
  hasHealthChecks: boolean;
  trustedProxies: BlockList;
}

export function accessLog(
  log: Logger,
  { level, hasHealthChecks, trustedProxies }: AccessLogOptions,
): RequestObserver {
  return (request) => {
    // Unknown once the client has disconnected.
    const address = findClientAddress(request.raw, trustedProxies);
    return (status, durationMs) => {
      const { url: path, config } = request.routeOptions;
      if (!hasHealthChecks && status === 200 && HEALTH_CHECKS.has(config.operationId ?? '')) return;
      log[level](
        {
          requestId: request.id,
          traceId: parseTraceId(request.raw.headers),
          operation: config.operationId,
          method: request.method,
          // The registered path: the one of the request may contain anything, even a token.
          path,
          status: status ?? undefined,
          durationMs: Math.round(durationMs * 1_000) / 1_000,
          apiTokenId: request.apiTokenId ?? undefined,
          address,
        },
        status === null ? 'request: the client disconnected before the response' : 'request',
      );
    };
  };
}
