// The precondition of a request (RFC 9110 §13): versions that the resource must have, or must not have.

import { type UserGroup, type VersionTag, versionTag } from './user-group/user-group.ts';

/** `*` matches every version. */
export type Versions = '*' | readonly VersionTag[];

export interface Precondition {
  /** The resource must exist and have one of these. */
  readonly ifMatch?: Versions;
  /** The resource must not exist, or have none of these. */
  readonly ifNoneMatch?: Versions;
}

/** Returns the first condition that the user group or its absence (null) fails; null if all are met. */
export function unmetCondition(
  precondition: Precondition,
  userGroup: UserGroup | null,
): keyof Precondition | null {
  return unmetByTag(precondition, userGroup && versionTag(userGroup));
}

export function isMet(precondition: Precondition | undefined, userGroup: UserGroup | null): boolean {
  return precondition === undefined || unmetCondition(precondition, userGroup) === null;
}

/** The same for a resource that is not a user group: `tag` is null if it does not exist. */
export function isMetByTag(precondition: Precondition | undefined, tag: VersionTag | null): boolean {
  return precondition === undefined || unmetByTag(precondition, tag) === null;
}

function unmetByTag(
  { ifMatch, ifNoneMatch }: Precondition,
  tag: VersionTag | null,
): keyof Precondition | null {
  if (ifMatch !== undefined && !includes(ifMatch, tag)) return 'ifMatch';
  if (ifNoneMatch !== undefined && includes(ifNoneMatch, tag)) return 'ifNoneMatch';
  return null;
}

function includes(versions: Versions, tag: VersionTag | null): boolean {
  return tag !== null && (versions === '*' || versions.includes(tag));
}
