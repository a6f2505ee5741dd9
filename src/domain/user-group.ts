// The user group: what it is, how it is addressed, and how two versions of it are told apart.

import { type Bucket, bucketOf } from './bucket.ts';
import type { JsonText } from './strict-json.ts';
import type { TokenDigest } from './token.ts';

export const environments = ['Customer', 'Testing'] as const;
export type Environment = (typeof environments)[number];

/** Where a user group lives: its workspace and environment, the caller's id of it, and the bucket these make. */
export interface UserGroupKey {
  readonly bucket: Bucket;
  readonly workspaceId: number;
  readonly environment: Environment;
  readonly providedId: string;
}

/** A token as it is stored: encrypted, with the name of the key that opens it. */
export interface SealedToken {
  keyId: string;
  ciphertext: string;
}

/** A user group as it is stored. Instants are milliseconds since 1970. */
export interface UserGroup extends UserGroupKey {
  teamId: number;
  name: string;
  mapping: JsonText | null;
  properties: JsonText | null;
  /** 1 when created, one more with every change. */
  version: number;
  tokenDigest: TokenDigest;
  sealedToken: SealedToken;
  /** The token that the last rotation replaced; it resolves until `previousTokenExpiresAt`. */
  previousTokenDigest: TokenDigest | null;
  previousTokenExpiresAt: number | null;
  createdAt: number;
  updatedAt: number;
}

export function keyOf(workspaceId: number, environment: Environment, providedId: string): UserGroupKey {
  return { bucket: bucketOf(workspaceId, environment, providedId), workspaceId, environment, providedId };
}

/** The bucket is made of the others. */
export function isSameKey(a: UserGroupKey, b: UserGroupKey): boolean {
  return a.providedId === b.providedId && a.workspaceId === b.workspaceId && a.environment === b.environment;
}

/** No two keys spell the same text: only the last part may hold a slash. */
export function spell({ bucket, workspaceId, environment, providedId }: UserGroupKey): string {
  return `${bucket}/${workspaceId}/${environment}/${providedId}`;
}

/** Names one life and version of a group: a group deleted and made again has another `team_id`. */
export function versionTag(group: Pick<UserGroup, 'teamId' | 'version'>): string {
  return `${group.teamId}-${group.version}`;
}
