// What a caller gives, checked before anything is sent: where it could not arrive as it is, a TypeError says so at once.
// What arrives and is wrong, the service refuses.

export function checkedUrl(url: string | URL): string {
  // The error of `new URL` would show a password.
  if (URL.canParse(url)) {
    const { protocol, username, password, search, hash, origin, pathname } = new URL(url);
    const isPlain = [username, password, search, hash].every((part) => part === '');
    if (isPlain && (protocol === 'http:' || protocol === 'https:'))
      return (origin + pathname).replace(/\/+$/, '');
  }
  throw new TypeError(
    'The url must be one of http or https without user name, password, query and fragment.',
  );
}

/** `fetch` would show a token that no header can carry in its error. */
export function checkedToken(apiToken: string): string {
  if (typeof apiToken === 'string' && /^[\x21-\x7e]+$/.test(apiToken)) return apiToken;
  throw new TypeError('The apiToken must be a text of visible ASCII characters.');
}

/** Infinity is no limit. */
export function checkedTime(name: string, durationMs: number): number {
  if (typeof durationMs === 'number' && durationMs > 0) return durationMs;
  throw new TypeError(`${name} must be a number of milliseconds, more than 0.`);
}

/** Infinity is no limit. */
export function checkedCount(name: string, count: number): number {
  if (typeof count === 'number' && count >= 0) return count;
  throw new TypeError(`${name} must be a number, 0 or more.`);
}

export function checkedEntityTag(ifMatch: string): string {
  if (typeof ifMatch === 'string' && /^[\x20-\x7e]*$/.test(ifMatch)) return ifMatch;
  throw new TypeError('The ifMatch must be an etag as an answer had it, which is ASCII.');
}

export function pathOf(userGroupId: string): string {
  const id = wellFormed('The id of a user group', userGroupId);
  // A URL takes "." and ".." for steps, also where they are percent-encoded.
  if (['', '.', '..'].includes(id))
    throw new TypeError(`The path of a URL cannot name a user group "${id}".`);
  return `/v1/user-groups/${encodeURIComponent(id)}`;
}

/** In a URL half of a surrogate pair would become another character, and a missing value the word "undefined". */
export function wellFormed(name: string, text: string): string {
  if (typeof text === 'string' && !/\p{Surrogate}/u.test(text)) return text;
  throw new TypeError(`${name} must be a text without lone surrogates.`);
}
