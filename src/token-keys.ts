// Where the key ring comes from: the settings, or a file beside a SQLite database that is made at the first start.

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Config, ConfigInvalid } from './config.ts';
import { generateKeyLine, KeyRing, KeyRingInvalid } from './domain/key-ring.ts';
import { Secret } from './domain/secret.ts';
import { createUnfinished, FileExists, publish, sync, unfinishedNameOf } from './publish.ts';
import type { BatchedStore } from './store/batched-store.ts';

type RingConfig = Pick<Config, 'databaseUrl' | 'tokenKeys'>;

/**
 * The key ring for the tokens in `store`. Throws `ConfigInvalid` where it lacks a key that stored tokens may be
 * sealed under: a service that cannot read its tokens must not start.
 */
export async function loadKeyRing(config: RingConfig, store: BatchedStore): Promise<KeyRing> {
  const used = await store.read({ kind: 'listTokenKeyIds' });
  const { text, source } = ringText(config, used.length > 0);
  const ring = parse(text, source);
  const missing = ring.missing(used);
  if (missing.length > 0) {
    throw new ConfigInvalid(
      `${source} lacks the token key ${missing.join(', ')}, under which tokens in the database are sealed; add its line to the key ring`,
    );
  }
  return ring;
}

/** The file beside a SQLite database; null where it is not asked for the ring. */
export function keyFileOf({ databaseUrl, tokenKeys }: RingConfig): string | null {
  if (tokenKeys !== null || databaseUrl.engine !== 'sqlite') return null;
  return join(dirname(databaseUrl.path), 'token-keys');
}

/** Writes down that stored tokens may be sealed under the active key of the ring. */
export async function registerActiveKey(ring: KeyRing, store: BatchedStore, now: number): Promise<void> {
  await store.write({ kind: 'addTokenKeyId', keyId: ring.activeKeyId, now });
}

function ringText(config: RingConfig, hasTokens: boolean): { text: Secret; source: string } {
  if (config.tokenKeys !== null) return { text: config.tokenKeys, source: 'UGS_TOKEN_KEYS' };
  const file = keyFileOf(config);
  if (file === null) {
    throw new ConfigInvalid(
      'UGS_TOKEN_KEYS is not set and PostgreSQL needs it: "key generate" prints a key; give the same to every process',
    );
  }
  // Once tokens are sealed with it, one that is gone is not replaced by another one.
  if (!hasTokens) onKeyFile('made', () => ensureSecretFile(file, generateKeyLine));
  else if (!existsSync(file)) {
    throw new ConfigInvalid(
      `${file} is missing and the database holds tokens sealed with it: restore it, or set UGS_TOKEN_KEYS`,
    );
  }
  return { text: onKeyFile('read', () => new Secret(readFileSync(file, 'utf8'))), source: file };
}

function onKeyFile<Result>(done: 'made' | 'read', work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new ConfigInvalid(`the key file cannot be ${done}: ${(error as Error).message}`);
  }
}

function parse(text: Secret, source: string): KeyRing {
  try {
    return KeyRing.parse(text);
  } catch (error) {
    if (!(error instanceof KeyRingInvalid)) throw error;
    throw new ConfigInvalid(`${source}: ${error.message}`);
  }
}

/** Writes a file that only its owner can read, safely on the disk. A file that is there is replaced whole. */
export function replaceSecretFile(path: string, secret: Secret): void {
  writeSecretFile(path, secret, renameSync);
  sync(dirname(path));
}

/** The same, but a file that is there stays. Whoever made it may have been killed before its name was safe. */
function ensureSecretFile(path: string, generate: () => Secret): void {
  if (!existsSync(path)) writeSecretFile(path, generate(), publishUnlessThere);
  sync(dirname(path));
}

/** The secret is whole before `giveName` gives it the right name, so that a kill leaves no half of it there. */
function writeSecretFile(
  path: string,
  secret: Secret,
  giveName: (unfinished: string, path: string) => void,
): void {
  const unfinished = unfinishedNameOf(path);
  createUnfinished(unfinished);
  try {
    writeFileSync(unfinished, `${secret.reveal()}\n`, { flush: true });
    giveName(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Of two processes that start together, both use the file of the first one. */
function publishUnlessThere(unfinished: string, path: string): void {
  try {
    publish(unfinished, path);
  } catch (error) {
    if (!(error instanceof FileExists)) throw error;
  }
}
