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

/** Whether the user group meets all conditions, or its absence (null). */
export function isMet(precondition: Precondition | undefined, userGroup: UserGroup | null): boolean {
  return isMetByTag(precondition, userGroup && versionTag(userGroup));
}

/** The same for any resource: `tag` is null if it does not exist. */
export function isMetByTag(precondition: Precondition | undefined, tag: VersionTag | null): boolean {
  return precondition === undefined || unmetCondition(precondition, tag) === null;
}

/** Returns the first condition that the resource fails; null if all are met. */
export function unmetCondition(
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
