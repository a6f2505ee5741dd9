import type { IncomingMessage } from 'node:http';

/**
 * Returns the values of the cookies with this name, in the order of the header. Removes only spaces and tabs
 * before a name: to browsers, a name after other white space is a different name, without the protection of
 * `__Host-`.
 */
export function cookieValues({ headers }: IncomingMessage, name: string): string[] {
  const prefix = `${name}=`;
  return (headers.cookie ?? '')
    .split(';')
    .map((text) => text.replace(/^[ \t]+/, ''))
    .filter((text) => text.startsWith(prefix))
    .map((text) => text.slice(prefix.length).trimEnd());
}
