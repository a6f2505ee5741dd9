// Problems that several operations throw.

import { type ApiTokenStatus, type Caller, isPermitted, type Permission } from '../domain/api-token.ts';
import { limits } from '../domain/field.ts';
import { Problem } from '../problem.ts';

/** Throws `permission_denied` unless the caller's API token has one of the permissions. `what` completes "may not …". */
export function permit(caller: Caller, permissions: readonly Permission[], what: string): void {
  if (isPermitted(caller, permissions)) return;
  throw new Problem(
    'permission_denied',
    `An API token with the permission ${caller.permission} may not ${what}; this requires ${permissions.join(' or ')}.`,
  );
}

/** `hint` tells the caller what to do, if anything. */
export function userGroupNotFound(hint = ''): Problem {
  return new Problem('user_group_not_found', `No user group has this user_group_id.${hint}`);
}

export function idTaken(): Problem {
  return new Problem(
    'user_group_exists',
    'Another user group has this user_group_id. Delete it first, or choose another id.',
  );
}

export function versionMismatch(noun = 'user group'): Problem {
  return new Problem(
    'version_mismatch',
    `The ${noun} does not meet the If-Match or If-None-Match of the request. Read it again before you retry.`,
  );
}

/** Each attempt fails only if another request or process makes a change between its statements. */
export const MAX_ATTEMPTS = 100;

/** Reports that another change came between reading and changing, in every attempt. */
export function changedTooOften(noun = 'user group'): Problem {
  return tooBusy(`This ${noun} is being changed too often. Retry later.`);
}

/**
 * Same problem for every token that does not resolve, so that it reveals nothing about tokens of other
 * callers.
 */
export function tokenNotFound(): Problem {
  return new Problem(
    'user_group_token_not_found',
    'No user group has this token. It may be mistyped, replaced by a rotation, of a suspended group, or of another workspace or environment.',
  );
}

/** Same problem for a missing token and for one of another workspace or environment. */
export function apiTokenNotFound(): Problem {
  return new Problem(
    'api_token_not_found',
    'No API token of this workspace and environment has this api_token_id.',
  );
}

export function apiTokenInactive(status: Exclude<ApiTokenStatus, 'active'>): Problem {
  return new Problem('api_token_inactive', `This API token is ${status}. Create a new one.`);
}

export function apiTokenLimitReached(): Problem {
  return new Problem(
    'limit_reached',
    `A workspace has at most ${limits.activeApiTokens} active API tokens per environment: revoke those that are not used.`,
  );
}

/** Lets the caller repeat the request a second later. */
export function tooBusy(detail: string): Problem {
  return new Problem('overloaded', detail, { retryAfterSeconds: 1 });
}

/** Shared, because under overload capturing a stack trace for each request is too expensive. */
export const overloaded = tooBusy('Too many requests are waiting for the database. Retry later.');
