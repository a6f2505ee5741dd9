// The token of the viewer whose request a proxy asks about. `Authorization` has the API token of the proxy.

import type { IncomingMessage } from 'node:http';
import { PresentedToken } from '../../domain/token.ts';
import { cookieValues } from './cookie.ts';
import { bearerToken } from './credentials.ts';

/** Proxies may copy the viewer's `Authorization` header into it. */
export const VIEWER_TOKEN_HEADER = 'X-User-Group-Token';
export const VIEWER_TOKEN_COOKIE = 'user_group_token';

const HEADER = VIEWER_TOKEN_HEADER.toLowerCase();

/**
 * Returns the token of the header or, if that is absent or empty, of the cookie; null if there is none, or
 * more than one cookie. The cookie never replaces a header that is not valid.
 */
export function presentedViewerToken(request: IncomingMessage): PresentedToken | null {
  // Node joins repeated headers with a comma and a space, which no token contains.
  const header = request.headers[HEADER] as string | undefined;
  const token = header ? (bearerToken(header) ?? header) : viewerCookie(request);
  return token === null ? null : new PresentedToken(token);
}

function viewerCookie(request: IncomingMessage): string | null {
  const [value, ...others] = cookieValues(request, VIEWER_TOKEN_COOKIE);
  // A page on a sibling domain can set a second one, and which comes first is up to it.
  return value === undefined || others.length > 0 ? null : value;
}
