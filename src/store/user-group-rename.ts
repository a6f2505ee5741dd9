// The effect of a rename, which is the same on both databases.

import { asImported } from '../domain/token.ts';
import type { Rename } from '../domain/user-group/rename.ts';
import type { UserGroup } from '../domain/user-group/user-group.ts';
import type { UserGroupRename } from './port.ts';

export function renamedUserGroup(
  stored: UserGroup,
  { to, tokenDigest, sealedToken, now }: UserGroupRename,
): UserGroup {
  const { previousTokenDigest, bucket, version } = stored;
  const isMoved = to.bucket !== bucket;
  return {
    ...stored,
    ...to,
    tokenDigest,
    sealedToken,
    previousTokenDigest:
      isMoved && previousTokenDigest !== null ? asImported(previousTokenDigest) : previousTokenDigest,
    version: version + 1,
    updatedAt: now,
  };
}

/** The rename as seen from each of its ids. */
export function renamesAt(
  { key, to }: Pick<UserGroupRename, 'key' | 'to'>,
  event: Pick<Rename, 'position' | 'eventId' | 'teamId'>,
): [Rename, Rename] {
  return [
    { ...key, ...event, direction: 'to', otherId: to.providedId },
    { ...to, ...event, direction: 'from', otherId: key.providedId },
  ];
}
