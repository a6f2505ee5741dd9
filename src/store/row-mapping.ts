// The columns of each table, the same in every database, and the mapping between rows and values.

import type { ApiToken, Permission } from '../domain/api-token.ts';
import type { Bucket } from '../domain/bucket.ts';
import type { JsonText } from '../domain/strict-json.ts';
import type { TokenDigest } from '../domain/token.ts';
import type { Environment, UserGroup, UserGroupKey } from '../domain/user-group.ts';
import type { NewUserGroup, Workspace } from './port.ts';

const KEY_COLUMNS = 'bucket, workspace_id, environment, provided_id';
/** All columns but those of the key. */
export const COLUMNS_BESIDE_KEY =
  'team_id, name, mapping, properties, version, token_digest, token_key_id, token_ciphertext, ' +
  'previous_token_digest, previous_token_expires_at, created_at, updated_at';
export const USER_GROUP_COLUMNS = `${KEY_COLUMNS}, ${COLUMNS_BESIDE_KEY}`;

type KeyRow = [Bucket, number, Environment, string];
type RowBesideKey = [
  number,
  string,
  JsonText | null,
  JsonText | null,
  number,
  TokenDigest,
  string,
  string,
  TokenDigest | null,
  number | null,
  number,
  number,
];
type UserGroupRow = [...KeyRow, ...RowBesideKey];

/** Maps a row of `USER_GROUP_COLUMNS`; undefined to null. */
export function toUserGroup(row: unknown): UserGroup | null {
  if (row === undefined) return null;
  const [bucket, workspaceId, environment, providedId, ...besideKey] = row as UserGroupRow;
  return userGroupOf({ bucket, workspaceId, environment, providedId }, besideKey);
}

/** Maps a row of `COLUMNS_BESIDE_KEY`. */
export function userGroupOf(key: UserGroupKey, row: unknown): UserGroup {
  const columns = row as RowBesideKey;
  return {
    bucket: key.bucket,
    workspaceId: key.workspaceId,
    environment: key.environment,
    providedId: key.providedId,
    teamId: columns[0],
    name: columns[1],
    mapping: columns[2],
    properties: columns[3],
    version: columns[4],
    tokenDigest: columns[5],
    sealedToken: { keyId: columns[6], ciphertext: columns[7] },
    previousTokenDigest: columns[8],
    previousTokenExpiresAt: columns[9],
    createdAt: columns[10],
    updatedAt: columns[11],
  };
}

/** The values of a row, in the order of `USER_GROUP_COLUMNS`. */
export function fromUserGroup(userGroup: UserGroup): UserGroupRow {
  return [
    userGroup.bucket,
    userGroup.workspaceId,
    userGroup.environment,
    userGroup.providedId,
    userGroup.teamId,
    userGroup.name,
    userGroup.mapping,
    userGroup.properties,
    userGroup.version,
    userGroup.tokenDigest,
    userGroup.sealedToken.keyId,
    userGroup.sealedToken.ciphertext,
    userGroup.previousTokenDigest,
    userGroup.previousTokenExpiresAt,
    userGroup.createdAt,
    userGroup.updatedAt,
  ];
}

/** What a create has stored, without reading it back. */
export function createdUserGroup(command: NewUserGroup): UserGroup {
  const { key, teamId, name, mapping, properties, tokenDigest, sealedToken, now } = command;
  return {
    bucket: key.bucket,
    workspaceId: key.workspaceId,
    environment: key.environment,
    providedId: key.providedId,
    teamId,
    name,
    mapping,
    properties,
    version: 1,
    tokenDigest,
    sealedToken,
    previousTokenDigest: null,
    previousTokenExpiresAt: null,
    createdAt: now,
    updatedAt: now,
  };
}

export const API_TOKEN_COLUMNS =
  'api_token_id, workspace_id, environment, permission, name, digest, created_at, expires_at, revoked_at';

type ApiTokenColumns = [
  number,
  number,
  Environment,
  Permission,
  string | null,
  TokenDigest,
  number,
  number | null,
  number | null,
];

export function toApiToken(row: unknown): ApiToken | null {
  if (row === undefined) return null;
  const [apiTokenId, workspaceId, environment, permission, name, digest, createdAt, expiresAt, revokedAt] =
    row as ApiTokenColumns;
  return { apiTokenId, workspaceId, environment, permission, name, digest, createdAt, expiresAt, revokedAt };
}

/** The values of a row, in the order of `API_TOKEN_COLUMNS`. */
export function fromApiToken(apiToken: ApiToken): ApiTokenColumns {
  return [
    apiToken.apiTokenId,
    apiToken.workspaceId,
    apiToken.environment,
    apiToken.permission,
    apiToken.name,
    apiToken.digest,
    apiToken.createdAt,
    apiToken.expiresAt,
    apiToken.revokedAt,
  ];
}

export const WORKSPACE_COLUMNS = 'workspace_id, name, created_at';

export function toWorkspace(row: unknown): Workspace {
  const [workspaceId, name, createdAt] = row as [number, string, number];
  return { workspaceId, name, createdAt };
}
