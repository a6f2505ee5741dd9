// The error class of the client. Callers distinguish errors by code.

import { serviceCodes } from './schemas.ts';

export type ErrorCode =
  | (typeof serviceCodes)[number]
  /** No response: the service is unreachable, or the connection broke. */
  | 'network_error'
  /** No response within the timeout. */
  | 'timeout'
  /** A response that is not from the service, or has an error code that this version does not know. */
  | 'unexpected_answer';

/** An invalid part of the request: an RFC 6901 pointer into the body, and the reason. */
export interface FieldError {
  pointer: string;
  detail: string;
}

interface ErrorFields {
  status?: number | null;
  requestId?: string | null;
  errors?: readonly FieldError[];
  retryAfterSeconds?: number | null;
}

/**
 * A failed call. Never contains the API token. Therefore it has no `cause`: the error of a custom `fetch` may contain
 * the whole request.
 */
export class UserGroupServiceError extends Error {
  override readonly name = 'UserGroupServiceError';
  readonly code: ErrorCode;
  /** HTTP status; null without a response. */
  readonly status: number | null;
  /** Identifies the call in the log of the service; null without a response of the service. */
  readonly requestId: string | null;
  /** Invalid fields, if any. */
  readonly errors: readonly FieldError[];
  /** `Retry-After` of the response in seconds; null if it has none. */
  readonly retryAfterSeconds: number | null;

  constructor(code: ErrorCode, message: string, fields: ErrorFields = {}) {
    super(message);
    this.code = code;
    this.status = fields.status ?? null;
    this.requestId = fields.requestId ?? null;
    this.errors = fields.errors ?? [];
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null;
  }
}

export function isServiceCode(code: unknown): code is (typeof serviceCodes)[number] {
  return (serviceCodes as readonly unknown[]).includes(code);
}

/** Returns the error of the service for an unknown token, for tokens that need no request. */
export function tokenNotFound(): UserGroupServiceError {
  return new UserGroupServiceError(
    'user_group_token_not_found',
    'No user group has this token. It may be mistyped, replaced by a rotation, of a suspended group, or of another workspace or environment.',
    { status: 404 },
  );
}
