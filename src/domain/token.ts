// The text of tokens: minting, parsing, and digests for lookup. Independent of storage and keys.
//
//   user group token: ugt_ BBB RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR CCCCCC
//   API token:        uga_     RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR CCCCCC
//
// B: the bucket of the user group, so that a lookup by token addresses one shard. R: 43 random base62 digits
// (256 bits). C: the CRC-32 of everything before it, so that typing errors fail without a query; it is not a security
// measure. Only [0-9A-Za-z_], so that a double click selects the whole token.
//
// An imported group keeps its token, which may have any form and no bucket, or another bucket than the group's. The
// digest of such a token is marked, and the database maps each marked digest to a bucket.

import { hash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Bucket, parseBucket } from './bucket.ts';
import { importedToken } from './field.ts';
import { takeRandomBytes } from './random-bytes.ts';
import { Secret } from './secret.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Values of the digits, by character code. */
const VALUES = Uint8Array.from({ length: 128 }, (_, code) => DIGITS.indexOf(String.fromCharCode(code)));
const BUCKET_DIGITS = 3;
const RANDOM_DIGITS = 43;
const CHECKSUM_DIGITS = 6;
const USER_GROUP_TOKEN = new RegExp(`ugt_[0-9A-Za-z]{${BUCKET_DIGITS + RANDOM_DIGITS + CHECKSUM_DIGITS}}`);
const API_TOKEN = new RegExp(`uga_[0-9A-Za-z]{${RANDOM_DIGITS + CHECKSUM_DIGITS}}`);
const NOT_BASE62 = /[^0-9A-Za-z]/;
const BUCKET_START = 'ugt_'.length;
const BUCKET_END = BUCKET_START + BUCKET_DIGITS;
const IMPORTED_TOKEN = new RegExp(importedToken.pattern);
/** Not a character of base64url. */
const IMPORTED_MARK = '~';

declare const digestBrand: unique symbol;
/**
 * SHA-256 of a token in 43 base64url characters, marked if the token was imported; the key of lookups. Not a secret: the
 * token has 256 random bits, unless it was issued elsewhere.
 */
export type TokenDigest = string & { readonly [digestBrand]: true };

/** The lookup key of a user group token. */
export interface TokenAddress {
  readonly bucket: Bucket;
  readonly digest: TokenDigest;
}

export function mintUserGroupToken(bucket: Bucket): Secret {
  return withChecksum(`ugt_${encodeBase62(bucket, BUCKET_DIGITS)}${randomDigits()}`);
}

export function mintApiToken(): Secret {
  return withChecksum(`uga_${randomDigits()}`);
}

/** The lookup key of a user group token, or null if the text is not one that this service issues. */
export function addressOfUserGroupToken(text: string): TokenAddress | null {
  if (!isUserGroupToken(text) || !hasChecksum(text)) return null;
  const bucket = parseBucket(decodeBase62(text.slice(BUCKET_START, BUCKET_END)));
  return bucket === null ? null : { bucket, digest: digestToken(text) };
}

/** Returns the first part of a pasted text with the form of a user group token issued here. */
export function findUserGroupToken(pasted: string): string | undefined {
  return USER_GROUP_TOKEN.exec(unwrapped(pasted))?.[0];
}

/** Returns the first part of a pasted text with the form of an API token. */
export function findApiToken(pasted: string): string | undefined {
  return API_TOKEN.exec(unwrapped(pasted))?.[0];
}

/** Removes the white space and the invisible characters that mails and chats put into a token. */
function unwrapped(text: string): string {
  return text.replace(/[\s\p{Cf}]+/gu, '');
}

/** A token that a caller presents. The prefetch and the operation both need its address: it is computed once. */
export class PresentedToken extends Secret {
  #address: TokenAddress | null | undefined;

  /** The lookup key, or null if the text is not one that this service issues. */
  get address(): TokenAddress | null {
    if (this.#address === undefined) this.#address = addressOfUserGroupToken(this.reveal());
    return this.#address;
  }
}

export function isSameAddress(a: TokenAddress, b: TokenAddress): boolean {
  return a.digest === b.digest && a.bucket === b.bucket;
}

/** Returns the marked digest of a token that may have been imported, or null if it cannot have been. */
export function digestOfImportedToken(text: string): TokenDigest | null {
  if (!IMPORTED_TOKEN.test(text) || isApiToken(text) || isMistyped(text)) return null;
  return `${IMPORTED_MARK}${digestToken(text)}` as TokenDigest;
}

/** Marks the digest of a token whose group is in another bucket than its text encodes, as if imported. */
export function asImported(digest: TokenDigest): TokenDigest {
  return isImported(digest) ? digest : (`${IMPORTED_MARK}${digest}` as TokenDigest);
}

export function isImported(digest: TokenDigest): boolean {
  return digest.startsWith(IMPORTED_MARK);
}

/** Has the form of a user group token but a wrong checksum or bucket. */
function isMistyped(text: string): boolean {
  return isUserGroupToken(text) && addressOfUserGroupToken(text) === null;
}

/** The digest of an API token, or null if the text is not a well-formed one. */
export function digestOfApiToken(text: string): TokenDigest | null {
  return isApiToken(text) && hasChecksum(text) ? digestToken(text) : null;
}

export function digestToken(token: string): TokenDigest {
  return hash('sha256', token, 'base64url') as TokenDigest;
}

/** Compares digests in constant time. */
export function sameDigest(a: TokenDigest, b: TokenDigest): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1'));
}

function isUserGroupToken(text: string): boolean {
  return hasForm(text, 'ugt_', BUCKET_DIGITS + RANDOM_DIGITS + CHECKSUM_DIGITS);
}

function isApiToken(text: string): boolean {
  return hasForm(text, 'uga_', RANDOM_DIGITS + CHECKSUM_DIGITS);
}

/** Every request checks two tokens: a regular expression that counts the digits takes twice as long. */
function hasForm(text: string, prefix: string, digits: number): boolean {
  const { length } = prefix;
  return text.length === length + digits && text.startsWith(prefix) && !NOT_BASE62.test(text.slice(length));
}

function withChecksum(body: string): Secret {
  return new Secret(body + encodeBase62(crc32(body), CHECKSUM_DIGITS));
}

function hasChecksum(text: string): boolean {
  const body = text.slice(0, -CHECKSUM_DIGITS);
  return decodeBase62(text.slice(-CHECKSUM_DIGITS)) === crc32(body);
}

function encodeBase62(value: number, width: number): string {
  let digits = '';
  for (let rest = value; digits.length < width; rest = Math.floor(rest / 62)) {
    digits = DIGITS[rest % 62] + digits;
  }
  return digits;
}

function decodeBase62(digits: string): number {
  let value = 0;
  for (let index = 0; index < digits.length; index++) {
    value = value * 62 + VALUES[digits.charCodeAt(index)]!;
  }
  return value;
}

/**
 * Rejection sampling (62 of 64 six-bit values are used) makes each digit uniform; converting 256 bits to base62 by long
 * division takes ten times as long.
 */
function randomDigits(): string {
  let digits = '';
  while (digits.length < RANDOM_DIGITS) {
    for (const byte of takeRandomBytes(RANDOM_DIGITS - digits.length)) {
      const value = byte & 63;
      if (value < 62) digits += DIGITS[value];
    }
  }
  return digits;
}
