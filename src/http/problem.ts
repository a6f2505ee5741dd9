// How a problem looks on the wire: RFC 9457 with `success: 0` in front, whatever raised it.

import type { FastifyReply } from 'fastify';
import { redact } from '../domain/secret.ts';
import { Problem, problems } from '../problem.ts';
import { StoreUnavailable } from '../store/store.ts';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';
const AUTHENTICATION_CHALLENGE = 'Token realm="user-group-service"';
const DEFAULT_RETRY_AFTER_SECONDS = 1;

/** What the caller is told of anything that was thrown. What is no `Problem` is told without detail. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof StoreUnavailable) {
    return new Problem(
      'database_unavailable',
      'The database cannot be asked now. Nothing was changed, or the change is whole; try again.',
      {
        cause: error,
      },
    );
  }
  return new Problem(
    'internal_error',
    'The service has met a mistake of its own. Its log has the details under the request id.',
    {
      cause: error,
    },
  );
}

export function nothingAtPath(): Problem {
  return new Problem(
    'not_found',
    'This service has nothing at this path: /docs lists what there is. An id in a path is percent-encoded, its slashes too.',
  );
}

export function unreadablePath(): Problem {
  return new Problem(
    'invalid_request',
    'The path of the request cannot be read: percent-encode the UTF-8 of an id.',
  );
}

export function problemBody(problem: Problem, requestId: string): string {
  const { title, status } = problems[problem.code];
  const text = JSON.stringify({
    success: 0,
    type: `/errors#${problem.code}`,
    title,
    status,
    detail: problem.message,
    code: problem.code,
    request_id: requestId,
    ...(problem.errors.length > 0 && { errors: problem.errors }),
  });
  // A detail names fields, and a caller may have put a token where a name belongs.
  return redact(text);
}

export function sendProblem(reply: FastifyReply, problem: Problem, requestId: string): FastifyReply {
  return reply
    .code(problem.status)
    .headers(problemHeaders(problem))
    .header('content-type', PROBLEM_TYPE)
    .send(problemBody(problem, requestId));
}

export function problemHeaders(problem: Problem): Record<string, string> {
  const headers: Record<string, string> = {};
  if (problem.code === 'unauthenticated') headers['www-authenticate'] = AUTHENTICATION_CHALLENGE;
  if (problem.status === 429 || problem.status === 503) {
    headers['retry-after'] = String(problem.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS);
  }
  return headers;
}
