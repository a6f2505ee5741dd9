// Entities that both databases store, each described once: columns, types and conversions.

import type { ApiToken, FoundApiToken } from '../domain/api-token.ts';
import type { Document } from '../domain/document.ts';
import type { StoredEvent } from '../domain/event/event.ts';
import type { StoredToken } from '../domain/key-ring.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { UsageCount } from '../domain/usage.ts';
import type { Rename } from '../domain/user-group/rename.ts';
import type { UserGroup, UserGroupKey } from '../domain/user-group/user-group.ts';
import type {
  Delivery,
  DeliveryKey,
  EndpointPosition,
  WebhookEndpointKey,
} from '../domain/webhook-endpoint/delivery.ts';
import type {
  ApiTokenRow,
  FailingEndpoint,
  NewUserGroup,
  PendingEndpoint,
  StoredFigures,
  TenantWithEvents,
  TenantWithUsage,
  UserGroupSummary,
  Workspace,
} from './port.ts';
import { Entity, type Row, RowShape, text } from './row-shape.ts';

export const TENANT = new Entity<Tenant>((column) => ({
  workspaceId: column.bigint('workspace_id'),
  environment: column.text('environment'),
}));

/** A tenant, or any of them if it is null. */
export const TENANT_OR_ANY = new Entity<{ tenant: Tenant | null }>((column) => ({
  tenant: column.nullable(() => TENANT.describe(column)),
}));

export const WORKSPACE = new Entity<Workspace>((column) => ({
  workspaceId: column.bigint('workspace_id'),
  name: column.text('name'),
  createdAt: column.bigint('created_at'),
}));

export const USER_GROUP_KEY = new Entity<UserGroupKey>((column) => ({
  bucket: column.integer('bucket'),
  workspaceId: column.bigint('workspace_id'),
  environment: column.text('environment'),
  providedId: column.text('provided_id'),
}));

export const USER_GROUP_BESIDE_KEY = new Entity<Omit<UserGroup, keyof UserGroupKey>>((column) => ({
  teamId: column.bigint('team_id'),
  name: column.text('name'),
  mapping: column.text('mapping'),
  properties: column.text('properties'),
  version: column.bigint('version'),
  tokenDigest: column.text('token_digest'),
  sealedToken: { keyId: column.text('token_key_id'), ciphertext: column.text('token_ciphertext') },
  previousTokenDigest: column.text('previous_token_digest'),
  previousTokenExpiresAt: column.bigint('previous_token_expires_at'),
  createdAt: column.bigint('created_at'),
  updatedAt: column.bigint('updated_at'),
  suspendedAt: column.bigint('suspended_at'),
  lastSeenAt: column.bigint('last_seen_at'),
}));

/** The key comes last: to copy an object and add properties is faster than to copy two objects into one. */
export const USER_GROUP = new Entity<UserGroup>((column) => ({
  ...USER_GROUP_BESIDE_KEY.describe(column),
  bucket: column.integer('bucket'),
  workspaceId: column.bigint('workspace_id'),
  environment: column.text('environment'),
  providedId: column.text('provided_id'),
}));

/** Position in the order in which all user groups are read. */
export const USER_GROUP_POSITION = USER_GROUP.pick('workspaceId', 'environment', 'providedId');

/** Reads a row of `USER_GROUP_BESIDE_KEY`. */
export function toUserGroupWithKey(key: UserGroupKey, row: Row): UserGroup {
  const { bucket, workspaceId, environment, providedId } = key;
  return { ...USER_GROUP_BESIDE_KEY.read(row), bucket, workspaceId, environment, providedId };
}

/** Columns of a token that every schema version has. */
export const STORED_TOKEN = new Entity<StoredToken>((column) => ({
  workspaceId: column.bigint('workspace_id'),
  environment: column.text('environment'),
  providedId: column.text('provided_id'),
  teamId: column.bigint('team_id'),
  tokenDigest: column.text('token_digest'),
  sealedToken: { keyId: column.text('token_key_id'), ciphertext: column.text('token_ciphertext') },
}));

