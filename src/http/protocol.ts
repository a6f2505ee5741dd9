// Endpoints whose requests follow the rules of a standard or of proxies instead of those of this API.

/**
 * oauth: RFC 7662. The API token may be sent as Bearer or Basic, and errors have the member `error`.
 *
 * forward-auth: a proxy sends the headers and the query of a viewer's request. Its origin and its preconditions are those
 * of the viewer's browser and mean nothing here.
 */
export type Protocol = 'oauth' | 'forward-auth';

declare module 'fastify' {
  interface FastifyContextConfig {
    protocol?: Protocol;
  }
}
