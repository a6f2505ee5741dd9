// The headers of pages for people: nothing from other origins, no inline scripts, only the allowed styles, no frames.

import type { FastifyReply } from 'fastify';

export const pageHeaders = pageHeadersWith("'self'");

/** `styles` is the source of styles that the policy allows. */
export function pageHeadersWith(styles: string) {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      `default-src 'none'; script-src 'self'; style-src ${styles}; img-src 'self' data:; connect-src 'self'; ` +
      "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    // With no-referrer, browsers would send no origin with forms either.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  };
}

/** Makes the live search load the whole page of an error, in which it would look for its results. */
export function loadWholePage(reply: FastifyReply): void {
  const { headers, url } = reply.request;
  if (headers['hx-request'] === 'true') reply.header('hx-redirect', url);
}
