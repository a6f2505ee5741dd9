// Re-encrypts stored tokens and the secrets of documents with the active key of the ring, even while the
// service runs.

import type { Document } from '../../domain/document.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import type { Context } from '../context.ts';
import { pagesAfter } from '../pages.ts';
import { openStoredSecret, openStoredToken } from './open-stored-token.ts';

/** A process that was not restarted still encrypts tokens with another key. */
export class OtherKeyInUse extends Error {
  override readonly name = 'OtherKeyInUse';
}

const PAGE = 256;

type KeyContext = Pick<Context, 'store' | 'keyRing'>;

/**
 * Processes all groups in key order, then all documents. Skips a group whose token is rotated concurrently, because the
 * rotation has encrypted the new token. Can be interrupted and run again.
 * Throws `StoredTokenUnreadable`, or `OtherKeyInUse` if tokens were encrypted with another key in the meantime.
 */
export async function reencryptTokens(
  context: KeyContext,
  onProgress: (seen: number) => void,
): Promise<{ seen: number; reencrypted: number }> {
  const { store, keyRing } = context;
  let seen = 0;
  let reencrypted = 0;
  const pages = pagesAfter<UserGroup>(null, (after) =>
    store.read({ kind: 'scanUserGroups', after, limit: PAGE }),
  );
  for await (const page of pages) {
    const changed = await Promise.all(page.map((userGroup) => reencrypt(context, userGroup)));
    seen += page.length;
    reencrypted += changed.filter(Boolean).length;
    onProgress(seen);
  }
  await reencryptSecrets(context);
  await store.write({ kind: 'removeTokenKeyIds', keep: keyRing.activeKeyId });
  const others = (await store.read({ kind: 'listTokenKeyIds' })).filter((id) => id !== keyRing.activeKeyId);
  if (others.length > 0) {
    throw new OtherKeyInUse(
      `tokens were encrypted with the key ${others.join(', ')} in the meantime: restart every process with ${keyRing.activeKeyId} as its first key, then run "key reencrypt" again`,
    );
  }
  return { seen, reencrypted };
}

async function reencryptSecrets(context: KeyContext): Promise<void> {
  const pages = pagesAfter<Document>(null, (after) =>
    context.store.read({ kind: 'scanDocuments', after, limit: PAGE }),
  );
  for await (const page of pages)
    await Promise.all(page.map((document) => reencryptSecret(context, document)));
}

async function reencryptSecret({ store, keyRing }: KeyContext, document: Document): Promise<void> {
  const { secret: expected } = document;
  if (expected === null || expected.keyId === keyRing.activeKeyId) return;
  const secret = keyRing.seal(openStoredSecret(document, expected, keyRing), document);
  await store.write({ kind: 'resealDocument', key: document, expected, secret });
}

/** Returns whether it changed the stored token. */
async function reencrypt({ store, keyRing }: KeyContext, userGroup: UserGroup): Promise<boolean> {
  const { sealedToken: expected } = userGroup;
  if (expected.keyId === keyRing.activeKeyId) return false;
  const sealedToken = keyRing.seal(openStoredToken(userGroup, keyRing), userGroup);
  return store.write({ kind: 'resealToken', key: userGroup, expected, sealedToken });
}
