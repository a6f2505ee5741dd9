// The columns of each table, the same in every database, and the mapping between rows and values.

import type { ApiToken, Permission } from '../domain/api-token.ts';
import type { Bucket } from '../domain/bucket.ts';
import type { Document, DocumentKind } from '../domain/document.ts';
import type { Actor, EventType, NewEvent, StoredEvent, TargetType } from '../domain/event/event.ts';
import type { JsonText } from '../domain/json/strict-json.ts';
import type { StoredToken } from '../domain/key-ring.ts';
import type { TokenDigest } from '../domain/token.ts';
import type { Environment, UserGroup, UserGroupKey } from '../domain/user-group/user-group.ts';
import type { Delivery, DeliveryState } from '../domain/webhook-endpoint/delivery.ts';
import type { NewUserGroup, UserGroupSummary, Workspace } from './port.ts';

const KEY_COLUMNS = 'bucket, workspace_id, environment, provided_id';
/** All columns but those of the key. */
export const COLUMNS_BESIDE_KEY =
  'team_id, name, mapping, properties, version, token_digest, token_key_id, token_ciphertext, ' +
  'previous_token_digest, previous_token_expires_at, created_at, updated_at, suspended_at, last_seen_at';
export const USER_GROUP_COLUMNS = `${KEY_COLUMNS}, ${COLUMNS_BESIDE_KEY}`;

type KeyRow = [Bucket, number, Environment, string];
const KEY_LENGTH = 4 satisfies KeyRow['length'];
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
  number | null,
  number | null,
];
type UserGroupRow = [...KeyRow, ...RowBesideKey];

/** Maps a row of `USER_GROUP_COLUMNS`; undefined to null. */
export function toUserGroup(row: unknown): UserGroup | null {
  if (row === undefined) return null;
  const columns = row as UserGroupRow;
  const key = {
    bucket: columns[0],
    workspaceId: columns[1],
    environment: columns[2],
    providedId: columns[3],
  };
  return userGroupOf(key, columns.slice(KEY_LENGTH));
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
    suspendedAt: columns[12],
    lastSeenAt: columns[13],
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
    userGroup.suspendedAt,
    userGroup.lastSeenAt,
  ];
}

/** Every schema has these columns. */
export const STORED_TOKEN_COLUMNS =
  'workspace_id, environment, provided_id, team_id, token_digest, token_key_id, token_ciphertext';

type StoredTokenRow = [number, Environment, string, number, TokenDigest, string, string];

/** Maps a row of `STORED_TOKEN_COLUMNS`. */
export function toStoredToken(row: readonly unknown[]): StoredToken {
  const [workspaceId, environment, providedId, teamId, tokenDigest, keyId, ciphertext] =
    row as StoredTokenRow;
  const sealedToken = { keyId, ciphertext };
  return { workspaceId, environment, providedId, teamId, tokenDigest, sealedToken };
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
    suspendedAt: null,
    lastSeenAt: null,
  };
}

/** The size is known without reading the texts. */
export const USER_GROUP_SUMMARY_COLUMNS =
  'provided_id, name, suspended_at, last_seen_at, ' +
  'coalesce(octet_length(mapping), 0) + coalesce(octet_length(properties), 0)';

type UserGroupSummaryRow = [string, string, number | null, number | null, number, JsonText | null];

/** Maps a row of `USER_GROUP_SUMMARY_COLUMNS`, followed by the mapping or null. */
export function toUserGroupSummary(row: readonly unknown[]): UserGroupSummary {
  const [providedId, name, suspendedAt, lastSeenAt, bytes, mapping] = row as UserGroupSummaryRow;
  return { providedId, name, suspendedAt, lastSeenAt, bytes, mapping };
}

export const API_TOKEN_COLUMNS =
  'api_token_id, workspace_id, environment, permission, name, digest, previous_digest, previous_expires_at, ' +
  'created_at, expires_at, revoked_at, last_used_at';

type ApiTokenColumns = [
  number,
  number,
  Environment,
  Permission,
  string | null,
  TokenDigest,
  TokenDigest | null,
  number | null,
  number,
  number | null,
  number | null,
  number | null,
];

export function toApiToken(row: readonly unknown[]): ApiToken {
  const columns = row as ApiTokenColumns;
  return {
    apiTokenId: columns[0],
    workspaceId: columns[1],
    environment: columns[2],
    permission: columns[3],
    name: columns[4],
    digest: columns[5],
    previousDigest: columns[6],
    previousExpiresAt: columns[7],
    createdAt: columns[8],
    expiresAt: columns[9],
    revokedAt: columns[10],
    lastUsedAt: columns[11],
  };
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
    apiToken.previousDigest,
    apiToken.previousExpiresAt,
    apiToken.createdAt,
    apiToken.expiresAt,
    apiToken.revokedAt,
    apiToken.lastUsedAt,
  ];
}

