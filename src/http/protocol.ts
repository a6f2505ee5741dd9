// Requests that follow the rules of a standard, of proxies or of browsers instead of those of this API.

import type { FastifyRequest } from 'fastify';

/**
 * oauth: RFC 7662. The API token may also be sent as Basic, and errors have the member `error`.
 *
 * forward-auth: a proxy sends the headers and the query of a viewer's request. Its origin and its preconditions are those
 * of the viewer's browser and mean nothing here, and neither does `Authorization: Bearer`.
 *
 * console: a person reads the responses in a browser, so errors are pages.
 */
export type Protocol = 'oauth' | 'forward-auth' | 'console';

declare module 'fastify' {
  interface FastifyContextConfig {
    protocol?: Protocol;
  }
}

const CONSOLE = /^\/console(?:[/?]|$)/;

/** By the path for the console: also if there is no page, and so no route that could name its protocol. */
export function protocolOf({ routeOptions, url }: FastifyRequest): Protocol | undefined {
  return CONSOLE.test(url) ? 'console' : routeOptions.config?.protocol;
}
