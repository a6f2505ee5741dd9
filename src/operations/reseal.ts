// Encrypts the stored tokens anew under the active key of the ring, beside a service that runs.

import type { KeyRing } from '../domain/key-ring.ts';
import type { UserGroup } from '../domain/user-group.ts';
import type { BatchedStore } from '../store/batched-store.ts';
import { openStoredToken } from './stored-token.ts';

const PAGE = 256;

/**
 * Goes through all groups in the order of their keys. A group whose token is rotated meanwhile is left as it is:
 * the rotation has sealed it. Interrupted, it leaves what is done done.
 * Throws `StoredTokenUnreadable`.
 */
export async function resealTokens(
  context: { store: BatchedStore; keyRing: KeyRing },
  onProgress: (seen: number) => void,
): Promise<{ seen: number; resealed: number }> {
  const { store, keyRing } = context;
  let seen = 0;
  let resealed = 0;
  for (let after: UserGroup | null = null; ; ) {
    const page: UserGroup[] = await store.read({ kind: 'listUserGroups', after, limit: PAGE });
    const done = await Promise.all(page.map((userGroup) => reseal(context, userGroup)));
    seen += page.length;
    resealed += done.filter(Boolean).length;
    onProgress(seen);
    if (page.length < PAGE) break;
    after = page.at(-1)!;
  }
  await store.write({ kind: 'removeTokenKeyIds', keep: keyRing.activeKeyId });
  return { seen, resealed };
}

async function reseal(
  { store, keyRing }: { store: BatchedStore; keyRing: KeyRing },
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
