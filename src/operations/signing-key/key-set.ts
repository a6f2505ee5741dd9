// Manages the keys that sign embed tokens: created with the first integration that needs them, and rotated on
// request.

import type { Caller } from '../../domain/api-token.ts';
import { type Document, documentTag, nextVersion, UNLIMITED } from '../../domain/document.ts';
import { isMetByTag, type Precondition } from '../../domain/precondition.ts';
import type { PrivateSigningKey, SignatureAlgorithm } from '../../domain/signing-key/json-web-token.ts';
import {
  createPublicKeyObject,
  createSigner,
  generateSigningKeys,
  hasPendingKeys,
  type KeySet,
  keySetKey,
  keySetText,
  keysToKeep,
  type NewSigningKey,
  newIssuerId,
  type PrivateKeys,
  PUBLISHED_BEFORE_MS,
  parseKeySet,
  parsePrivateKeys,
  privateKeysText,
  publishedKeys,
  type SigningKey,
  signingKeyAt,
  statusOfSigningKey,
  tenantOfIssuer,
} from '../../domain/signing-key/key-set.ts';
import { Problem } from '../../problem.ts';
import type { DocumentChange } from '../../store/port.ts';
import type { Context } from '../context.ts';
import { type DocumentContext, openSecret, unchanged } from '../document/document.ts';
import { callerOfAttempts, type EnvironmentConfig } from '../document/environment-config.ts';
import { newEvent } from '../event/event.ts';
import { oncePer } from '../machinery/once-per.ts';
import { changedTooOften, versionMismatch } from '../refusals.ts';

const NOUN = 'key set';

/** A document with the values derived from it. A document never changes: each version is a new document. */
export interface StoredKeySet {
  document: Document;
  keySet: KeySet;
}

const storedKeySet = oncePer(
  (document: Document): StoredKeySet => ({ document, keySet: parseKeySet(document) }),
);
const publicKeyOf = oncePer(createPublicKeyObject);
const signerOf = oncePer((key: SigningKey, context: Pick<Context, 'keyRing'>, document: Document) =>
  createSigner(key, parsePrivateKeys(openSecret(context, document, NOUN))),
);

/** Returns null if no integration has needed a key set yet. */
export async function findKeySet(
  { store, configs }: Pick<Context, 'store' | 'configs'>,
  caller: Caller,
): Promise<StoredKeySet | null> {
  return keySetIn(await configs.of(store, caller));
}

export function keySetIn(config: EnvironmentConfig): StoredKeySet | null {
  const [document] = config.ofKind('key_set').values();
  return document === undefined ? null : storedKeySet(document);
}

/** Returns the key set of an issuer, to anyone who knows its id. Throws `not_found`. */
export async function readIssuer({ store }: Pick<Context, 'store'>, issuerId: string): Promise<StoredKeySet> {
  const tenant = tenantOfIssuer(issuerId);
  // Reads only this document, not the configurations kept in memory: callers without an API token could
  // displace them.
  const document =
    tenant === null ? null : await store.read({ kind: 'findDocument', key: keySetKey(tenant) });
  if (document !== null) {
    const stored = storedKeySet(document);
    if (stored.keySet.issuerId === issuerId) return stored;
  }
  throw new Problem('not_found', 'No issuer has this id.');
}

type KeySetContext = DocumentContext & Pick<Context, 'signatures'>;

/** Returns the key set; creates it if there is none. */
export async function ensureKeySet(context: KeySetContext, caller: Caller): Promise<StoredKeySet> {
  for (const reader of callerOfAttempts(caller)) {
    const stored = await findKeySet(context, reader);
    if (stored !== null) return stored;
    const keys = await newKeysUnlessCreated(context, caller);
    const created = keys && (await write(context, reader, onlyKeys(newIssuerId(caller), keys), null));
    if (created !== null) return created;
  }
  throw changedTooOften(NOUN);
}

/** Returns a key set without earlier keys. */
function onlyKeys(issuerId: string, keys: readonly NewSigningKey[]): Change {
  return { issuerId, keys, privateKeys: {}, added: keys };
}

/** Generates keys when it is the caller's turn, because this takes as long as a hundred slow signatures. */
function newKeys(
  { signatures }: KeySetContext,
  { workspaceId }: Caller,
  signsFrom: number,
): Promise<NewSigningKey[]> {
  return signatures.run(workspaceId, () => generateSigningKeys(signsFrom));
}

