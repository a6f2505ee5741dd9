// One call: sent, waited for, and sent again where that is right. It knows HTTP and errors, and no operation.

import { type Answer, type AnswerHeaders, readAnswer } from './answer.ts';
import { checkedCount, checkedEntityTag, checkedTime } from './argument.ts';
import { type ErrorCode, UserGroupServiceError } from './error.ts';

/** What a replaced `fetch` is given. */
export interface FetchRequest {
  method: string;
  headers: Record<string, string>;
  body?: string;
  /** An answer that leads elsewhere is not followed: the API token goes to no other place. */
  redirect: 'manual';
  /** Aborts when the time is over, or when the caller aborts. */
  signal: AbortSignal;
}

/** What a replaced `fetch` gives: as much of a `Response` as is used. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: AnswerHeaders;
  text(): Promise<string>;
}

/** The platform's `fetch` is one, and so is undici's. */
export type Fetch = (url: string, request: FetchRequest) => Promise<FetchResponse>;

/** From JSON text to values and back. */
export interface JsonCodec {
  parse(text: string): unknown;
  stringify(value: object): string;
}

/** How calls are made, all calls of a client alike. */
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
  /** The entity tag that the group must have. */
  ifMatch?: string | undefined;
}

export interface CallOptions {
  /** Ends the call, which then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** In place of the client's. */
  timeoutMs?: number | undefined;
  /** In place of the client's. */
  maxRetries?: number | undefined;
}

/** Answers that prove that the call has changed nothing. */
const REFUSED: readonly ErrorCode[] = ['rate_limited', 'overloaded', 'shutting_down', 'request_timeout'];
/** The call may have been done, or not. */
const UNCERTAIN: readonly ErrorCode[] = ['network_error', 'timeout', 'database_unavailable'];
/** What a proxy answers for a service that is away or busy. */
const PROXY_STATUSES: readonly (number | null)[] = [429, 502, 503, 504];

/** A timer that is set for longer goes off at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const FIRST_BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 5_000;

/** Throws `UserGroupServiceError`, or the reason of the caller's signal where that aborts; a TypeError for bad options. */
export async function call<Body>(
  connection: Connection,
  request: CallRequest,
  { signal, ...options }: CallOptions,
): Promise<Answer<Body>> {
  const timeoutMs = checkedTime('timeoutMs', options.timeoutMs ?? connection.timeoutMs);
  const maxRetries = checkedCount('maxRetries', options.maxRetries ?? connection.maxRetries);
  const message = messageOf(connection, request);
  const deadline = performance.now() + timeoutMs;
  let mayBeDone = false;
  for (let attempt = 0; ; attempt++) {
    signal?.throwIfAborted();
    const limitMs = Math.min(connection.attemptTimeoutMs, deadline - performance.now());
    try {
      return await send(connection, connection.url + request.path, message, limitMs, signal);
    } catch (error) {
      if (!(error instanceof UserGroupServiceError)) throw error;
      if (mayBeDone && isGone(request, error)) return NOTHING as Answer<Body>;
      const waitMs = backoffMs(attempt, error);
      const isInTime = performance.now() + waitMs < deadline;
      if (attempt >= maxRetries || !isInTime || !mayRepeat(request, error)) throw error;
      mayBeDone ||= !REFUSED.includes(error.code);
      await sleep(waitMs, signal);
      // A busy process wakes late.
      if (performance.now() >= deadline) throw error;
    }
  }
}

/**
 * Every call can be repeated: a creation finds what it made, an update sets what it set, a rotation gives its
 * result again, a deletion finds nothing. Only a change with `If-Match` that was done is refused the second time,
 * as `version_mismatch`: such a call is repeated where it was certainly not done.
 */
function mayRepeat(request: CallRequest, { code, status }: UserGroupServiceError): boolean {
  if (REFUSED.includes(code)) return true;
  if (request.ifMatch !== undefined && request.method !== 'DELETE') return false;
  return UNCERTAIN.includes(code) || (code === 'unexpected_answer' && PROXY_STATUSES.includes(status));
}

const NOTHING: Answer<unknown> = { body: undefined, etag: '', drift: [] };

/** A deletion whose answer was lost finds nothing when it is repeated. */
function isGone(request: CallRequest, error: UserGroupServiceError): boolean {
  return request.method === 'DELETE' && error.code === 'user_group_not_found';
}

/**
 * By chance, so that clients that failed together do not come back together; but half of it for certain where no
 * `Retry-After` holds, so that a call outlasts a restart whatever chance wills.
 */
function backoffMs(attempt: number, { code, retryAfterSeconds }: UserGroupServiceError): number {
  const spreadMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempt);
  // A process that ends speaks of itself. Who waits for it may come to another one when that is being replaced.
  if (retryAfterSeconds === null || code === 'shutting_down') return ((1 + Math.random()) / 2) * spreadMs;
  return retryAfterSeconds * 1_000 + Math.random() * spreadMs;
}

type Message = Omit<FetchRequest, 'signal'>;

function messageOf({ apiToken, json }: Connection, { method, body, ifMatch }: CallRequest): Message {
  const headers: Record<string, string> = { authorization: `Token ${apiToken}` };
  if (ifMatch !== undefined) headers['if-match'] = checkedEntityTag(ifMatch);
  if (body === undefined) return { method, headers, redirect: 'manual' };
  headers['content-type'] = 'application/json';
  return { method, headers, body: json.stringify(body), redirect: 'manual' };
}

async function send<Body>(
  { fetch, json, apiToken }: Connection,
  url: string,
  message: Message,
  limitMs: number,
  signal: AbortSignal | undefined,
): Promise<Answer<Body>> {
  // Not AbortSignal.any: on Node 20 that keeps something of every attempt for as long as `signal` lives.
  const ending = new AbortController();
  const abort = (): void => ending.abort();
  signal?.addEventListener('abort', abort);
  const timer = setTimeout(abort, Math.min(limitMs, MAX_TIMER_MS));
  try {
    const response = await fetch(url, { ...message, signal: ending.signal });
    return readAnswer(message.method, response, await response.text(), (text) => json.parse(text));
  } catch (error) {
    if (error instanceof UserGroupServiceError) throw error;
    signal?.throwIfAborted();
    if (ending.signal.aborted) {
      throw new UserGroupServiceError('timeout', `No answer came within ${Math.round(limitMs)} ms.`);
    }
    throw new UserGroupServiceError('network_error', `No answer came: ${reasonOf(error, apiToken)}`);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** The messages of an error and its causes, without tokens: `fetch` tells why it failed in the cause only. */
function reasonOf(error: unknown, apiToken: string): string {
  const reasons: string[] = [];
  for (let cause = error; cause instanceof Error && reasons.length < 4; cause = cause.cause) {
    reasons.push(cause.message || ('code' in cause ? String(cause.code) : cause.name));
  }
  const reason = reasons.join(': ') || 'the reason is not known';
  return reason.replaceAll(apiToken, '[redacted]').replace(/ug[at]_\w+/g, '[redacted]');
}

function sleep(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
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
