import type { IncomingMessage } from 'node:http';

/**
 * Returns the values of the cookies with this name, in the order of the header. Removes only spaces and tabs
 * before a name: to browsers, a name after other white space is a different name, without the protection of
 * `__Host-`.
 */
export function cookieValues({ headers }: IncomingMessage, name: string): string[] {
  // Avoids a list of all cookies: a header may have thousands, and is read before the arrival limit.
  const cookie = new RegExp(`(?:^|;)[ \\t]*${name}=([^;]*)`, 'g');
  return Array.from((headers.cookie ?? '').matchAll(cookie), ([, value]) => value!.trimEnd());
}
