// Encryption of user group tokens, and of the secrets of documents, at rest: AES-256-GCM with a ring of keys. The first
// key encrypts; any of them decrypts. The row is the additional authenticated data, so a ciphertext that is moved to
// another row does not decrypt.

import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import type { DocumentKey } from './document.ts';
import { takeRandomBytes } from './random-bytes.ts';
import { type SealedSecret, Secret } from './secret.ts';
import type { UserGroup, UserGroupKey } from './user-group/user-group.ts';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const RING_LINE = /^([0-9a-f]{8}):([A-Za-z0-9_-]{43})$/;

/** Row of a token. The digest prevents an older ciphertext of the same row from decrypting. */
export type TokenOwner = Omit<UserGroupKey, 'bucket'> & Pick<UserGroup, 'teamId' | 'tokenDigest'>;

/** The row of the token, with the token. */
export type StoredToken = TokenOwner & Pick<UserGroup, 'sealedToken'>;

/** Owner of a secret that a browser keeps in a cookie or a form field; the database does not store it. */
export interface SessionOwner {
  session: 'console' | 'new-api-token' | 'console-notice' | 'console-form';
}

export type SecretOwner = TokenOwner | DocumentKey | SessionOwner;

/** A stored token or secret cannot be decrypted: a key is missing, or the row is damaged or was tampered with. */
export class TokenUnreadable extends Error {
  override readonly name = 'TokenUnreadable';
}

/** The text of a key ring is invalid. The message never contains a part of it. */
export class KeyRingInvalid extends Error {
  override readonly name = 'KeyRingInvalid';
}

interface TokenKey {
  id: string;
  key: KeyObject;
}

/** A line for the key ring: an id derived from the key, a colon, and 256 random bits. */
export function generateKeyLine(): Secret {
  const bytes = randomBytes(KEY_BYTES);
  return new Secret(`${computeKeyId(bytes)}:${bytes.toString('base64url')}`);
}

/** Identifies the key without revealing it, and detects a mistyped or truncated line. */
function computeKeyId(bytes: Buffer): string {
  return hash('sha256', Buffer.concat([Buffer.from('user-group-service key id\0'), bytes]), 'hex').slice(
    0,
    8,
  );
}

export class KeyRing {
  /** Text of the key ring, which other threads parse. */
  readonly text: Secret;
  readonly #active: TokenKey;
  readonly #keys: ReadonlyMap<string, TokenKey>;

  /** Parses lines of `key generate`, separated by white space or commas; the first is the active key. */
  static parse(text: Secret): KeyRing {
    const lines = text.reveal().split(/[\s,]/).filter(Boolean);
    return new KeyRing(
      text,
      lines.map((line, index) => parseLine(line, index + 1)),
    );
  }

  private constructor(text: Secret, keys: readonly TokenKey[]) {
    this.text = text;
    const active = keys[0];
    if (active === undefined)
      throw new KeyRingInvalid(
        'the key ring is empty: restore it from its copy, or for a new database use a line of "key generate"',
      );
    this.#active = active;
    this.#keys = new Map(keys.map((key) => [key.id, key]));
    if (this.#keys.size < keys.length) throw new KeyRingInvalid('the key ring has a duplicate key');
  }

  get activeKeyId(): string {
    return this.#active.id;
  }

  /** The ids of the keys, the active one first. */
  get keyIds(): string[] {
    return [...this.#keys.keys()];
  }

  /** The ids that are not in the key ring. */
  missing(keyIds: readonly string[]): string[] {
    return keyIds.filter((id) => !this.#keys.has(id));
  }

  seal(token: Secret, owner: SecretOwner): SealedSecret {
    const nonce = takeRandomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#active.key, nonce);
    cipher.setAAD(Buffer.from(additionalData(owner)));
    const sealed = Buffer.concat([
      nonce,
      cipher.update(token.reveal(), 'utf8'),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    return { keyId: this.#active.id, ciphertext: sealed.toString('base64url') };
  }

  /** Decrypts a secret that was encrypted for this owner. Throws `TokenUnreadable`. */
  open(sealed: SealedSecret, owner: SecretOwner): Secret {
    const key = this.#keys.get(sealed.keyId);
    if (key === undefined) throw new TokenUnreadable(`the key ring has no key ${sealed.keyId}`);
    const bytes = Buffer.from(sealed.ciphertext, 'base64url');
    if (bytes.length <= NONCE_BYTES + TAG_BYTES)
      throw new TokenUnreadable('the encrypted token is truncated');
    const decipher = createDecipheriv('aes-256-gcm', key.key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(additionalData(owner)));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      // Not `update(…, 'utf8')`: its stream decoder takes a fifth of the total time.
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)).toString();
      decipher.final();
      return new Secret(text);
    } catch {
      throw new TokenUnreadable(
        `the encrypted token does not decrypt with key ${sealed.keyId} for this ${ownerNoun(owner)}`,
      );
    }
  }
}

/** Returns a different text for each owner: kinds start differently; only the last part may have a slash. */
function additionalData(owner: SecretOwner): string {
  if ('kind' in owner) return `document/${owner.workspaceId}/${owner.environment}/${owner.kind}/${owner.id}`;
  if ('session' in owner) return `session/${owner.session}`;
  return `${owner.workspaceId}/${owner.environment}/${owner.teamId}/${owner.tokenDigest}/${owner.providedId}`;
}

function ownerNoun(owner: SecretOwner): string {
  if ('kind' in owner) return 'document';
  return 'session' in owner ? 'session' : 'user group';
}

function parseLine(line: string, number: number): TokenKey {
  const match = RING_LINE.exec(line);
  if (match === null) {
    throw new KeyRingInvalid(`key ${number} of the ring does not have the format that "key generate" prints`);
  }
  const [, id = '', text = ''] = match;
  const bytes = Buffer.from(text, 'base64url');
  if (computeKeyId(bytes) !== id)
    throw new KeyRingInvalid(`key ${number} of the ring does not match its id ${id}: it is damaged`);
  return { id, key: createSecretKey(bytes) };
}
