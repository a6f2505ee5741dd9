// From the text of a user group token to its group. A token that was issued here names the bucket of its group; of
// one that an import has brought the database is asked for the bucket first.

import { addressOfUserGroupToken, digestOfImportedToken, type TokenDigest } from '../domain/token.ts';
import type { UserGroup } from '../domain/user-group.ts';
import type { BatchedStore } from '../store/batched-store.ts';

interface FoundByToken {
  userGroup: UserGroup;
  /** That of the token, as it is stored: the group's current one, or the last replaced one. */
  digest: TokenDigest;
}

/** null where no group has the token. */
export async function findByToken(store: BatchedStore, text: string): Promise<FoundByToken | null> {
  const address = addressOfUserGroupToken(text);
  const userGroup = address && (await store.read({ kind: 'findUserGroupByToken', address }));
  if (userGroup !== null) return { userGroup, digest: address!.digest };
  // Last: it is an import too that brings a token of this form to a group of another id, workspace or installation.
  return findByImportedToken(store, text);
}

async function findByImportedToken(store: BatchedStore, text: string): Promise<FoundByToken | null> {
  const digest = digestOfImportedToken(text);
  const bucket = digest && (await store.read({ kind: 'findImportedToken', digest }));
  if (digest === null || bucket === null) return null;
  const userGroup = await store.read({ kind: 'findUserGroupByToken', address: { bucket, digest } });
  return userGroup && { userGroup, digest };
}
