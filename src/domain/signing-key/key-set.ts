// The keys that sign the embed tokens of one workspace and environment: one document, so that its keys change together
// and every process signs with the same ones. Only instants decide which key signs:
//
//   published, not signing     until `signs_from`: longer than verifiers may keep an older key set
//   signing                    until `signs_from` of the next key of the same algorithm
//   published, not signing     until the last token that it signed has expired
//
// So a verifier that honours `max-age` never meets a token whose key it does not find.

import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  hash,
  type KeyObject,
  type webcrypto,
} from 'node:crypto';
import { promisify } from 'node:util';
import { type Document, type DocumentKey, SINGLETON_ID } from '../document.ts';
import { timestamp, timestampOrNull } from '../instant.ts';
import { jsonText } from '../json/json-tree.ts';
import type { JsonText } from '../json/strict-json.ts';
import { takeRandomBytes } from '../random-bytes.ts';
import { Secret } from '../secret.ts';
import { environments, type Tenant } from '../tenant.ts';
import {
  jwtHeader,
  type PrivateSigningKey,
  type SignatureAlgorithm,
  signatureAlgorithms,
} from './json-web-token.ts';

/** The key of the document: an environment has one key set. */
export function keySetKey({ workspaceId, environment }: Tenant): DocumentKey {
  return { workspaceId, environment, kind: 'key_set', id: SINGLETON_ID };
}

type JsonWebKey = webcrypto.JsonWebKey;

/** Time for which verifiers keep a key set: `Cache-Control: max-age`. */
export const MAX_AGE_SECONDS = 300;
const MARGIN_MS = 60_000;
/** Time from the publication of a key to its first signature. */
export const PUBLISHED_BEFORE_MS = MAX_AGE_SECONDS * 1_000 + MARGIN_MS;
export const MAX_TTL_SECONDS = 3_600;
/** Time from the last signature of a key to its removal: verifiers allow for clocks that differ. */
const PUBLISHED_AFTER_MS = MAX_TTL_SECONDS * 1_000 + MARGIN_MS * 5;

export interface SigningKey {
  /** The RFC 7638 thumbprint of the key. */
  kid: string;
  algorithm: SignatureAlgorithm;
  jwk: JsonWebKey;
  /** Milliseconds since 1970. */
  signsFrom: number;
}

export type SigningKeyStatus = 'pending' | 'signing' | 'retiring';

export interface KeySet {
  /** The last part of the URL of the issuer. */
  issuerId: string;
  keys: readonly SigningKey[];
}

/** A key that was just generated. */
export interface NewSigningKey extends SigningKey {
  pkcs8: Secret;
}

/** Generates a key for each algorithm: one that is added later must wait until verifiers know it. */
export function generateSigningKeys(signsFrom: number): Promise<NewSigningKey[]> {
  return Promise.all(signatureAlgorithms.map((algorithm) => generateSigningKey(algorithm, signsFrom)));
}

async function generateSigningKey(algorithm: SignatureAlgorithm, signsFrom: number): Promise<NewSigningKey> {
  const { privateKey, publicKey } = await (algorithm === 'ES256'
    ? promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })
    : promisify(generateKeyPair)('rsa', { modulusLength: 2_048 }));
  const jwk = publicKey.export({ format: 'jwk' });
  const pkcs8 = new Secret(privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64url'));
  return { kid: jwkThumbprint(jwk), algorithm, jwk, signsFrom, pkcs8 };
}

function jwkThumbprint({ kty, crv, x, y, e, n }: JsonWebKey): string {
  const members = kty === 'EC' ? { crv, kty, x, y } : { e, kty, n };
  return hash('sha256', JSON.stringify(members), 'base64url');
}

const RANDOM_ID_BYTES = 12;

/** Has the workspace and environment, so no table of issuers is needed; a random part prevents guessing. */
export function newIssuerId({ workspaceId, environment }: Tenant): string {
  const number = workspaceId * environments.length + environments.indexOf(environment);
  return `${takeRandomBytes(RANDOM_ID_BYTES).toString('hex')}${number.toString(16)}`;
}

/** Returns null if the text cannot be the id of an issuer. Only the stored key set shows whether it is. */
export function tenantOfIssuer(issuerId: string): Tenant | null {
  if (!/^[0-9a-f]{25,37}$/.test(issuerId)) return null;
  const number = Number.parseInt(issuerId.slice(RANDOM_ID_BYTES * 2), 16);
  const environment = environments[number % environments.length]!;
  return { workspaceId: Math.floor(number / environments.length), environment };
}

