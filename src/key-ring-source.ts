// Loads the key ring from the settings, or from a file next to the SQLite database that is created on the first start.

import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Config, ConfigInvalid } from './config.ts';
import { generateKeyLine, KeyRing, KeyRingInvalid } from './domain/key-ring.ts';
import { Secret } from './domain/secret.ts';
import type { BatchingStore } from './store/batching-store.ts';
import { createUnlessExists, fsyncPath, writeAtomically } from './system/atomic-file.ts';
import { readSecretFile } from './system/secret-file.ts';

type RingConfig = Pick<Config, 'databaseUrl' | 'tokenKeys'>;

/**
 * Loads the key ring for the tokens in `store`. Throws `ConfigInvalid` if it lacks a key that may have encrypted stored
 * tokens: a service that cannot decrypt its tokens must not start.
 */
export async function loadKeyRing(config: RingConfig, store: BatchingStore): Promise<KeyRing> {
  const used = await store.read({ kind: 'listTokenKeyIds' });
  return ringWith(used, ringText(config, used.length > 0));
}

/**
 * Reads the existing key ring; never creates one. Throws `ConfigInvalid`, also if the key ring lacks one of
 * the keys.
 */
export function readKeyRing(config: RingConfig, keyIds: readonly string[] = []): KeyRing {
  return ringWith(keyIds, ringText(config, true));
}

/** Throws `ConfigInvalid` if the key ring is invalid or lacks one of the keys. */
function ringWith(keyIds: readonly string[], text: RingText): KeyRing {
  const ring = parseRing(text);
  const missing = ring.missing(keyIds);
  if (missing.length === 0) return ring;
  throw new ConfigInvalid(
    `${text.source} lacks the token key ${missing.join(', ')}, which encrypts tokens in the database; add the line of that key to the key ring`,
  );
}

/** The key file next to a SQLite database; null if the key ring comes from the settings. */
export function keyFilePath({ databaseUrl, tokenKeys }: RingConfig): string | null {
  if (tokenKeys !== null || databaseUrl.engine !== 'sqlite') return null;
  return join(dirname(databaseUrl.path), 'token-keys');
}

/** Whether the next start will create the key file. `keyIds` are the keys that the database uses. */
export function isKeyFilePending(config: RingConfig, keyIds: readonly string[]): boolean {
  const file = keyFilePath(config);
  return keyIds.length === 0 && file !== null && !existsSync(file);
}

/** Records in the database that stored tokens may be encrypted with the active key of the ring. */
export async function registerActiveKey(ring: KeyRing, store: BatchingStore, now: number): Promise<void> {
  await store.write({ kind: 'addTokenKeyId', keyId: ring.activeKeyId, now });
}

interface RingText {
  text: Secret;
  source: string;
}

function ringText(config: RingConfig, hasTokens: boolean): RingText {
  if (config.tokenKeys !== null) return { text: config.tokenKeys, source: 'UGS_TOKEN_KEYS' };
  const file = keyFilePath(config);
  if (file === null) {
    throw new ConfigInvalid(
      'UGS_TOKEN_KEYS is not set, but PostgreSQL requires it, the same for every process: set the key ring that the database has been served with, or for a new database a key of "key generate"',
    );
  }
  // A missing file is not replaced once tokens are encrypted: a new key could not decrypt them.
  if (!hasTokens) withKeyFile('create', () => ensureKeyFile(file));
  else if (!existsSync(file)) {
    throw new ConfigInvalid(
      `the key file ${file} does not exist, but the database contains tokens encrypted with it: restore the file, or set UGS_TOKEN_KEYS`,
    );
  }
  return { text: withKeyFile('read', () => new Secret(readSecretFile(file))), source: file };
}

function withKeyFile<Result>(action: 'create' | 'read', work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new ConfigInvalid(`cannot ${action} the key file: ${(error as Error).message}`);
  }
}

function parseRing({ text, source }: RingText): KeyRing {
  try {
    return KeyRing.parse(text);
  } catch (error) {
    if (!(error instanceof KeyRingInvalid)) throw error;
    throw new ConfigInvalid(`${source}: ${error.message}`);
  }
}

/** Writes a file that only its owner can read, atomically and durably. Replaces an existing file. */
export function replaceSecretFile(path: string, secret: Secret): void {
  writeAtomically(path, (unfinished) => writeSecret(unfinished, secret), renameSync);
  fsyncPath(dirname(path));
}

/**
 * Creates the file unless it exists. Syncs the directory in either case: the process that created the file may have
 * been killed before it did so.
 */
function ensureKeyFile(path: string): void {
  if (!existsSync(path)) createUnlessExists(path, (unfinished) => writeSecret(unfinished, generateKeyLine()));
  fsyncPath(dirname(path));
}

function writeSecret(file: string, secret: Secret): void {
  writeFileSync(file, `${secret.reveal()}\n`, { flush: true });
}
