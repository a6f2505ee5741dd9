import type { IncomingMessage } from 'node:http';

/** The values of the cookies with this name, in the order of the header. */
export function cookieValues({ headers }: IncomingMessage, name: string): string[] {
  const prefix = `${name}=`;
  return (headers.cookie ?? '')
    .split(';')
    .map((text) => text.trim())
    .filter((text) => text.startsWith(prefix))
    .map((text) => text.slice(prefix.length));
}