export function issuerUrl(publicUrl: string, { issuerId }: KeySet): string {
  return `${publicUrl}/issuers/${issuerId}`;
}

/** Returns the keys in the order of `signsFrom`. */
export function parseKeySet({ body }: Pick<Document, 'body'>): KeySet {
  const { issuer_id: issuerId, keys } = JSON.parse(body) as KeySetBody;
  const all = keys.map(({ signs_from: signsFrom, ...key }) => ({ ...key, signsFrom }));
  return { issuerId, keys: all.sort((a, b) => a.signsFrom - b.signsFrom) };
}

interface KeySetBody {
  issuer_id: string;
  keys: (Omit<SigningKey, 'signsFrom'> & { signs_from: number })[];
}

export function keySetText({ issuerId, keys }: KeySet): JsonText {
  const stored: KeySetBody = {
    issuer_id: issuerId,
    keys: keys.map(({ kid, algorithm, jwk, signsFrom }) => ({ kid, algorithm, jwk, signs_from: signsFrom })),
  };
  return jsonText(stored);
}

/** Private keys by key id. */
export type PrivateKeys = Readonly<Record<string, string>>;

export function privateKeysText(keys: PrivateKeys): Secret {
  return new Secret(JSON.stringify(keys));
}

export function parsePrivateKeys(text: Secret): PrivateKeys {
  return JSON.parse(text.reveal()) as PrivateKeys;
}

export function signingKeyAt({ keys }: KeySet, algorithm: SignatureAlgorithm, now: number): SigningKey {
  const last = keys.findLast((key) => key.algorithm === algorithm && key.signsFrom <= now);
  // The clock of the process that created the first key may be ahead.
  return last ?? keys.find((key) => key.algorithm === algorithm)!;
}

/** The keys whose tokens may still be valid, and those that will sign. */
export function publishedKeys({ keys }: KeySet, now: number): SigningKey[] {
  return keys.filter((key) => {
    const until = publishedUntil(key, keys);
    return until === null || until > now;
  });
}

/** null if no other key follows. */
export function publishedUntil(
  { algorithm, signsFrom }: SigningKey,
  keys: readonly SigningKey[],
): number | null {
  const next = keys.find((key) => key.algorithm === algorithm && key.signsFrom > signsFrom);
  return next === undefined ? null : next.signsFrom + PUBLISHED_AFTER_MS;
}

export function statusOfSigningKey(key: SigningKey, keySet: KeySet, now: number): SigningKeyStatus {
  if (signingKeyAt(keySet, key.algorithm, now).kid === key.kid) return 'signing';
  return key.signsFrom > now ? 'pending' : 'retiring';
}

/**
 * Whether new keys wait to sign. Ignores keys that a process with a clock ahead has dated: they would wait
 * until that date.
 */
export function hasPendingKeys(keySet: KeySet, now: number): boolean {
  return keySet.keys.some(
    (key) =>
      statusOfSigningKey(key, keySet, now) === 'pending' && key.signsFrom <= now + 2 * PUBLISHED_BEFORE_MS,
  );
}

/** The keys that stay published at a rotation: none that would sign after the new ones. */
export function keysToKeep(keySet: KeySet, now: number): SigningKey[] {
  return publishedKeys(keySet, now)
    .filter((key) => statusOfSigningKey(key, keySet, now) !== 'pending')
    .map((key) => ({ ...key, signsFrom: Math.min(key.signsFrom, now) }));
}

/** A key as the API and the command line write it. */
export function signingKeyMembers(key: SigningKey, keySet: KeySet, now: number) {
  return {
    kid: key.kid,
    algorithm: key.algorithm,
    status: statusOfSigningKey(key, keySet, now),
    signs_from: timestamp(key.signsFrom),
    published_until: timestampOrNull(publishedUntil(key, keySet.keys)),
    public_key: createPublicKeyObject(key).export({ format: 'pem', type: 'spki' }).toString(),
  };
}

/** RFC 7517. */
export function jsonWebKeySet(keys: readonly SigningKey[]): string {
  const published = keys.map(({ kid, algorithm, jwk }) => ({ ...jwk, kid, alg: algorithm, use: 'sig' }));
  return JSON.stringify({ keys: published });
}

export function createPublicKeyObject({ jwk }: SigningKey): KeyObject {
  return createPublicKey({ key: jwk, format: 'jwk' });
}

export function createSigner({ kid, algorithm }: SigningKey, keys: PrivateKeys): PrivateSigningKey {
  const key = createPrivateKey({ key: Buffer.from(keys[kid]!, 'base64url'), format: 'der', type: 'pkcs8' });
  return { algorithm, key, header: jwtHeader(algorithm, kid) };
}