export const EVENT_COLUMNS =
  'bucket, workspace_id, environment, target_type, target_id, event_id, type, occurred_at, actor, request_id, ' +
  'version, changes';

type EventRow = [
  Bucket,
  number,
  Environment,
  TargetType,
  string,
  string,
  EventType,
  number,
  string,
  string | null,
  number | null,
  JsonText | null,
];

/** Maps a row of `EVENT_COLUMNS`, followed by the position. */
export function toEvent(row: readonly unknown[]): StoredEvent {
  const [bucket, workspaceId, environment, type, id, eventId, ...rest] = row as [...EventRow, number];
  return {
    bucket,
    workspaceId,
    environment,
    target: { type, id },
    eventId,
    type: rest[0],
    occurredAt: rest[1],
    actor: JSON.parse(rest[2]) as Actor,
    requestId: rest[3],
    version: rest[4],
    changes: rest[5],
    position: rest[6],
  };
}

/** The values of a row, in the order of `EVENT_COLUMNS`. */
export function fromEvent(
  event: Omit<NewEvent, 'endpoints'>,
  version: number | null,
  changes: JsonText | null,
): EventRow {
  return [
    event.bucket,
    event.workspaceId,
    event.environment,
    event.target.type,
    event.target.id,
    event.eventId,
    event.type,
    event.occurredAt,
    JSON.stringify(event.actor),
    event.requestId,
    version,
    changes,
  ];
}

export const DELIVERY_COLUMNS =
  'bucket, workspace_id, environment, endpoint_id, event_id, event_type, target_type, target_id, state, attempts, ' +
  'next_attempt_at, last_attempt_at, response_status, error, created_at, position';

type DeliveryRow = [
  Bucket,
  number,
  Environment,
  string,
  string,
  EventType,
  TargetType,
  string,
  DeliveryState,
  number,
  number | null,
  number | null,
  number | null,
  string | null,
  number,
  number,
];

export function toDelivery(row: readonly unknown[]): Delivery {
  const columns = row as DeliveryRow;
  return {
    bucket: columns[0],
    workspaceId: columns[1],
    environment: columns[2],
    endpointId: columns[3],
    eventId: columns[4],
    eventType: columns[5],
    target: { type: columns[6], id: columns[7] },
    state: columns[8],
    attempts: columns[9],
    nextAttemptAt: columns[10],
    lastAttemptAt: columns[11],
    responseStatus: columns[12],
    error: columns[13],
    createdAt: columns[14],
    position: columns[15],
  };
}

/** The values of a row, in the order of `DELIVERY_COLUMNS`. */
export function fromDelivery(delivery: Delivery): DeliveryRow {
  return [
    delivery.bucket,
    delivery.workspaceId,
    delivery.environment,
    delivery.endpointId,
    delivery.eventId,
    delivery.eventType,
    delivery.target.type,
    delivery.target.id,
    delivery.state,
    delivery.attempts,
    delivery.nextAttemptAt,
    delivery.lastAttemptAt,
    delivery.responseStatus,
    delivery.error,
    delivery.createdAt,
    delivery.position,
  ];
}

export const DOCUMENT_COLUMNS =
  'workspace_id, environment, kind, document_id, version, body, secret_key_id, secret_ciphertext, created_at, updated_at';

type DocumentRow = [
  number,
  Environment,
  DocumentKind,
  string,
  number,
  JsonText,
  string | null,
  string | null,
  number,
  number,
];

export function toDocument(row: readonly unknown[]): Document {
  const [workspaceId, environment, kind, id, version, body, keyId, ciphertext, createdAt, updatedAt] =
    row as DocumentRow;
  const secret = keyId === null || ciphertext === null ? null : { keyId, ciphertext };
  return { workspaceId, environment, kind, id, version, body, secret, createdAt, updatedAt };
}

/** The values of a row, in the order of `DOCUMENT_COLUMNS`. */
export function fromDocument(document: Document): DocumentRow {
  return [
    document.workspaceId,
    document.environment,
    document.kind,
    document.id,
    document.version,
    document.body,
    document.secret?.keyId ?? null,
    document.secret?.ciphertext ?? null,
    document.createdAt,
    document.updatedAt,
  ];
}

export const WORKSPACE_COLUMNS = 'workspace_id, name, created_at';

export function toWorkspace(row: unknown): Workspace {
  const [workspaceId, name, createdAt] = row as [number, string, number];
  return { workspaceId, name, createdAt };
}
