// The precondition of a request (RFC 9110 §13): versions that the user group must have, or must not have.

import { type UserGroup, type VersionTag, versionTag } from './user-group.ts';

/** `*` matches every version. */
export type Versions = '*' | readonly VersionTag[];

export interface Precondition {
  /** The user group must exist and have one of these. */
  readonly ifMatch?: Versions;
  /** The user group must not exist, or have none of these. */
  readonly ifNoneMatch?: Versions;
}

/** The first condition that the user group does not meet, or that its absence (null) does not; null if all are met. */
export function unmetCondition(
  { ifMatch, ifNoneMatch }: Precondition,
  userGroup: UserGroup | null,
): keyof Precondition | null {
  if (ifMatch !== undefined && !includes(ifMatch, userGroup)) return 'ifMatch';
  if (ifNoneMatch !== undefined && includes(ifNoneMatch, userGroup)) return 'ifNoneMatch';
  return null;
}

export function isMet(precondition: Precondition | undefined, userGroup: UserGroup | null): boolean {
  return precondition === undefined || unmetCondition(precondition, userGroup) === null;
}

function includes(versions: Versions, userGroup: UserGroup | null): boolean {
  if (userGroup === null) return false;
  return versions === '*' || versions.includes(versionTag(userGroup));
}
