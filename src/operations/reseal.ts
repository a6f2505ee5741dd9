// Encrypts the stored tokens anew under the active key of the ring, beside a service that runs.

import type { KeyRing } from '../domain/key-ring.ts';
import type { UserGroup } from '../domain/user-group.ts';
import type { BatchedStore } from '../store/batched-store.ts';
import { openStoredToken } from './stored-token.ts';

/** A process that has not been restarted goes on sealing under another key. */
export class OtherKeyInUse extends Error {
  override readonly name = 'OtherKeyInUse';
}

const PAGE = 256;

/**
 * Goes through all groups in the order of their keys. A group whose token is rotated meanwhile is left as it is:
 * the rotation has sealed it. Interrupted, it leaves what is done done.
 * Throws `StoredTokenUnreadable`, and `OtherKeyInUse` where tokens have come under another key meanwhile.
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
  const others = (await store.read({ kind: 'listTokenKeyIds' })).filter((id) => id !== keyRing.activeKeyId);
  if (others.length > 0) {
    throw new OtherKeyInUse(
      `tokens have been sealed under the key ${others.join(', ')} meanwhile: restart every process with ${keyRing.activeKeyId} as its first key, and run this again`,
    );
  }
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
