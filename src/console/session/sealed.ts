import { type KeyRing, type SessionOwner, TokenUnreadable } from '../../domain/key-ring.ts';
import { Secret } from '../../domain/secret.ts';

/** Values that a browser keeps for this service as short texts: encrypted, and bound to one use. */
export class Sealed<Value> {
  readonly #use: SessionOwner;

  constructor(session: SessionOwner['session']) {
    this.#use = { session };
  }

  textOf(keyRing: KeyRing, value: Value): string {
    const { keyId, ciphertext } = keyRing.seal(new Secret(JSON.stringify(value)), this.#use);
    // Replaces underscores, so that the text never looks like a token, for which logs and pages are searched.
    return `${keyId}.${ciphertext.replaceAll('_', '/')}`;
  }

  /** Returns null unless this service sealed the text for this use. */
  open(keyRing: KeyRing, text: string): Value | null {
    const [keyId = '', ciphertext = ''] = text.split('.');
    try {
      return JSON.parse(keyRing.open({ keyId, ciphertext }, this.#use).reveal());
    } catch (error) {
      if (error instanceof TokenUnreadable) return null;
      throw error;
    }
  }
}
