// Makes one API call with timeouts, retries and backoff. Knows HTTP and error codes, but no individual
// operation.

import { checkedCount, checkedEntityTag, checkedTime } from './argument.ts';
import { type ErrorCode, UserGroupServiceError } from './error.ts';
import { type ApiResponse, type ResponseHeaders, readResponse } from './response.ts';

/** Request that is passed to `fetch`. */
export interface FetchRequest {
  method: string;
  headers: Record<string, string>;
  body?: string;
  /** Redirects are not followed, so that the API token is never sent to another host. */
  redirect: 'manual';
  /** Next.js 14 caches `fetch`, and so renders a page with the token of a customer at build time, for everyone. */
  cache: 'no-store';
  /** Aborts on timeout, or when the caller aborts. */
  signal: AbortSignal;
}

/** Part of a `Response` that the client uses. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  text(): Promise<string>;
}

/** Compatible with the `fetch` of the platform and of undici. */
export type Fetch = (url: string, request: FetchRequest) => Promise<FetchResponse>;

/** Parses and serializes JSON. */
export interface JsonCodec {
  parse(text: string): unknown;
  stringify(value: object): string;
}

/** Settings that all calls of a client share. */
export interface Connection {
  url: string;
  apiToken: string;
  fetch: Fetch;
  json: JsonCodec;
  timeoutMs: number;
  attemptTimeoutMs: number;
  maxRetries: number;
}

export interface CallRequest {
  method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  body?: object;
  /** Precondition: the group has this entity tag. */
  ifMatch?: string | undefined;
  /** Precondition: the group does not have this entity tag; with `*`, the group does not exist. */
  ifNoneMatch?: string | undefined;
  /** false if repeating the call has another effect; true if absent. */
  isIdempotent?: false;
}

export interface CallOptions {
  /** Aborts the call, which then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Overrides the timeout of the client. */
  timeoutMs?: number | undefined;
  /** Overrides the limit of the client. */
  maxRetries?: number | undefined;
}

/** Errors that guarantee that the call has changed nothing. */
const REFUSED: readonly ErrorCode[] = ['rate_limited', 'overloaded', 'shutting_down', 'request_timeout'];
/** Errors after which the call may or may not have taken effect. */
const UNCERTAIN: readonly ErrorCode[] = ['network_error', 'timeout', 'database_unavailable'];
/** Statuses that a proxy returns if the service is unreachable or busy. */
const PROXY_STATUSES: readonly (number | null)[] = [429, 502, 503, 504];

/** Maximum delay of a timer; a longer one fires immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const FIRST_BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 5_000;

/**
 * Makes the call. Throws `UserGroupServiceError`, the reason of the caller's signal if it aborts, or a
 * TypeError for invalid options.
 */
export async function call<Body>(
  connection: Connection,
  request: CallRequest,
  { signal, ...options }: CallOptions,
): Promise<ApiResponse<Body>> {
  const timeoutMs = checkedTime('timeoutMs', options.timeoutMs ?? connection.timeoutMs);
  const maxRetries = checkedCount('maxRetries', options.maxRetries ?? connection.maxRetries);
  const message = toMessage(connection, request);
  const deadline = performance.now() + timeoutMs;
  let mayHaveSucceeded = false;
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted();
    const limitMs = Math.min(connection.attemptTimeoutMs, deadline - performance.now());
    try {
      return await send(connection, connection.url + request.path, message, limitMs, signal);
    } catch (error) {
      if (!(error instanceof UserGroupServiceError)) throw error;
      if (mayHaveSucceeded && isAlreadyDeleted(request, error)) return EMPTY as ApiResponse<Body>;
      const waitMs = backoffMs(attempt, error);
      const isInTime = performance.now() + waitMs < deadline;
      if (attempt >= maxRetries || !isInTime || !isRetryable(request, error)) throw error;
      mayHaveSucceeded ||= !REFUSED.includes(error.code);
      await sleep(waitMs, signal);
      // In a busy process, the timer may fire late.
      if (performance.now() >= deadline) throw error;
    }
  }
}

/**
 * Whether to retry the call. Idempotent calls are retried: a create returns the existing group, an update
 * sets the same values, a rotation by token returns the same token, a deletion finds no group. A repeated
 * call with a precondition would fail with `version_mismatch`, and a repeated rotation by id would rotate
 * twice: these are retried only if they certainly had no effect.
 */
function isRetryable(request: CallRequest, { code, status }: UserGroupServiceError): boolean {
  if (REFUSED.includes(code)) return true;
  const isConditional = request.ifMatch !== undefined || request.ifNoneMatch !== undefined;
  if (request.isIdempotent === false || (isConditional && request.method !== 'DELETE')) return false;
  return UNCERTAIN.includes(code) || (code === 'unexpected_answer' && PROXY_STATUSES.includes(status));
}

