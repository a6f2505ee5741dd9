// The one error of the client, told apart by its code.

/** The codes that the service answers with. */
export const serviceCodes = [
  'invalid_json',
  'invalid_request',
  'unknown_field',
  'body_missing',
  'unauthenticated',
  'permission_denied',
  'origin_not_allowed',
  'user_group_not_found',
  'user_group_token_not_found',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'version_mismatch',
  'body_too_large',
  'unsupported_media_type',
  'rate_limited',
  'headers_too_large',
  'internal_error',
  'overloaded',
  'database_unavailable',
  'shutting_down',
] as const;

export type ErrorCode =
  | (typeof serviceCodes)[number]
  /** No answer came: the service could not be reached, or the connection broke. */
  | 'network_error'
  /** No answer came in time. */
  | 'timeout'
  /** An answer came that is none of the service, or bears a code that this version does not know. */
  | 'unexpected_answer';

/** One place in the request that is at fault: an RFC 6901 pointer into the body, and what is wrong there. */
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
 * A call that did not succeed. It never holds the API token, and so it has no `cause` either: the error of a
 * replaced `fetch` may hold the whole request.
 */
export class UserGroupServiceError extends Error {
  override readonly name = 'UserGroupServiceError';
  readonly code: ErrorCode;
  /** The HTTP status; null where no answer came. */
  readonly status: number | null;
  /** Finds the call in the log of the service; null where no answer of the service came. */
  readonly requestId: string | null;
  /** The fields at fault, if any. */
  readonly errors: readonly FieldError[];
  /** How long the service asks to wait; null where it does not say. */
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
