// Finds the group of a user group token. A token issued here encodes the bucket that its group had then; for
// an imported token, or one of a group renamed since then, the database looks up the bucket first.

import type { Tenant } from '../../domain/tenant.ts';
import {
  digestOfImportedToken,
  type PresentedToken,
  type TokenAddress,
  type TokenDigest,
} from '../../domain/token.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import type { BatchingStore } from '../../store/batching-store.ts';

interface FoundByToken {
  userGroup: UserGroup;
  /** Stored digest of the token: the current one of the group, or the one replaced last. */
  digest: TokenDigest;
}

/** Returns the group of the tenant, or of any tenant if it is null; null if no such group has the token. */
export function findByToken(
  store: BatchingStore,
  token: PresentedToken,
  tenant: Tenant | null,
): Promise<FoundByToken | null> {
  return find(
    token,
    (address) => store.read({ kind: 'findUserGroupByToken', address, tenant }),
    (digest) => store.read({ kind: 'findUserGroupByImportedToken', digest, tenant }),
  );
}

/** Returns the group of the tenant whose token resolves at this time. */
export function findResolvable(
  store: BatchingStore,
  token: PresentedToken,
  tenant: Tenant,
  now: number,
): Promise<FoundByToken | null> {
  return find(
    token,
    (address) => store.read({ kind: 'resolveToken', address, tenant, now }),
    (digest) => store.read({ kind: 'resolveImportedToken', digest, tenant, now }),
  );
}

/**
 * Every token that is not found takes the same steps, so that the time does not distinguish a suspended group from
 * a deleted one, or from one of another tenant.
 */
async function find(
  token: PresentedToken,
  byAddress: (address: TokenAddress) => Promise<UserGroup | null>,
  byDigest: (digest: TokenDigest) => Promise<UserGroup | null>,
): Promise<FoundByToken | null> {
  const { address } = token;
  const userGroup = address && (await byAddress(address));
  if (userGroup !== null) return { userGroup, digest: address!.digest };
  // The group may have been renamed, or the token imported into a group with another id, workspace or
  // installation. Checked last, because a token may cease to encode the bucket of its group, but not vice
  // versa.
  const digest = digestOfImportedToken(token.reveal());
  const found = digest && (await byDigest(digest));
  return found && { userGroup: found, digest: digest! };
}
