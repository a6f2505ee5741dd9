// Every way in which the service says no: one code, one status, one title each. The HTTP layer renders them
// (RFC 9457); everything below only throws a `Problem`. Whatever else is thrown is a bug and becomes
// `internal_error`.

export const problems = {
  invalid_json: { status: 400, title: 'The body is not JSON that can be read in one way only' },
  invalid_request: { status: 400, title: 'The request is not valid' },
  unknown_field: { status: 400, title: 'The body has a field that this operation does not know' },
  body_missing: { status: 400, title: 'The request has no body' },
  unauthenticated: { status: 401, title: 'The API token is missing or not valid' },
  permission_denied: { status: 403, title: 'The API token does not permit this' },
  origin_not_allowed: { status: 403, title: 'The origin is not allowed' },
  user_group_not_found: { status: 404, title: 'There is no such user group' },
  user_group_token_not_found: { status: 404, title: 'The user group token is not valid' },
  not_found: { status: 404, title: 'There is nothing at this path' },
  method_not_allowed: { status: 405, title: 'The path does not take this method' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  version_mismatch: { status: 412, title: 'The user group has another version' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body is not of a supported media type' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The request headers are too large' },
  internal_error: { status: 500, title: 'Something went wrong in the service' },
  overloaded: { status: 503, title: 'The service has more work than it can do' },
  database_unavailable: { status: 503, title: 'The database does not answer' },
  shutting_down: { status: 503, title: 'The service is shutting down' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

/** One place in the request that is at fault: an RFC 6901 pointer into the body, and what is wrong there. */
export interface FieldError {
  pointer: string;
  detail: string;
}

interface ProblemOptions {
  errors?: readonly FieldError[];
  /** Seconds after which to try again; sent as `Retry-After`. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** A refusal that the caller is told about. `detail` says what to do next and never holds a token. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly errors: readonly FieldError[];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.errors = options.errors ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get status(): number {
    return problems[this.code].status;
  }
}
