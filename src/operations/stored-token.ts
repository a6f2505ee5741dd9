// The token of a group opened for an operator, who has to know of which group it does not open.

import { type KeyRing, TokenUnreadable } from '../domain/key-ring.ts';
import type { Secret } from '../domain/secret.ts';
import type { UserGroup } from '../domain/user-group.ts';

/** The stored token of a group does not open; the message names the group. */
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
    throw new StoredTokenUnreadable(`the token of the user group ${id} cannot be read: ${error.message}`, {
      cause: error,
    });
  }
}
