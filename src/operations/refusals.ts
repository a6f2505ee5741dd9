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

/** Reports that another change came between reading and changing the user group, in every attempt. */
export function changedTooOften(): Problem {
  return tooBusy('This user group is being changed too often. Retry later.');
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

/** Same problem for a missing token and for every viewer's token that does not resolve. */
export function viewerUnauthenticated(): Problem {
  return new Problem(
    'viewer_unauthenticated',
    'The viewer has no token, or one that is not valid. The proxy passes it on in X-User-Group-Token or in the cookie user_group_token.',
  );
}

/** `reason` may be shown to the viewer. */
export function notForwardable(reason: string): Problem {
  return new Problem('user_group_not_forwardable', reason);
}

/** Reports a schema, of the catalogue or of the mapping, that leads to no data source. */
export function incompleteMapping(): Problem {
  return notForwardable(
    'A schema of the catalogue or of the mapping leads to no data source. Map it, or give it a default; "data_sources" of ' +
      'POST /v1/resolve lists the schemas that lead to one.',
  );
}

/** Reports a property that the proxy asks for and that cannot become a header. */
export function incompleteProperties(): Problem {
  return notForwardable(
    'A property that the proxy asks for is absent, empty, or neither a text nor a number.',
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