export function createdUserGroup(command: NewUserGroup): UserGroup {
  const { key, teamId, name, mapping, properties, suspendedAt, tokenDigest, sealedToken, now } = command;
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
    suspendedAt,
    lastSeenAt: null,
  };
}

/** SQL for the size of a user group's JSON, which a database knows without reading the texts. */
export const USER_GROUP_BYTES = 'coalesce(octet_length(mapping), 0) + coalesce(octet_length(properties), 0)';

export const USER_GROUP_SUMMARY = new Entity<Omit<UserGroupSummary, 'mapping' | 'properties'>>((column) => ({
  providedId: column.text('provided_id'),
  name: column.text('name'),
  createdAt: column.bigint('created_at'),
  suspendedAt: column.bigint('suspended_at'),
  lastSeenAt: column.bigint('last_seen_at'),
  bytes: column.bigint(USER_GROUP_BYTES),
}));

/** Reads a row of `USER_GROUP_SUMMARY`, followed by the mapping and the properties, or null. */
export function toUserGroupSummary(row: Row): UserGroupSummary {
  const [mapping, properties] = row.slice(-2) as [
    UserGroupSummary['mapping'],
    UserGroupSummary['properties'],
  ];
  return { ...USER_GROUP_SUMMARY.read(row), mapping, properties };
}

export const API_TOKEN = new Entity<ApiToken>((column) => ({
  apiTokenId: column.bigint('api_token_id'),
  workspaceId: column.bigint('workspace_id'),
  environment: column.text('environment'),
  permission: column.text('permission'),
  name: column.text('name'),
  digest: column.text('digest'),
  previousDigest: column.text('previous_digest'),
  previousExpiresAt: column.bigint('previous_expires_at'),
  createdAt: column.bigint('created_at'),
  expiresAt: column.bigint('expires_at'),
  revokedAt: column.bigint('revoked_at'),
  lastUsedAt: column.bigint('last_used_at'),
}));

export const FOUND_API_TOKEN = new Entity<FoundApiToken>((column) => ({
  ...API_TOKEN.describe(column),
  configVersion: column.bigint(`coalesce((select config_version from environments
      where environments.workspace_id = api_tokens.workspace_id
        and environments.environment = api_tokens.environment), 0)`),
}));

export const LISTED_API_TOKEN = new Entity<ApiTokenRow>((column) => ({
  ...API_TOKEN.describe(column),
  workspaceName: column.text(
    '(select workspaces.name from workspaces where workspaces.workspace_id = api_tokens.workspace_id)',
  ),
}));

/** An event without its position, which the database assigns. */
export const RECORDED_EVENT = new Entity<Omit<StoredEvent, 'position'>>((column) => ({
  bucket: column.integer('bucket'),
  workspaceId: column.bigint('workspace_id'),
  environment: column.text('environment'),
  target: { type: column.text('target_type'), id: column.text('target_id') },
  eventId: column.text('event_id'),
  type: column.text('type'),
  occurredAt: column.bigint('occurred_at'),
  actor: column.json('actor'),
  requestId: column.text('request_id'),
  version: column.bigint('version'),
  changes: column.text('changes'),
}));

export const EVENT = new Entity<StoredEvent>((column) => ({
  ...RECORDED_EVENT.describe(column),
  position: column.bigint('position'),
}));

export const EVENT_TARGET = EVENT.pick('bucket', 'workspaceId', 'environment', 'target');
export const EVENT_KEY = EVENT.pick('bucket', 'workspaceId', 'environment', 'target', 'position');

export const RENAME = new Entity<Rename>((column) => ({
  ...USER_GROUP_KEY.describe(column),
  position: column.bigint('position'),
  eventId: column.text('event_id'),
  direction: column.text('direction'),
  otherId: column.text('other_id'),
  teamId: column.bigint('team_id'),
}));