/** Returns null if another call has created the key set while this one waited for its turn. */
function newKeysUnlessCreated(
  { store, clock, signatures }: KeySetContext,
  caller: Caller,
): Promise<NewSigningKey[] | null> {
  return signatures.run(caller.workspaceId, async () => {
    const document = await store.read({ kind: 'findDocument', key: keySetKey(caller) });
    return document === null ? generateSigningKeys(clock()) : null;
  });
}

/** Creates the first key set of an environment as part of a change of its whole configuration. */
export async function newKeySet(context: KeySetContext, caller: Caller): Promise<DocumentChange> {
  const keys = await newKeys(context, caller, context.clock());
  const first = await replacement(context, caller, onlyKeys(newIssuerId(caller), keys), null);
  return { before: null, after: nextVersion(first.key, null, first), event: first.event };
}

/**
 * Publishes new keys, which sign once every verifier has had time to fetch them; the previous keys remain
 * published until their tokens have expired. If published keys do not sign yet, returns these instead. With
 * `revoke`, the new keys sign immediately and all previous keys are gone: this service rejects their tokens
 * at once, and each verifier does after `max-age`. Throws `version_mismatch` if the precondition is not met.
 */
export async function rotateKeySet(
  context: KeySetContext,
  caller: Caller,
  { revoke, precondition }: { revoke: boolean; precondition?: Precondition },
): Promise<StoredKeySet> {
  for (const reader of callerOfAttempts(caller)) {
    const stored = await findKeySet(context, reader);
    if (!isMetByTag(precondition, stored && documentTag(stored.document))) throw versionMismatch(NOUN);
    if (stored === null) return ensureKeySet(context, reader);
    if (!revoke && hasPendingKeys(stored.keySet, context.clock())) return stored;
    const change = await rotation(context, reader, stored, revoke);
    const rotated = await write(context, reader, change, stored.document);
    if (rotated !== null) return rotated;
  }
  throw changedTooOften(NOUN);
}

interface Change extends KeySet {
  added: readonly NewSigningKey[];
  /** Private keys that are kept. */
  privateKeys: PrivateKeys;
}

async function rotation(
  context: KeySetContext,
  caller: Caller,
  { document, keySet }: StoredKeySet,
  revoke: boolean,
): Promise<Change> {
  const now = context.clock();
  const { issuerId } = keySet;
  if (revoke) return onlyKeys(issuerId, await newKeys(context, caller, now));
  const added = await newKeys(context, caller, now + PUBLISHED_BEFORE_MS);
  const all = parsePrivateKeys(openSecret(context, document, NOUN));
  // Other keys will not sign again.
  const signing = keySet.keys.filter((key) => statusOfSigningKey(key, keySet, now) === 'signing');
  const privateKeys = Object.fromEntries(signing.map(({ kid }) => [kid, all[kid]!]));
  return { issuerId, keys: [...keysToKeep(keySet, now), ...added], added, privateKeys };
}

/**
 * Stores the key set. Returns null if the stored one is not `replaced`, or, if `replaced` is null, already
 * exists.
 */
async function write(
  context: DocumentContext,
  caller: Caller,
  change: Change,
  replaced: Document | null,
): Promise<StoredKeySet | null> {
  const result = await context.store.write({
    kind: 'putDocument',
    ...(await replacement(context, caller, change, replaced)),
    precondition: unchanged(replaced),
    limit: UNLIMITED,
  });
  return typeof result === 'string' ? null : storedKeySet(result.document);
}

async function replacement(
  context: DocumentContext,
  caller: Caller,
  { added, privateKeys, ...keySet }: Change,
  replaced: Document | null,
) {
  const { keyRing, clock } = context;
  const key = keySetKey(caller);
  const addedKeys = Object.fromEntries(added.map(({ kid, pkcs8 }) => [kid, pkcs8.reveal()]));
  const type = replaced === null ? 'key_set.created' : 'key_set.rotated';
  return {
    key,
    body: keySetText(keySet),
    secret: keyRing.seal(privateKeysText({ ...privateKeys, ...addedKeys }), key),
    now: clock(),
    event: await newEvent(context, caller, type, key.id),
  };
}

/** Returns the key that signs now. */
export function findSigner(
  context: Pick<Context, 'keyRing' | 'clock'>,
  { document, keySet }: StoredKeySet,
  algorithm: SignatureAlgorithm,
): PrivateSigningKey {
  return signerOf(signingKeyAt(keySet, algorithm, context.clock()), context, document);
}

/** Returns the published key with this id, to verify a signature; null if there is none. */
export function findVerifier({ keySet }: StoredKeySet, kid: string, now: number) {
  const key = publishedKeys(keySet, now).find((each) => each.kid === kid);
  return key === undefined ? null : { algorithm: key.algorithm, publicKey: publicKeyOf(key) };
}
