// Requests that follow the rules of a standard, of proxies or of browsers instead of those of this API.

import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * oauth: RFC 7662. The API token may also be sent as Basic, and errors have the member `error`.
 *
 * forward-auth: a proxy sends the headers of a viewer's request. Its origin and its preconditions are those of the viewer's
 * browser and mean nothing here.
 *
 * console: a person reads the responses in a browser, so errors are pages.
 */
export type Protocol = 'oauth' | 'forward-auth' | 'console';

declare module 'fastify' {
  interface FastifyContextConfig {
    protocol?: Protocol;
  }
  interface FastifyInstance {
    /** Protocols by the first part of the path. */
    pathProtocols: Map<string, Protocol>;
    /** Keyed by the first part of the path. Returns whether it has responded itself. */
    beforeNotFound: Map<string, (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>>;
  }
}

/**
 * The protocol of a request: that of its route, or of the first part of its path, where every response follows the
 * protocol, also if nothing is at the path.
 */
export function requestProtocol({ routeOptions, server, url }: FastifyRequest): Protocol | undefined {
  return server.pathProtocols.get(firstPart(url)) ?? routeOptions.config?.protocol;
}

/** The first part of a path. */
export function firstPart(url: string): string {
  return url.split(/[/?]/, 2)[1] ?? '';
}
