// From a user group token to its group. A token issued here names the bucket of its group; for an imported
// token the database looks up the bucket first.

import type { Bucket } from '../../domain/bucket.ts';
import type { Tenant } from '../../domain/event/event.ts';
import { digestOfImportedToken, type PresentedToken, type TokenDigest } from '../../domain/token.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import type { BatchingStore } from '../../store/batching-store.ts';

interface FoundByToken {
  userGroup: UserGroup;
  /** The stored digest of the token: the group's current one, or the one last replaced. */
  digest: TokenDigest;
}

/** Returns null if no group has the token. */
export async function findByToken(store: BatchingStore, token: PresentedToken): Promise<FoundByToken | null> {
  const { address } = token;
  const userGroup = address && (await store.read({ kind: 'findUserGroupByToken', address }));
  if (userGroup !== null) return { userGroup, digest: address!.digest };
  // A token of this form may also be imported, into a group with another id, workspace or installation.
  return findByImportedToken(store, token);
}

/** A bucket that is as good as any: the lookup of a digest that no group has. */
const ANY_BUCKET = 0 as Bucket;

/**
 * The group of the tenant whose token resolves at this instant. Every token that does not is looked up in the same steps,
 * so that their time does not tell a suspended group from a deleted one.
 */
export async function findResolvable(
  store: BatchingStore,
  token: PresentedToken,
  tenant: Tenant,
  now: number,
): Promise<FoundByToken | null> {
  const { address } = token;
  const userGroup = address && (await store.read({ kind: 'resolveToken', address, tenant, now }));
  if (userGroup !== null) return { userGroup, digest: address!.digest };
  const digest = digestOfImportedToken(token.reveal());
  if (digest === null) return null;
  const bucket = (await store.read({ kind: 'findImportedToken', digest })) ?? ANY_BUCKET;
  const found = await store.read({ kind: 'resolveToken', address: { bucket, digest }, tenant, now });
  return found && { userGroup: found, digest };
}

async function findByImportedToken(
  store: BatchingStore,
  token: PresentedToken,
): Promise<FoundByToken | null> {
  const digest = digestOfImportedToken(token.reveal());
  const bucket = digest && (await store.read({ kind: 'findImportedToken', digest }));
  if (digest === null || bucket === null) return null;
  const userGroup = await store.read({ kind: 'findUserGroupByToken', address: { bucket, digest } });
  return userGroup && { userGroup, digest };
}
