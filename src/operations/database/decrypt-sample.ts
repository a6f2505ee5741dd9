// Proves that a key ring fits a database by decrypting some of the stored tokens.

import type { KeyRing } from '../../domain/key-ring.ts';
import type { Inspection } from '../../store/inspection.ts';
import { openStoredToken } from './open-stored-token.ts';

/** Decrypts up to `limit` tokens of each key; returns how many. Throws `StoredTokenUnreadable`. */
export async function decryptSample(
  inspection: Inspection,
  keyRing: KeyRing,
  { keyIds, limit }: { keyIds: readonly string[]; limit: number },
): Promise<number> {
  let decrypted = 0;
  for (const keyId of keyIds) {
    const tokens = await inspection.sampleTokens(keyId, limit);
    for (const token of tokens) openStoredToken(token, keyRing);
    decrypted += tokens.length;
  }
  return decrypted;
}
