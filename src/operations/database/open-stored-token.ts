// Decrypts the stored token of a group or the secret of a document for a command, with an error that names
// the group or document.

import type { DocumentKey } from '../../domain/document.ts';
import { type KeyRing, type StoredToken, TokenUnreadable } from '../../domain/key-ring.ts';
import type { SealedSecret, Secret } from '../../domain/secret.ts';

/** A stored token or secret cannot be decrypted; the message names the group or the document. */
export class StoredTokenUnreadable extends Error {
  override readonly name = 'StoredTokenUnreadable';
}

/** Throws `StoredTokenUnreadable`. */
export function openStoredToken(stored: StoredToken, keyRing: KeyRing): Secret {
  const id = JSON.stringify(stored.providedId);
  return naming(`the token of user group ${id}`, () => keyRing.open(stored.sealedToken, stored));
}

/** Throws `StoredTokenUnreadable`. */
export function openStoredSecret(key: DocumentKey, secret: SealedSecret, keyRing: KeyRing): Secret {
  return naming(`the secret of ${key.kind} ${JSON.stringify(key.id)}`, () => keyRing.open(secret, key));
}

function naming(what: string, open: () => Secret): Secret {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof TokenUnreadable)) throw error;
    throw new StoredTokenUnreadable(`cannot decrypt ${what}: ${error.message}`, { cause: error });
  }
}
