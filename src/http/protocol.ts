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
    /** Run before a 404 response, by the first part of the path. Each returns whether it has responded. */
    beforeNotFound: Map<string, (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>>;
  }
}

/**
 * Returns the protocol of the route, or of the first part of the path, below which every response follows the
 * protocol, even if nothing is at the path.
 */
export function requestProtocol({ routeOptions, server, url }: FastifyRequest): Protocol | undefined {
  return server.pathProtocols.get(firstPart(url)) ?? routeOptions.config?.protocol;
}

/** Returns the first part of the path, which may be encoded. */
export function firstPart(url: string): string {
  return url.split(/[/?]/, 2)[1] ?? '';
}

/** Matches an encoded character in the first part of a path, also of an absolute URL. */
const ENCODED_START = /^(?:[a-z]+:\/\/[^/?]*)?\/[^/?]*%/i;

/**
 * Whether the first part of the path is encoded. Nothing is there: a proxy that blocks, for example, `/console` may
 * not decode paths.
 */
export function hasEncodedStart(url: string): boolean {
  return url.includes('%') && ENCODED_START.test(url);
}
