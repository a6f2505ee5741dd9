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
    /** Runs before a 404 response to a person. Returns whether it has responded. */
    beforeMissingPage: (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>;
  }
}

const CONSOLE = /^\/console(?:[/?]|$)/;

/** Returns the protocol of the route. Every response below `/console` is a page, even if nothing is at the path. */
export function requestProtocol({ routeOptions, url }: FastifyRequest): Protocol | undefined {
  return CONSOLE.test(url) ? 'console' : routeOptions.config?.protocol;
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
