// What every operation works with, and the few steps that several of them share.

import type { Caller, Permission } from '../domain/api-token.ts';
import { type KeyRing, TokenUnreadable } from '../domain/key-ring.ts';
import type { Secret } from '../domain/secret.ts';
import type { UserGroup } from '../domain/user-group.ts';
import { Problem } from '../problem.ts';
import type { BatchedStore } from '../store/batched-store.ts';
import type { IdLease } from './id-lease.ts';
import type { Turns } from './turns.ts';

export interface Context {
  store: BatchedStore;
  keyRing: KeyRing;
  teamIds: IdLease;
  turns: Turns;
  /** Milliseconds since 1970. */
  clock: () => number;
  defaultGracePeriodSeconds: number;
}

/** A user group with its token opened. */
export interface OpenUserGroup {
  userGroup: UserGroup;
  token: Secret;
}

/** Throws `permission_denied` where the caller's API token has none of the permissions. */
export function permit(caller: Caller, permissions: readonly Permission[], what: string): void {
  if (permissions.includes(caller.permission)) return;
  throw new Problem(
    'permission_denied',
    `An API token with the permission ${caller.permission} may not ${what}; this needs ${permissions.join(' or ')}.`,
  );
}

/** Whether the group belongs to the caller's workspace and environment. To anybody else it does not exist. */
export function isVisible(userGroup: UserGroup, caller: Caller): boolean {
  return userGroup.workspaceId === caller.workspaceId && userGroup.environment === caller.environment;
}

/** Opens the stored token. One that does not open is refused, and never replaced by a new one. */
export function openToken({ keyRing }: Context, userGroup: UserGroup): OpenUserGroup {
  try {
    return { userGroup, token: keyRing.open(userGroup.sealedToken, userGroup) };
  } catch (error) {
    if (!(error instanceof TokenUnreadable)) throw error;
    throw new Problem(
      'database_unavailable',
      'The stored token of this user group cannot be read. The operator of the service has to look at its log.',
      { cause: error, retryAfterSeconds: 60 },
    );
  }
}

/** `hint` says what the caller can do, where there is something. */
export function userGroupNotFound(hint = ''): Problem {
  return new Problem('user_group_not_found', `There is no user group with this user_group_id.${hint}`);
}

export function versionMismatch(): Problem {
  return new Problem(
    'version_mismatch',
    'The user group has changed since the version that If-Match names. Read it again and decide anew.',
  );
}

/** One answer for every token that is of no use, so that it tells nothing about other people's tokens. */
export function tokenNotFound(): Problem {
  return new Problem(
    'user_group_token_not_found',
    'No user group has this token. It may be mistyped, rotated away, or of another workspace or environment.',
  );
}
