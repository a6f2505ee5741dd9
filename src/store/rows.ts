// The columns of each table, the same in every database, and how a row of them becomes a value.

import type { ApiToken, Permission } from '../domain/api-token.ts';
import type { Bucket } from '../domain/bucket.ts';
import type { JsonText } from '../domain/strict-json.ts';
import type { TokenDigest } from '../domain/token.ts';
import type { Environment, UserGroup } from '../domain/user-group.ts';
import type { NewUserGroup, Workspace } from './store.ts';

export const USER_GROUP_COLUMNS =
  'bucket, workspace_id, environment, provided_id, team_id, name, mapping, properties, version, token_digest, ' +
  'token_key_id, token_ciphertext, previous_token_digest, previous_token_expires_at, created_at, updated_at';

type UserGroupRow = [
  Bucket,
  number,
  Environment,
  string,
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

export function toUserGroup(row: unknown): UserGroup | null {
  if (row === undefined) return null;
  const columns = row as UserGroupRow;
  return {
    bucket: columns[0],
    workspaceId: columns[1],
    environment: columns[2],
    providedId: columns[3],
    teamId: columns[4],
    name: columns[5],
    mapping: columns[6],
    properties: columns[7],
    version: columns[8],
    tokenDigest: columns[9],
    sealedToken: { keyId: columns[10], ciphertext: columns[11] },
    previousTokenDigest: columns[12],
    previousTokenExpiresAt: columns[13],
    createdAt: columns[14],
    updatedAt: columns[15],
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

/** What a create has stored, without asking the database for it. */
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

export const WORKSPACE_COLUMNS = 'workspace_id, name, created_at';

export function toWorkspace(row: unknown): Workspace {
  const [workspaceId, name, createdAt] = row as [number, string, number];
  return { workspaceId, name, createdAt };
}
