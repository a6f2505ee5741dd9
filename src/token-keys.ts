// Where the key ring comes from: the settings, or a file beside a SQLite database that is made at the first start.

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Config, ConfigInvalid } from './config.ts';
import { generateKeyLine, KeyRing, KeyRingInvalid } from './domain/key-ring.ts';
import { Secret } from './domain/secret.ts';
import { FileExists, publish, sync, unfinishedName } from './publish.ts';
import type { BatchedStore } from './store/batcher.ts';

/**
 * The key ring for the tokens in `store`. Throws `ConfigInvalid` where it lacks a key that stored tokens may be
 * sealed under: a service that cannot read its tokens must not start.
 */
export async function loadKeyRing(
  config: Pick<Config, 'databaseUrl' | 'tokenKeys'>,
  store: BatchedStore,
): Promise<KeyRing> {
  const used = await store.read({ kind: 'listTokenKeyIds' });
  const { text, source } = ringText(config, used.length > 0);
  const ring = parse(text, source);
  const missing = used.filter((id) => !ring.keyIds.includes(id));
  if (missing.length > 0) {
    throw new ConfigInvalid(
      `${source} lacks the token key ${missing.join(', ')}, under which tokens in the database are sealed; add its line to the key ring`,
    );
  }
  return ring;
}

/** Writes down that stored tokens may be sealed under the active key of the ring. */
export async function registerActiveKey(ring: KeyRing, store: BatchedStore, now: number): Promise<void> {
  await store.write({ kind: 'addTokenKeyId', keyId: ring.activeKeyId, now });
}

function ringText(
  { databaseUrl, tokenKeys }: Pick<Config, 'databaseUrl' | 'tokenKeys'>,
  hasTokens: boolean,
): { text: Secret; source: string } {
  if (tokenKeys !== null) return { text: tokenKeys, source: 'UGS_TOKEN_KEYS' };
  if (databaseUrl.engine !== 'sqlite') {
    throw new ConfigInvalid(
      'UGS_TOKEN_KEYS is not set and PostgreSQL needs it: "key generate" prints a key; give the same to every process',
    );
  }
  const file = join(dirname(databaseUrl.path), 'token-keys');
  try {
    return { text: new Secret(readFileSync(file, 'utf8')), source: file };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new ConfigInvalid(`the key file cannot be read: ${(error as Error).message}`);
    }
  }
  if (hasTokens) {
    throw new ConfigInvalid(
      `${file} is missing and the database holds tokens sealed with it: restore it, or set UGS_TOKEN_KEYS`,
    );
  }
  createSecretFile(file, generateKeyLine());
  return { text: new Secret(readFileSync(file, 'utf8')), source: file };
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
  renameSync(unfinishedFile(path, secret), path);
  sync(dirname(path));
}

/** The same, but a file that is there stays: of two processes that start together, both use the first one's. */
function createSecretFile(path: string, secret: Secret): void {
  const unfinished = unfinishedFile(path, secret);
  try {
    publish(unfinished, path);
  } catch (error) {
    if (!(error instanceof FileExists)) throw error;
  } finally {
    rmSync(unfinished);
  }
}

/** The secret in a file of another name, so that a kill leaves no half of it under the right one. */
function unfinishedFile(path: string, secret: Secret): string {
  const unfinished = unfinishedName(path);
  const file = openSync(unfinished, 'w', 0o600);
  try {
    writeSync(file, `${secret.reveal()}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return unfinished;
}
