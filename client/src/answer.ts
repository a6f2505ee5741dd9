// From what came over the network to an answer, or to the error that it tells of.

import { type FieldError, isServiceCode, UserGroupServiceError } from './error.ts';

export interface AnswerHeaders {
  get(name: string): string | null;
}

export interface Answer<Body> {
  body: Body;
  /** Empty where there is none, which the service refuses as an `If-Match`. */
  etag: string;
  drift: ('name' | 'mapping' | 'properties')[];
}

type Members = Readonly<Record<string, unknown>>;

/** Throws `UserGroupServiceError` where the answer is no success. */
export function readAnswer<Body>(
  method: string,
  { status, headers }: { status: number; headers: AnswerHeaders },
  text: string,
  parse: (text: string) => unknown,
): Answer<Body> {
  // Only a deletion is answered without a body.
  const body = status === 204 && method === 'DELETE' ? { success: 1 } : membersOf(text, parse);
  // As text: a codec has its own kind of number, and others mean something else by `"success": true`.
  const isSuccess = status >= 200 && status <= 299 && String(body.success) === '1';
  if (!isSuccess) throw errorOf(status, headers, body);
  const drift = headers.get('user-group-drift')?.split(', ') ?? [];
  return { body: body as Body, etag: headers.get('etag') ?? '', drift: drift as Answer<Body>['drift'] };
}

/** None where the text is no JSON object, as that of a proxy. */
function membersOf(text: string, parse: (text: string) => unknown): Members {
  try {
    return Object(parse(text)) as Members;
  } catch {
    return {};
  }
}

function errorOf(
  status: number,
  headers: AnswerHeaders,
  { code, detail, errors }: Members,
): UserGroupServiceError {
  const isKnown = isServiceCode(code) && typeof detail === 'string';
  const message = isKnown
    ? detail
    : `The answer is not one that this client knows (status ${status}): is the URL that of the service?`;
  return new UserGroupServiceError(isKnown ? code : 'unexpected_answer', message, {
    status,
    requestId: headers.get('x-request-id'),
    errors: Array.isArray(errors) ? (errors as FieldError[]) : [],
    retryAfterSeconds: retryAfterSeconds(headers.get('retry-after')),
  });
}

/** Seconds or a date (RFC 9110 §10.2.3): proxies send both. */
function retryAfterSeconds(header: string | null): number | null {
  if (header === null) return null;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}
