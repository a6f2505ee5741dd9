// Parses an HTTP response into a result or a `UserGroupServiceError`.

import { type FieldError, isServiceCode, UserGroupServiceError } from './error.ts';
import type { UserGroupFields } from './wire.ts';

export interface ResponseHeaders {
  get(name: string): string | null;
}

export interface ApiResponse<Body> {
  status: number;
  /** The members of the response other than `success`. */
  body: Body;
  /** Empty if the header is missing; the service rejects an empty `If-Match`. */
  etag: string;
  drift: (keyof UserGroupFields)[];
  /** JSON pointers. */
  violations: string[];
}

type Members = Readonly<Record<string, unknown>>;

/** Part of the connection that a response depends on. */
interface Reader {
  apiToken: string;
  json: { parse(text: string): unknown };
}

/** Throws `UserGroupServiceError` if the response is an error. */
export function readResponse<Body>(
  method: string,
  { status, headers }: { status: number; headers: ResponseHeaders },
  text: string,
  { apiToken, json }: Reader,
): ApiResponse<Body> {
  // Only DELETE has a response without a body.
  const { success, ...body } =
    status === 204 && method === 'DELETE' ? { success: 1 } : parseMembers(text, json);
  // Compares text, because a codec may have its own number type, and `"success": true` comes from another
  // service.
  const isSuccess = status >= 200 && status <= 299 && String(success) === '1';
  if (!isSuccess) {
    // The service never echoes the API token, but something else at the URL may.
    throw serviceError(status, headers, parseMembers(text.replaceAll(apiToken, '[redacted]'), json));
  }
  const drift = headers.get('user-group-drift')?.split(', ') ?? [];
  const violations = headers.get('user-group-violations')?.split(', ') ?? [];
  return {
    status,
    body: body as Body,
    etag: headers.get('etag') ?? '',
    drift: drift as ApiResponse<Body>['drift'],
    violations: violations.map(decoded),
  };
}

/** Returns the text itself if its percent-encoding is invalid: the call has succeeded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns an empty object if the text is not a JSON object, such as the error page of a proxy. */
function parseMembers(text: string, json: Reader['json']): Members {
  try {
    return Object(json.parse(text)) as Members;
  } catch {
    return {};
  }
}

function serviceError(status: number, headers: ResponseHeaders, body: Members): UserGroupServiceError {
  const { code, errors } = body;
  const isKnown = isServiceCode(code) && typeof body.detail === 'string';
  return new UserGroupServiceError(isKnown ? code : 'unexpected_answer', messageOf(status, body), {
    status,
    requestId: headers.get('x-request-id'),
    errors: Array.isArray(errors) ? (errors as FieldError[]) : [],
    retryAfterSeconds: retryAfterSeconds(headers),
  });
}

/** Returns the `detail` of the service, also for an error code that is newer than this client. */
function messageOf(status: number, { success, code, detail }: Members): string {
  if (typeof detail === 'string' && isServiceCode(code)) return detail;
  if (typeof detail === 'string' && typeof code === 'string' && String(success) === '0') {
    return `${detail} (status ${status}, code ${code}, which is newer than this client)`;
  }
  return `Unexpected response with status ${status}: check the URL, and the proxy in front of the service if there is one.`;
}

/**
 * Reads seconds or a date (RFC 9110 §10.2.3), because proxies send both. A date is relative to the clock of
 * the proxy, which the header `Date` shows.
 */
function retryAfterSeconds(headers: ResponseHeaders): number | null {
  const header = headers.get('retry-after');
  if (header === null) return null;
  const now = Date.parse(headers.get('date') ?? '') || Date.now();
  // `Date.parse` would read "1.5" as a date, too.
  const isDate = /^[a-z]/i.test(header);
  const seconds = isDate ? (Date.parse(header) - now) / 1_000 : Number.parseFloat(header);
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}
