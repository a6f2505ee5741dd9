// User groups are distributed over buckets. The bucket is the first column of the keys on a distributed database, and
// part of every token, so that a lookup by id and a lookup by token each address one shard.

import { hash } from 'node:crypto';

/** 14 bits. Part of every token and of every key; can never change. */
export const BUCKETS = 2 ** 14;

declare const bucketBrand: unique symbol;
/** An integer from 0 to 16 383. */
export type Bucket = number & { readonly [bucketBrand]: true };

/** The first 14 bits of SHA-256 over workspace, environment and the caller's id of the group. */
export function computeBucket(workspaceId: number, environment: string, providedId: string): Bucket {
  // Neither a workspace id nor an environment contains a slash, so different keys have different texts.
  const digest = hash('sha256', `${workspaceId}/${environment}/${providedId}`, 'latin1');
  return ((digest.charCodeAt(0) << 6) | (digest.charCodeAt(1) >> 2)) as Bucket;
}

export function parseBucket(value: number): Bucket | null {
  return Number.isInteger(value) && value >= 0 && value < BUCKETS ? (value as Bucket) : null;
}
