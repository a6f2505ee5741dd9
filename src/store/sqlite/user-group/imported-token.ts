// Imported tokens: they do not contain a bucket, so it is stored by their digest. A row exists exactly as long as a
// group has the token.

import type { Bucket } from '../../../domain/bucket.ts';
import { isImported, type TokenDigest } from '../../../domain/token.ts';
import type { Connection } from '../file/connection.ts';

const FIND = 'select bucket from imported_tokens where token_digest = ?';
const ADD = `insert into imported_tokens (token_digest, bucket) values (?, ?)
  on conflict (token_digest) do nothing`;
const MOVE = `insert into imported_tokens (token_digest, bucket) values (?, ?)
  on conflict (token_digest) do update set bucket = excluded.bucket`;
const FORGET = 'delete from imported_tokens where token_digest = ?';

export function findImportedToken(connection: Connection, digest: TokenDigest): Bucket | null {
  const row = connection.get(FIND, [digest]) as [Bucket] | undefined;
  return row?.[0] ?? null;
}

/** Does nothing for a token that was issued here. */
export function addImportedToken(connection: Connection, bucket: Bucket, digest: TokenDigest | null): void {
  if (digest !== null && isImported(digest)) connection.run(ADD, [digest, bucket]);
}

/** Runs in a rename. Does nothing for a token that encodes the bucket of its group. */
export function moveImportedToken(connection: Connection, bucket: Bucket, digest: TokenDigest | null): void {
  if (digest !== null && isImported(digest)) connection.run(MOVE, [digest, bucket]);
}

/** Does nothing for a token that was issued here. */
export function forgetImportedToken(connection: Connection, digest: TokenDigest | null): void {
  if (digest !== null && isImported(digest)) connection.run(FORGET, [digest]);
}