const EMPTY: ApiResponse<unknown> = { status: 204, body: undefined, etag: '', drift: [], violations: [] };

/**
 * Whether the error of a retried deletion means that an earlier attempt succeeded and its response was lost.
 */
function isAlreadyDeleted(request: CallRequest, error: UserGroupServiceError): boolean {
  return request.method === 'DELETE' && (error.code === 'user_group_not_found' || error.code === 'not_found');
}

/**
 * Returns an exponential backoff with jitter, so that clients that failed together do not retry together.
 * Without `Retry-After`, jitter applies to only half of the delay, so that the retries always outlast a
 * restart of the service.
 */
function backoffMs(attempt: number, { code, retryAfterSeconds }: UserGroupServiceError): number {
  const exponentialMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempt);
  // The `Retry-After` of a process that is shutting down does not apply to other processes, which may already
  // be up.
  if (retryAfterSeconds === null || code === 'shutting_down')
    return ((1 + Math.random()) / 2) * exponentialMs;
  return retryAfterSeconds * 1_000 + Math.random() * exponentialMs;
}

type Message = Omit<FetchRequest, 'signal'>;

function toMessage({ apiToken, json }: Connection, request: CallRequest): Message {
  const { method, body, ifMatch, ifNoneMatch } = request;
  // Refuses compression, because a proxy that compresses a response changes its entity tag, and no `ifMatch`
  // would meet the changed one.
  const headers: Record<string, string> = {
    authorization: `Token ${apiToken}`,
    'accept-encoding': 'identity',
  };
  if (ifMatch !== undefined) headers['if-match'] = checkedEntityTag('ifMatch', ifMatch);
  if (ifNoneMatch !== undefined) headers['if-none-match'] = checkedEntityTag('ifNoneMatch', ifNoneMatch);
  const fixed = { method, headers, redirect: 'manual', cache: 'no-store' } as const;
  if (body === undefined) return fixed;
  headers['content-type'] = 'application/json';
  return { ...fixed, body: json.stringify(body) };
}

async function send<Body>(
  { fetch, json, apiToken }: Connection,
  url: string,
  message: Message,
  limitMs: number,
  signal: AbortSignal | undefined,
): Promise<ApiResponse<Body>> {
  // Not AbortSignal.any, which on Node 20 leaks memory per attempt until `signal` is garbage collected.
  const attempt = new AbortController();
  const abort = (): void => attempt.abort();
  signal?.addEventListener('abort', abort);
  const timer = setTimeout(abort, Math.min(limitMs, MAX_TIMER_MS));
  // Does not rely on `fetch`: on Node 20, it never settles if a body is not in its `Content-Encoding`.
  const aborted = new Promise<never>((_, reject) => attempt.signal.addEventListener('abort', reject));
  try {
    const sent = fetch(url, { ...message, signal: attempt.signal });
    const response = await Promise.race([sent, aborted]);
    const text = await Promise.race([response.text(), aborted]);
    return readResponse(message.method, response, text, { apiToken, json });
  } catch (error) {
    if (error instanceof UserGroupServiceError) throw error;
    // Tells Next.js to render the page for each request; only errors of frameworks have a digest.
    if (isError(error) && 'digest' in error) throw error;
    signal?.throwIfAborted();
    if (attempt.signal.aborted) {
      throw new UserGroupServiceError('timeout', `Timed out: no response within ${Math.round(limitMs)} ms.`);
    }
    throw new UserGroupServiceError(
      'network_error',
      `No response from the service: ${failureReason(error, apiToken)}`,
    );
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** Joins the messages of an error and its causes, without tokens: `fetch` reports the reason only in the cause. */
function failureReason(error: unknown, apiToken: string): string {
  const reasons: string[] = [];
  for (let cause = error; isError(cause) && reasons.length < 4; cause = cause.cause) {
    reasons.push(cause.message || ('code' in cause ? String(cause.code) : cause.name));
  }
  const reason = reasons.join(': ') || 'unknown reason';
  return reason.replaceAll(apiToken, '[redacted]').replace(/ug[at]_\w+/g, '[redacted]');
}

/** Not `instanceof`: Jest runs tests in another realm than `fetch`, which has an `Error` of its own. */
function isError(value: unknown): value is Error {
  return typeof value === 'object' && value !== null && 'message' in value;
}

export function sleep(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, Math.min(durationMs, MAX_TIMER_MS));
    signal?.addEventListener('abort', end);
  });
}
