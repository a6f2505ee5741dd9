// The text of tokens: how they are made, recognised and looked up. Knows nothing of storage or keys.
//
//   user group token: ugt_ BBB RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR CCCCCC
//   API token:        uga_     RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR CCCCCC
//
// B: the bucket of the user group, so that a look-up by token names one shard. R: 43 random base62 digits
// (256 bits). C: the CRC-32 of all before it, so that typing errors fail without a query; it protects nothing. Only
// [0-9A-Za-z_], so that a double click selects a token whole.
//
// A group that is imported keeps the token that it has, which may be of any form and names no bucket, or not the one
// of the group. The digest of such a token is marked, and the database knows the bucket of each marked digest.

import { hash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Bucket, parseBucket } from './bucket.ts';
import { importedToken } from './field.ts';
import { takeRandomBytes } from './random.ts';
import { Secret } from './secret.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Of each digit, by its character code. */
const VALUES = Uint8Array.from({ length: 128 }, (_, code) => DIGITS.indexOf(String.fromCharCode(code)));
const RANDOM_DIGITS = 43;
const CHECKSUM_DIGITS = 6;
const USER_GROUP_TOKEN = /^ugt_[0-9A-Za-z]{52}$/;
const BUCKET_START = 4;
const BUCKET_END = 7;
const API_TOKEN = /^uga_[0-9A-Za-z]{49}$/;
const IMPORTED_TOKEN = new RegExp(importedToken.pattern);
/** Stands in no digest. */
const IMPORTED_MARK = '~';

declare const digestBrand: unique symbol;
/**
 * SHA-256 of a token as 43 base64url characters, marked where an import has brought it: what the database is asked for.
 * Not a secret: 256 random bits went in, unless somebody else made the token.
 */
export type TokenDigest = string & { readonly [digestBrand]: true };

/** Where a user group token is looked up. */
export interface TokenAddress {
  readonly bucket: Bucket;
  readonly digest: TokenDigest;
}

export function mintUserGroupToken(bucket: Bucket): Secret {
  return withChecksum(`ugt_${encodeBase62(bucket, 3)}${randomDigits()}`);
}

export function mintApiToken(): Secret {
  return withChecksum(`uga_${randomDigits()}`);
}

/** Where to look for a user group token, or null where the text can be none. */
export function addressOfUserGroupToken(text: string): TokenAddress | null {
  if (!USER_GROUP_TOKEN.test(text) || !hasChecksum(text)) return null;
  const bucket = parseBucket(decodeBase62(text.slice(BUCKET_START, BUCKET_END)));
  return bucket === null ? null : { bucket, digest: digestOf(text) };
}

export function isSameAddress(a: TokenAddress, b: TokenAddress): boolean {
  return a.digest === b.digest && a.bucket === b.bucket;
}

/** The marked digest of a token that an import may have brought, or null where it can have brought none. */
export function digestOfImportedToken(text: string): TokenDigest | null {
  if (!IMPORTED_TOKEN.test(text) || API_TOKEN.test(text) || isMistyped(text)) return null;
  return `${IMPORTED_MARK}${digestOf(text)}` as TokenDigest;
}

export function isImported(digest: TokenDigest): boolean {
  return digest.startsWith(IMPORTED_MARK);
}

/** Of the form of a user group token, but none. */
function isMistyped(text: string): boolean {
  return USER_GROUP_TOKEN.test(text) && addressOfUserGroupToken(text) === null;
}

/** The digest of an API token, or null where the text can be none. */
export function digestOfApiToken(text: string): TokenDigest | null {
  return API_TOKEN.test(text) && hasChecksum(text) ? digestOf(text) : null;
}

export function digestOf(token: string): TokenDigest {
  return hash('sha256', token, 'base64url') as TokenDigest;
}

/** Compares digests in constant time. */
export function sameDigest(a: TokenDigest, b: TokenDigest): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1'));
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
  for (let place = 0; place < digits.length; place++) {
    value = value * 62 + VALUES[digits.charCodeAt(place)]!;
  }
  return value;
}

/**
 * Digits are drawn by rejection (62 of 64 six-bit values count), so each is uniform; turning 256 bits into base62
 * by long division costs ten times as much.
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
