// Problems on the wire: RFC 9457 with `success: 0` first. Each error code has one status and one title.

import type { FastifyReply } from 'fastify';
import { redact } from '../../domain/secret.ts';
import { overloaded } from '../../operations/refusals.ts';
import { Problem, type ProblemCode } from '../../problem.ts';
import { StoreUnavailable, WaitedTooLong } from '../../store/port.ts';
import { type Protocol, requestProtocol } from '../protocol.ts';
import { loadWholePage } from './page-headers.ts';
import { sendProblemPage } from './problem-page.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';
const REALM = 'realm="user-group-service"';
/**
 * Only `oauth` has Basic, for which browsers ask for a password; proxies may forward the others to them. It is the
 * first, because many clients read only one challenge (RFC 9110 §11.6.1).
 */
const CHALLENGES = {
  api: `Token ${REALM}`,
  oauth: `Basic ${REALM}, Bearer ${REALM}, Token ${REALM}`,
  viewer: `Bearer ${REALM}`,
};
/** The errors of an OAuth endpoint, by status (RFC 6749 §5.2, as RFC 7662 §2.3 requires). */
export const oauthErrors: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'invalid_client',
};
const DEFAULT_RETRY_AFTER_SECONDS = 1;

export const problems: Readonly<Record<ProblemCode, { status: number; title: string }>> = {
  invalid_json: { status: 400, title: 'The body is not valid, unambiguous JSON' },
  invalid_request: { status: 400, title: 'The request is not valid' },
  unknown_field: { status: 400, title: 'The body has an unknown field' },
  body_missing: { status: 400, title: 'The request has no body' },
  unauthenticated: { status: 401, title: 'The API token is missing or not valid' },
  viewer_unauthenticated: { status: 401, title: 'The viewer has no valid token' },
  user_group_not_forwardable: { status: 401, title: 'The user group cannot be described in headers' },
  permission_denied: { status: 403, title: 'The API token lacks the permission' },
  origin_not_allowed: { status: 403, title: 'The origin is not allowed' },
  user_group_not_found: { status: 404, title: 'The user group does not exist' },
  user_group_token_not_found: { status: 404, title: 'The user group token is not valid' },
  api_token_not_found: { status: 404, title: 'The API token does not exist' },
  not_found: { status: 404, title: 'The path or the id does not exist' },
  method_not_allowed: { status: 405, title: 'The path does not support this method' },
  request_timeout: { status: 408, title: 'Timed out receiving the request' },
  api_token_inactive: { status: 409, title: 'The API token is revoked or expired' },
  user_group_exists: { status: 409, title: 'Another user group has the id' },
  limit_reached: { status: 409, title: 'There are as many as allowed' },
  in_use: { status: 409, title: 'User groups use it' },
  version_mismatch: { status: 412, title: 'The resource has another version' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The media type of the body is not supported' },
  mapping_invalid: { status: 422, title: 'The mapping violates the mapping policy' },
  properties_invalid: { status: 422, title: 'The properties violate the property schema' },
  claim_missing: { status: 422, title: 'The user group lacks a value' },
  claim_invalid: { status: 422, title: 'A value cannot be part of the token' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The request headers are too large' },
  internal_error: { status: 500, title: 'Internal error' },
  not_implemented: { status: 501, title: 'The service does not know this method' },
  overloaded: { status: 503, title: 'The service is overloaded' },
  database_unavailable: { status: 503, title: 'The database is unavailable' },
  shutting_down: { status: 503, title: 'The service is shutting down' },
};

export function httpStatus({ code }: Problem): number {
  return problems[code].status;
}

/** Whether the service is busy or its database unavailable, so that a retry may succeed. */
export function isUnavailable(error: unknown): boolean {
  return httpStatus(toProblem(error)) === 503;
}

/** Converts any thrown value to a problem. Details of unexpected errors are only in the log. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof WaitedTooLong) return overloaded;
  if (error instanceof StoreUnavailable) {
    return new Problem(
      'database_unavailable',
      'The database is unreachable or timed out. A change was applied completely or not at all; retry.',
      { cause: error },
    );
  }
  return new Problem(
    'internal_error',
    'The service has a bug or an unexpected failure. Its log has the details under the request id.',
    { cause: error },
  );
}

export function nothingAtPath(protocol?: Protocol): Problem {
  if (protocol === 'console') {
    return new Problem(
      'not_found',
      'The console has no page at this address. It may be mistyped or outdated.',
    );
  }
  return new Problem(
    'not_found',
    'This path does not exist: see /docs. Paths are in lower case, without a slash at the end. Percent-encode ids in ' +
      'them, including their slashes.',
  );
}

/** `allow`: the methods that the path supports. */
export function methodNotAllowed(allow: string, path = ''): Problem {
  const which = path.endsWith('/') ? 'This path, which ends with a slash,' : 'This path';
  return new Problem('method_not_allowed', `${which} supports ${allow}.`);
}

export const shuttingDown = new Problem(
  'shutting_down',
  'The service is shutting down. Retry: another process may respond.',
);

export const unreadablePath = new Problem(
  'invalid_request',
  'The path of the request is not valid percent-encoded UTF-8.',
);

/** Writes a problem; for an OAuth endpoint, with the member `error` that its clients read. */
export function problemBody(problem: Problem, requestId: string, protocol?: Protocol): string {
  const { title, status } = problems[problem.code];
  const error = protocol === 'oauth' ? oauthErrors[status] : undefined;
  const text = JSON.stringify({
    success: 0,
    type: `/errors#${problem.code}`,
    title,
    status,
    detail: problem.message,
    code: problem.code,
    request_id: requestId,
    ...(problem.errors.length > 0 && { errors: problem.errors }),
    ...(error !== undefined && { error }),
  });
  // A detail quotes names of fields, and a caller may have put a token in place of a name.
  return redact(text);
}

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const protocol = requestProtocol(reply.request);
  const { status, title } = problems[problem.code];
  const sent = problemHeaders(problem, protocol);
  reply.code(status).headers(sent);
  if (protocol === 'console') {
    loadWholePage(reply);
    const detail = redact(problem.message);
    return sendProblemPage(reply, { status, title, detail, retryAfter: sent['retry-after'] });
  }
  const isOAuthError = protocol === 'oauth' && status in oauthErrors;
  return reply
    .header('content-type', isOAuthError ? JSON_TYPE : PROBLEM_TYPE)
    .send(problemBody(problem, reply.request.id, protocol));
}

export function problemHeaders(problem: Problem, protocol?: Protocol): Record<string, string> {
  const headers: Record<string, string> = {};
  const status = httpStatus(problem);
  if (status === 401) headers['www-authenticate'] = authenticationChallenge(problem, protocol);
  if (status === 429 || status === 503) {
    headers['retry-after'] = String(problem.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS);
  }
  return headers;
}

function authenticationChallenge({ code }: Problem, protocol: Protocol | undefined): string {
  if (code !== 'unauthenticated') return CHALLENGES.viewer;
  return protocol === 'oauth' ? CHALLENGES.oauth : CHALLENGES.api;
}
