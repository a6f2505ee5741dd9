import type { IncomingMessage } from 'node:http';

/**
 * The values of the cookies with this name, in the order of the header. Only spaces and tabs are removed before a name: for
 * browsers, one that starts with another kind of white space is another name, without the protection of `__Host-`.
 */
export function cookieValues({ headers }: IncomingMessage, name: string): string[] {
  const prefix = `${name}=`;
  return (headers.cookie ?? '')
    .split(';')
    .map((text) => text.replace(/^[ \t]+/, ''))
    .filter((text) => text.startsWith(prefix))
    .map((text) => text.slice(prefix.length).trimEnd());
}
