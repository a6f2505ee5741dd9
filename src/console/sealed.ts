// Short texts that a browser keeps for this service: encrypted, and bound to one use.

import { type KeyRing, TokenUnreadable } from '../domain/key-ring.ts';
import type { Secret } from '../domain/secret.ts';

type Use = Parameters<KeyRing['seal']>[1];

export function sealedText(keyRing: KeyRing, secret: Secret, use: Use): string {
  const { keyId, ciphertext } = keyRing.seal(secret, use);
  return `${keyId}.${ciphertext}`;
}

/** Returns null unless this service sealed the text for this use. */
export function openSealed(keyRing: KeyRing, text: string, use: Use): Secret | null {
  const [keyId = '', ciphertext = ''] = text.split('.');
  try {
    return keyRing.open({ keyId, ciphertext }, use);
  } catch (error) {
    if (error instanceof TokenUnreadable) return null;
    throw error;
  }
}
