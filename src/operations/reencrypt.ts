// Re-encrypts the stored tokens with the active key of the ring while the service may be running.

import type { KeyRing } from '../domain/key-ring.ts';
import type { UserGroup } from '../domain/user-group.ts';
import type { BatchingStore } from '../store/batching-store.ts';
import { openStoredToken } from './open-stored-token.ts';

/** A process that was not restarted still encrypts tokens with another key. */
export class OtherKeyInUse extends Error {
  override readonly name = 'OtherKeyInUse';
}

const PAGE = 256;

/**
 * Processes all groups in key order. Skips a group whose token is rotated concurrently, because the rotation has
 * encrypted the new token. Can be interrupted and run again.
 * Throws `StoredTokenUnreadable`, or `OtherKeyInUse` if tokens were encrypted with another key in the meantime.
 */
export async function reencryptTokens(
  context: { store: BatchingStore; keyRing: KeyRing },
  onProgress: (seen: number) => void,
): Promise<{ seen: number; reencrypted: number }> {
  const { store, keyRing } = context;
  let seen = 0;
  let reencrypted = 0;
  for (let after: UserGroup | null = null; ; ) {
    const page: UserGroup[] = await store.read({ kind: 'scanUserGroups', after, limit: PAGE });
    const changed = await Promise.all(page.map((userGroup) => reencrypt(context, userGroup)));
    seen += page.length;
    reencrypted += changed.filter(Boolean).length;
    onProgress(seen);
    if (page.length < PAGE) break;
    after = page.at(-1)!;
  }
  await store.write({ kind: 'removeTokenKeyIds', keep: keyRing.activeKeyId });
  const others = (await store.read({ kind: 'listTokenKeyIds' })).filter((id) => id !== keyRing.activeKeyId);
  if (others.length > 0) {
    throw new OtherKeyInUse(
      `tokens were encrypted with the key ${others.join(', ')} in the meantime: restart every process with ${keyRing.activeKeyId} as its first key, then run "key reencrypt" again`,
    );
  }
  return { seen, reencrypted };
}

/** Returns whether it changed the stored token. */
async function reencrypt(
  { store, keyRing }: { store: BatchingStore; keyRing: KeyRing },
  userGroup: UserGroup,
): Promise<boolean> {
  if (userGroup.sealedToken.keyId === keyRing.activeKeyId) return false;
  const token = openStoredToken(userGroup, keyRing);
  return store.write({
    kind: 'resealToken',
    key: userGroup,
    expected: userGroup.sealedToken,
    sealedToken: keyRing.seal(token, userGroup),
  });
}
