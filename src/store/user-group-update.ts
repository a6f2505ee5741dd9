// The changes that an update makes to a stored group.

import { type SettableFields, settableFields, type UserGroup } from '../domain/user-group/user-group.ts';
import type { UserGroupUpdate } from './port.ts';

/** Whether the update leaves every field as it is stored. */
export function isUnchanged(update: UserGroupUpdate, stored: UserGroup): boolean {
  const { suspendedAt } = update;
  return (
    settableFields.every((field) => update[field] === undefined || update[field] === stored[field]) &&
    (suspendedAt === undefined || (suspendedAt === null) === (stored.suspendedAt === null))
  );
}

/** The fields that callers set, after the update. */
export function fieldsAfter(update: UserGroupUpdate, stored: UserGroup): SettableFields {
  const { name = stored.name, mapping = stored.mapping, properties = stored.properties } = update;
  return { name, mapping, properties };
}

/** Suspending a suspended group keeps the first time. */
export function suspensionAfter({ suspendedAt }: UserGroupUpdate, stored: UserGroup): number | null {
  if (suspendedAt === undefined) return stored.suspendedAt;
  return suspendedAt === null ? null : (stored.suspendedAt ?? suspendedAt);
}
