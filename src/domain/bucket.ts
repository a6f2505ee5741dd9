// User groups are spread over buckets. The bucket leads the keys of a database that may be distributed, and stands in
// every token, so that a look-up by id and a look-up by token both name one shard.

import { hash } from 'node:crypto';

/** 14 bits. Part of every token and of every key; can never change. */
export const BUCKETS = 2 ** 14;

declare const bucketBrand: unique symbol;
/** An integer from 0 to 16 383. */
export type Bucket = number & { readonly [bucketBrand]: true };

/** The first 14 bits of SHA-256 over workspace, environment and the caller's id of the group. */
export function bucketOf(workspaceId: number, environment: string, providedId: string): Bucket {
  // Neither a workspace id nor an environment holds a slash, so no two keys spell the same text.
  const digest = hash('sha256', `${workspaceId}/${environment}/${providedId}`, 'latin1');
  return ((digest.charCodeAt(0) << 6) | (digest.charCodeAt(1) >> 2)) as Bucket;
}

export function parseBucket(value: number): Bucket | null {
  return Number.isInteger(value) && value >= 0 && value < BUCKETS ? (value as Bucket) : null;
}
