// Imported tokens: they do not contain a bucket, so it is stored by their digest. Rows change in the same transaction
// as the groups, so that a row exists exactly as long as a group has the token.

import type { Bucket } from '../../../domain/bucket.ts';
import { isImported, type TokenDigest } from '../../../domain/token.ts';
import type { UserGroup } from '../../../domain/user-group/user-group.ts';
import type { Query } from '../../port.ts';
import { integer, RowShape, text } from '../../row-shape.ts';
import { statement } from '../../statement.ts';
import type { Session } from '../client/session.ts';
import { sentRows, toArrays } from '../sent-rows.ts';

interface ImportedToken {
  digest: TokenDigest;
  bucket: Bucket;
}

const IMPORTED_TOKEN = new RowShape<ImportedToken>({
  digest: text('token_digest'),
  bucket: integer('bucket'),
});

export const FIND = statement('find_imported_tokens')`
  select token_digest, bucket from imported_tokens where token_digest = any ($1::text[])`;

// A concurrent claim of the same token waits here for the other transaction.
export const ADD = statement('add_imported_tokens')`
  insert into imported_tokens (${IMPORTED_TOKEN.names})
  select token_digest, bucket from ${sentRows(IMPORTED_TOKEN)}
  on conflict (token_digest) do nothing
  returning token_digest`;

// Runs in a rename. A token that encoded the bucket of its group until then has no row yet.
export const MOVE = statement('move_imported_tokens')`
  insert into imported_tokens (${IMPORTED_TOKEN.names})
  select token_digest, bucket from ${sentRows(IMPORTED_TOKEN)}
  on conflict (token_digest) do update set bucket = excluded.bucket`;

export const FORGET = statement('forget_imported_tokens')`
  delete from imported_tokens where token_digest = any ($1::text[])`;

export async function findImportedTokens(
  session: Session,
  queries: readonly Pick<Query<'findImportedToken'>, 'digest'>[],
): Promise<(Bucket | null)[]> {
  const rows = await session.query(FIND, [[...new Set(queries.map(({ digest }) => digest))]]);
  const buckets = new Map(rows as [TokenDigest, Bucket][]);
  return queries.map(({ digest }) => buckets.get(digest) ?? null);
}

/** Returns the digests that were added. Adds them in order, so that two processes do not deadlock. */
export async function addImportedTokens(
  session: Session,
  tokens: readonly ImportedToken[],
): Promise<Set<TokenDigest>> {
  if (tokens.length === 0) return new Set();
  const rows = await session.query(ADD, toArrays(IMPORTED_TOKEN, tokens.toSorted(byDigest)));
  return new Set(rows.map(([digest]) => digest as TokenDigest));
}

export async function moveImportedTokens(session: Session, tokens: readonly ImportedToken[]): Promise<void> {
  if (tokens.length > 0) await session.query(MOVE, toArrays(IMPORTED_TOKEN, tokens.toSorted(byDigest)));
}

function byDigest(a: ImportedToken, b: ImportedToken): number {
  return a.digest < b.digest ? -1 : 1;
}

export async function forgetImportedTokens(session: Session, digests: readonly TokenDigest[]): Promise<void> {
  if (digests.length > 0) await session.query(FORGET, [digests.toSorted()]);
}

/** The rows that belong to a group. */
export function heldImportedTokens({
  bucket,
  tokenDigest,
  previousTokenDigest,
}: Pick<UserGroup, 'bucket' | 'tokenDigest' | 'previousTokenDigest'>): ImportedToken[] {
  return [tokenDigest, previousTokenDigest]
    .filter((digest) => digest !== null)
    .filter(isImported)
    .map((digest) => ({ digest, bucket }));
}
