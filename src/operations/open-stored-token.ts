// Decrypts the stored token of a group for a command, with an error that names the group.

import { type KeyRing, TokenUnreadable } from '../domain/key-ring.ts';
import type { Secret } from '../domain/secret.ts';
import type { UserGroup } from '../domain/user-group.ts';

/** The stored token of a group cannot be decrypted; the message names the group. */
export class StoredTokenUnreadable extends Error {
  override readonly name = 'StoredTokenUnreadable';
}

/** Throws `StoredTokenUnreadable`. */
export function openStoredToken(userGroup: UserGroup, keyRing: KeyRing): Secret {
  try {
    return keyRing.open(userGroup.sealedToken, userGroup);
  } catch (error) {
    if (!(error instanceof TokenUnreadable)) throw error;
    const id = JSON.stringify(userGroup.providedId);
    throw new StoredTokenUnreadable(`cannot decrypt the token of user group ${id}: ${error.message}`, {
      cause: error,
    });
  }
}
