// One log line per request. It contains no data of the caller except ids that are safe to log: neither the
// path with its ids, nor the query, nor a token.

import type { Logger } from 'pino';
import type { Config } from '../../config.ts';
import { HEALTH_CHECKS } from '../endpoints/service/health.ts';
import { findClientAddress } from '../request/client-address.ts';
import type { RequestObserver } from '../request-observer.ts';
import { parseTraceId } from './trace-context.ts';

/** Returns undefined if nothing would be logged. */
export function accessLog(
  log: Logger,
  { accessLog: mode, trustedProxies }: Config,
): RequestObserver | undefined {
  const level = mode === 'off' ? 'debug' : 'info';
  if (!log.isLevelEnabled(level)) return undefined;
  return (request) => {
    // Unknown once the client has disconnected.
    const address = findClientAddress(request.raw, trustedProxies);
    return (status, durationMs) => {
      const { url: path, config } = request.routeOptions;
      if (mode === 'on' && status === 200 && HEALTH_CHECKS.has(config.operationId ?? '')) return;
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
