// The user group: its fields, its key, and its version tag.

import { type Bucket, computeBucket } from '../bucket.ts';
import { jsonText } from '../json/json-tree.ts';
import type { JsonText } from '../json/strict-json.ts';
import type { SealedSecret } from '../secret.ts';
import { isSameTenant, type Tenant } from '../tenant.ts';
import type { TokenDigest } from '../token.ts';

/** The key of a user group: its workspace and environment, the caller's id of it, and the bucket derived from these. */
export interface UserGroupKey extends Tenant {
  readonly bucket: Bucket;
  readonly providedId: string;
}

/** A stored user group. Instants are milliseconds since 1970. */
export interface UserGroup extends UserGroupKey {
  teamId: number;
  name: string;
  mapping: JsonText | null;
  properties: JsonText | null;
  /** Starts at 1 and increases with every change. */
  version: number;
  tokenDigest: TokenDigest;
  sealedToken: SealedSecret;
  /** The token that the last rotation replaced; resolves until `previousTokenExpiresAt`. */
  previousTokenDigest: TokenDigest | null;
  previousTokenExpiresAt: number | null;
  createdAt: number;
  updatedAt: number;
  /** null unless suspended: the tokens of a suspended group do not resolve. */
  suspendedAt: number | null;
  /** When one of its tokens was last used, to the hour. */
  lastSeenAt: number | null;
}

/** Fields that callers set, under their names in the API. */
export const settableFields = ['name', 'mapping', 'properties'] as const;
/** Those that null clears. */
export const clearableFields = settableFields.filter((field) => field !== 'name');
export type SettableFields = Pick<UserGroup, (typeof settableFields)[number]>;

/** Returns the fields as JSON. */
export function settableTexts({
  name,
  mapping,
  properties,
}: SettableFields): Record<keyof SettableFields, JsonText | null> {
  return { name: jsonText(name), mapping, properties };
}

export function userGroupKey({ workspaceId, environment }: Tenant, providedId: string): UserGroupKey {
  return {
    bucket: computeBucket(workspaceId, environment, providedId),
    workspaceId,
    environment,
    providedId,
  };
}

/** Instant until which the token that the last rotation replaced resolves; null if it no longer does. */
export function previousTokenUntil(
  { previousTokenExpiresAt }: Pick<UserGroup, 'previousTokenExpiresAt'>,
  now: number,
): number | null {
  return previousTokenExpiresAt !== null && previousTokenExpiresAt > now ? previousTokenExpiresAt : null;
}

/** The bucket is derived from the other parts. */
export function isSameKey(a: UserGroupKey, b: UserGroupKey): boolean {
  return a.providedId === b.providedId && isSameTenant(a, b);
}

/** Different keys have different texts: only the last part may contain a slash. */
export function keyToString({ bucket, workspaceId, environment, providedId }: UserGroupKey): string {
  return `${bucket}/${workspaceId}/${environment}/${providedId}`;
}

declare const versionTagBrand: unique symbol;

/** Identifies a version of a group. A group that is deleted and created again has another `team_id`. */
export type VersionTag = string & { readonly [versionTagBrand]: true };

const VERSION_TAG = /^[1-9]\d*-[1-9]\d*$/;

export function versionTag({ teamId, version }: Pick<UserGroup, 'teamId' | 'version'>): VersionTag {
  return `${teamId}-${version}` as VersionTag;
}

/** Returns null if the text is not a version tag. */
export function toVersionTag(text: string): VersionTag | null {
  return VERSION_TAG.test(text) ? (text as VersionTag) : null;
}

/** Characters of JSON in the fields that may be large. */
export function valuesLength({
  mapping,
  properties,
}: {
  mapping?: JsonText | null | undefined;
  properties?: JsonText | null | undefined;
}): number {
  return (mapping?.length ?? 0) + (properties?.length ?? 0);
}
