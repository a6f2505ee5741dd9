// A rejected request. The layers below HTTP throw a `Problem`; the HTTP layer assigns status and title
// (`http/response/problem.ts`). Anything else that is thrown is a bug or an unexpected failure and becomes `internal_error`.

export type ProblemCode =
  | 'invalid_json'
  | 'invalid_request'
  | 'unknown_field'
  | 'body_missing'
  | 'unauthenticated'
  | 'viewer_unauthenticated'
  | 'user_group_not_forwardable'
  | 'permission_denied'
  | 'origin_not_allowed'
  | 'user_group_not_found'
  | 'user_group_token_not_found'
  | 'api_token_not_found'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'api_token_inactive'
  | 'user_group_exists'
  | 'limit_reached'
  | 'in_use'
  | 'version_mismatch'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'mapping_invalid'
  | 'properties_invalid'
  | 'claim_missing'
  | 'claim_invalid'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal_error'
  | 'not_implemented'
  | 'overloaded'
  | 'database_unavailable'
  | 'shutting_down';

/** A field that breaks a rule: an RFC 6901 pointer into the body, and the rule. */
export interface Violation {
  pointer: string;
  detail: string;
}

/** Maximum number of violations that a problem lists. */
export const MAX_ERRORS = 20;

/** Returns the violations that a problem lists, with a text for each and one for the rest of all `count`. */
export function listViolations(
  violations: readonly Violation[],
  describe: (violation: Violation) => string,
  count = violations.length,
): { errors: readonly Violation[]; texts: readonly string[] } {
  const errors = violations.slice(0, MAX_ERRORS);
  const texts = errors.map(describe);
  if (count > errors.length) texts.push(`and ${count - errors.length} more`);
  return { errors, texts };
}

interface ProblemOptions {
  errors?: readonly Violation[];
  /** Sent as `Retry-After`. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/** The message is shown to the caller: it says what to do next and never contains a token. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly errors: readonly Violation[];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.errors = options.errors ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
