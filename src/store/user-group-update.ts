// The changes that an update makes to a stored group.

import type { UserGroup } from '../domain/user-group/user-group.ts';
import type { UserGroupUpdate } from './port.ts';

/** Whether the update leaves every field as it is stored. */
export function isUnchanged(
  { name, mapping, properties, suspendedAt }: UserGroupUpdate,
  stored: UserGroup,
): boolean {
  return (
    (name === undefined || name === stored.name) &&
    (mapping === undefined || mapping === stored.mapping) &&
    (properties === undefined || properties === stored.properties) &&
    (suspendedAt === undefined || (suspendedAt === null) === (stored.suspendedAt === null))
  );
}

/** Suspending a suspended group keeps the first time. */
export function suspensionAfter({ suspendedAt }: UserGroupUpdate, stored: UserGroup): number | null {
  if (suspendedAt === undefined) return stored.suspendedAt;
  return suspendedAt === null ? null : (stored.suspendedAt ?? suspendedAt);
}
