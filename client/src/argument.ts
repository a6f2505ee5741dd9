// Checks arguments before a request is sent. Values that cannot be transmitted unchanged throw a TypeError;
// all other validation is left to the service.

const UNSET = /^\s*(?:undefined|null)?\s*$/;

export function checkedUrl(url: string | URL | undefined): string {
  if (UNSET.test(String(url ?? ''))) {
    throw new TypeError('url is not set: check the environment variable that it is read from.');
  }
  // The error of `new URL` would reveal a password.
  if (url !== undefined && URL.canParse(url)) {
    const { protocol, username, password, search, hash, origin, pathname } = new URL(url);
    const isPlain = [username, password, search, hash].every((part) => part === '');
    if (isPlain && (protocol === 'http:' || protocol === 'https:'))
      return (origin + pathname).replace(/\/+$/, '');
  }
  throw new TypeError('url must be an http or https URL without user name, password, query and fragment.');
}

/** Mistakes in a token; the first match is reported. No message contains the token. */
const TOKEN_FAULTS: readonly (readonly [RegExp, string])[] = [
  [UNSET, 'is not set: check the environment variable that it is read from, such as process.env.API_TOKEN.'],
  [/^token\s/i, 'starts with "Token ", which the client adds itself: pass the token alone.'],
  [/^bearer\s/i, 'starts with "Bearer ", which the client does not use: pass the token alone.'],
  [/^authorization:/i, 'starts with "Authorization:", which the client adds itself: pass the token alone.'],
  [/^\s|\s$/, 'starts or ends with whitespace: trim it, for example after reading it from a file.'],
  [/^["']|["']$/, 'is in quotation marks: pass the token alone.'],
  // The error of `fetch` would reveal the token.
  [/[^\x21-\x7e]/, 'must contain only visible ASCII characters.'],
];

export function checkedToken(apiToken: string | undefined): string {
  const token = typeof apiToken === 'string' ? apiToken : '';
  const [, fault] = TOKEN_FAULTS.find(([pattern]) => pattern.test(token)) ?? [];
  if (fault === undefined) return token;
  throw new TypeError(`apiToken ${fault}`);
}

/** Throws for anything but a positive number; Infinity means no limit. */
export function checkedTime(name: string, durationMs: number): number {
  if (typeof durationMs === 'number' && durationMs > 0) return durationMs;
  throw new TypeError(`${name} must be a number of milliseconds greater than 0.`);
}

/** Throws for anything but a number of 0 or more; Infinity means no limit. */
export function checkedCount(name: string, count: number): number {
  if (typeof count === 'number' && count >= 0) return count;
  throw new TypeError(`${name} must be a number, 0 or more.`);
}

export function checkedEntityTag(name: string, etag: string): string {
  if (typeof etag === 'string' && /^[\x20-\x7e]*$/.test(etag)) return etag;
  throw new TypeError(`${name} must be the etag of a response, which is ASCII, or "*".`);
}

export function userGroupPath(userGroupId: string): string {
  return `/v1/user-groups/${pathSegment('userGroupId', 'user group', userGroupId)}`;
}

export function webhookEndpointPath(webhookEndpointId: string): string {
  return `/v1/webhook-endpoints/${pathSegment('webhookEndpointId', 'webhook endpoint', webhookEndpointId)}`;
}

export function webhookDeliveryPath(webhookEndpointId: string, eventId: string): string {
  return `${webhookEndpointPath(webhookEndpointId)}/deliveries/${pathSegment('eventId', 'event', eventId)}`;
}

/** Returns the id as a path segment. `name` is the name of the argument. */
export function pathSegment(name: string, noun: string, text: string): string {
  const id = wellFormed(name, text);
  // URLs treat "." and ".." as path segments to resolve, even when percent-encoded.
  if (['', '.', '..'].includes(id)) throw new TypeError(`A URL path cannot contain the ${noun} id "${id}".`);
  return encodeURIComponent(id);
}

export function apiTokenPath(apiTokenId: number): string {
  if (Number.isSafeInteger(apiTokenId) && apiTokenId > 0) return `/v1/api-tokens/${apiTokenId}`;
  throw new TypeError('apiTokenId must be the api_token_id of an API token, a positive integer.');
}

/**
 * Throws for a lone surrogate, which becomes another character in a URL, and for a missing value, which
 * becomes "undefined".
 */
export function wellFormed(name: string, text: string): string {
  if (isWellFormed(text)) return text;
  throw new TypeError(`${name} must be a string without lone surrogates.`);
}

/** Throws for an undefined value, which JSON omits: the token would show everything of the user group. */
export function checkNarrow(request: { readonly narrow?: object }): void {
  if (!('narrow' in request)) return;
  const { narrow } = request;
  if (narrow !== undefined && !Object.values(narrow ?? {}).includes(undefined)) return;
  throw new TypeError(
    'narrow and its values must not be undefined: they would not restrict the viewer. Pass {} for one who may see everything.',
  );
}

/** Throws for a filter that is present but undefined: without it, the result has the data of all user groups. */
export function checkFilter<Query extends object>(query: Query, name: keyof Query & string): void {
  if (!(name in query) || query[name] !== undefined) return;
  throw new TypeError(`${name} must not be undefined: omit it if you want the data of all user groups.`);
}

/** Maximum length of a token to send: much longer than any token, and much shorter than the maximum body. */
const MAX_TOKEN_LENGTH = 4_096;

/** Returns false if the service cannot know the token, so that no request is needed. */
export function canBeToken(token: unknown): token is string {
  return isWellFormed(token) && token !== '' && token.length <= MAX_TOKEN_LENGTH;
}

function isWellFormed(text: unknown): text is string {
  return typeof text === 'string' && !/\p{Surrogate}/u.test(text);
}