/** Position in the order in which all renames are read. */
export const RENAME_POSITION = RENAME.pick('workspaceId', 'environment', 'position', 'eventId', 'direction');

export const TENANT_WITH_EVENTS = new Entity<TenantWithEvents>((column) => ({
  ...TENANT.describe(column),
  oldestEventAt: column.bigint('occurred_at'),
}));

export const DELIVERY_KEY = new Entity<DeliveryKey>((column) => ({
  bucket: column.integer('bucket'),
  workspaceId: column.bigint('workspace_id'),
  environment: column.text('environment'),
  endpointId: column.text('endpoint_id'),
  eventId: column.text('event_id'),
}));

export const DELIVERY = new Entity<Delivery>((column) => ({
  ...DELIVERY_KEY.describe(column),
  eventType: column.text('event_type'),
  target: { type: column.text('target_type'), id: column.text('target_id') },
  state: column.text('state'),
  attempts: column.integer('attempts'),
  nextAttemptAt: column.bigint('next_attempt_at'),
  lastAttemptAt: column.bigint('last_attempt_at'),
  responseStatus: column.integer('response_status'),
  error: column.text('error'),
  createdAt: column.bigint('created_at'),
  attemptLog: column.text('attempt_log'),
  position: column.bigint('position'),
}));

export const WEBHOOK_ENDPOINT_KEY = new Entity<WebhookEndpointKey>((column) => ({
  ...TENANT.describe(column),
  endpointId: column.text('endpoint_id'),
}));

/** Position of a webhook endpoint in the order of all; the same columns. */
export const ENDPOINT_POSITION = new RowShape<EndpointPosition>({
  ...WEBHOOK_ENDPOINT_KEY.fields,
  environment: text('environment'),
});

export const PENDING_ENDPOINT = new Entity<PendingEndpoint>((column) => ({
  endpoint: WEBHOOK_ENDPOINT_KEY.describe(column),
  dueAt: column.bigint('next_attempt_at'),
}));

/** Position in the order in which all deliveries are read. */
export const DELIVERY_POSITION = DELIVERY_KEY.pick('workspaceId', 'environment', 'endpointId', 'eventId');

export const FAILING_ENDPOINT = new Entity<FailingEndpoint>((column) => ({
  ...WEBHOOK_ENDPOINT_KEY.describe(column),
  failingSince: column.bigint('failing_since'),
}));

export const DOCUMENT = new Entity<Document>((column) => ({
  workspaceId: column.bigint('workspace_id'),
  environment: column.text('environment'),
  kind: column.text('kind'),
  id: column.text('document_id'),
  version: column.bigint('version'),
  body: column.text('body'),
  secret: column.nullable(() => ({
    keyId: column.text('secret_key_id'),
    ciphertext: column.text('secret_ciphertext'),
  })),
  createdAt: column.bigint('created_at'),
  updatedAt: column.bigint('updated_at'),
}));

export const DOCUMENT_KEY = DOCUMENT.pick('workspaceId', 'environment', 'kind', 'id');

export const USAGE_COUNT = new Entity<UsageCount>((column) => ({
  ...USER_GROUP_KEY.describe(column),
  day: column.integer('day'),
  kind: column.text('kind'),
  integration: column.text('integration'),
  count: column.bigint('count'),
}));

/** Position in the order in which all counts are read. */
export const USAGE_POSITION = USAGE_COUNT.pick(
  'workspaceId',
  'environment',
  'day',
  'providedId',
  'kind',
  'integration',
);

export const STORED_FIGURES = new Entity<StoredFigures>((column) => ({
  countingUntil: column.bigint('counting_until'),
  countedAt: column.bigint('counted_at'),
  figures: column.text('figures'),
}));

export const TENANT_WITH_USAGE = new Entity<TenantWithUsage>((column) => ({
  ...TENANT.describe(column),
  firstDay: column.integer('day'),
}));
