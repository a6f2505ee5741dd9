// Reads that are the same statement on both databases. Queries that need their own statement on one of them,
// because of its planner, its shards or large batches, are in the adapters.

import type { DocumentKey, DocumentTotal } from '../domain/document.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { WebhookEndpointKey } from '../domain/webhook-endpoint/delivery.ts';
import {
  API_TOKEN,
  DELIVERY,
  DELIVERY_POSITION,
  DOCUMENT,
  DOCUMENT_KEY,
  ENDPOINT_POSITION,
  EVENT,
  EVENT_KEY,
  FAILING_ENDPOINT,
  LISTED_API_TOKEN,
  PENDING_ENDPOINT,
  RENAME,
  RENAME_POSITION,
  STORED_FIGURES,
  TENANT,
  TENANT_WITH_EVENTS,
  TENANT_WITH_USAGE,
  USAGE_COUNT,
  USAGE_POSITION,
  USER_GROUP,
  USER_GROUP_KEY,
  USER_GROUP_POSITION,
  WEBHOOK_ENDPOINT_KEY,
  WORKSPACE,
} from './entities.ts';
import { HAS_TARGET, userGroupCells } from './event-target.ts';
import { NEWEST_DELIVERIES, type Query, type QueryKind, type QueryResult } from './port.ts';
import type { Cell, Entity, RowShape } from './row-shape.ts';
import { all, type Call, column, exists, first, one, statement } from './statement.ts';
import { type Steps, together } from './steps.ts';

/** Sorts after every event id. */
export const LAST_EVENT_ID = '~';

const FIND_API_TOKEN_BY_ID = statement('find_api_token_by_id')`
  select ${LISTED_API_TOKEN.names} from api_tokens where api_token_id = $1`;

const LIST_API_TOKENS = statement('list_api_tokens')`
  select ${LISTED_API_TOKEN.names} from api_tokens where api_token_id > $1 order by api_token_id limit $2`;

const LIST_API_TOKENS_OF = statement('list_api_tokens_of_environment')`
  select ${LISTED_API_TOKEN.names} from api_tokens
  where workspace_id = $1 and environment = $2 and api_token_id > $3 order by api_token_id limit $4`;

const NEWEST_API_TOKENS = `select ${API_TOKEN.names} from api_tokens
  where workspace_id = $1 and environment = $2 and api_token_id < $3`;

const LIST_NEWEST_REVOKED = statement('list_newest_revoked_api_tokens')`
  ${NEWEST_API_TOKENS} and revoked_at is not null order by api_token_id desc limit $4`;

const LIST_NEWEST_UNREVOKED = statement('list_newest_unrevoked_api_tokens')`
  ${NEWEST_API_TOKENS} and revoked_at is null order by api_token_id desc limit $4`;

const FIND_WORKSPACE = statement('find_workspace')`
  select ${WORKSPACE.names} from workspaces where name = $1`;

const LIST_WORKSPACES = statement('list_workspaces')`
  select ${WORKSPACE.names} from workspaces where name > $1 order by name limit $2`;

const LIST_TOKEN_KEYS = statement('list_token_keys')`select key_id from token_keys order by key_id`;

const COUNT_USER_GROUPS_OF = statement('count_user_groups_of')`
  select count(*) from user_groups where workspace_id = $1 and environment = $2`;

// Renames of one user group are found by whole keys: for a condition on the position alone, PostgreSQL may choose the
// index of positions, and read the renames of all groups. The bucket is apart: SQLite's key lacks it.
const IN_GROUP = 'workspace_id, environment, provided_id';

const FIND_LAST_RENAME = statement('find_last_user_group_rename')`
  select ${RENAME.names} from user_group_renames
  where bucket = $1 and (${IN_GROUP}, position) >= ($2, $3, $4, 0) and (${IN_GROUP}, position) < ($2, $3, $4, $5)
  order by workspace_id desc, environment desc, provided_id desc, position desc limit 1`;

const FIND_NEXT_RENAME = statement('find_next_user_group_rename')`
  select ${RENAME.names} from user_group_renames
  where bucket = $1 and (${IN_GROUP}, position) >= ($2, $3, $4, $5)
    and (${IN_GROUP}, position) <= ($2, $3, $4, ${Number.MAX_SAFE_INTEGER})
  order by ${IN_GROUP}, position limit 1`;

export const FIND_EVENT = statement('find_event')`
  select ${EVENT.names} from events where ${HAS_TARGET} and position = $6`;

export const HAS_MORE_EVENTS = statement('has_more_events')`
  select 1 from events where ${HAS_TARGET} limit 1 offset $6`;

const FIND_CONFIG_VERSION = statement('find_config_version')`
  select config_version from environments where workspace_id = $1 and environment = $2`;

const FIND_DOCUMENT = statement('find_document')`
  select ${DOCUMENT.names} from documents
  where workspace_id = $1 and environment = $2 and kind = $3 and document_id = $4`;

const TOTAL_DOCUMENTS = statement('total_documents')`
  select count(*), coalesce(sum(octet_length(document_id) + octet_length(body)), 0) from documents
  where workspace_id = $1 and environment = $2 and kind = $3`;

export const HAS_ENDPOINT = 'workspace_id = $1 and environment = $2 and endpoint_id = $3';

const FIND_DELIVERY = statement('find_delivery')`
  select ${DELIVERY.names} from deliveries where ${HAS_ENDPOINT} and event_id = $4`;

const LIST_DELIVERIES = statement('list_deliveries')`
  select ${DELIVERY.names} from deliveries where ${HAS_ENDPOINT} and event_id < $4
  order by event_id desc limit $5`;

// The subqueries read only the index of failed deliveries, which SQLite uses for nothing else here. PostgreSQL lists
// failed deliveries by a statement of its own.
const FIRST_FAILED = statement('find_first_failed_delivery')`
  select (select created_at from deliveries where ${HAS_ENDPOINT} and event_id = (
    select min(event_id) from deliveries where ${HAS_ENDPOINT} and state = 'failed'))`;

const LIST_FAILED_DELIVERIES = statement('list_failed_deliveries')`
  select ${DELIVERY.names} from deliveries where ${HAS_ENDPOINT} and event_id in (
    select event_id from deliveries where ${HAS_ENDPOINT} and state = 'failed' and event_id < $4
    order by event_id desc limit $5)
  order by event_id desc`;

// A condition on the next key includes the column after it: for the key alone, SQLite reads all rows of the last key first.
const NEXT_ENDPOINT = statement('find_next_endpoint_of_deliveries')`
  select ${WEBHOOK_ENDPOINT_KEY.names} from deliveries
  where (${WEBHOOK_ENDPOINT_KEY.names}, event_id) > ($1, $2, $3, '${LAST_EVENT_ID}')
  order by ${WEBHOOK_ENDPOINT_KEY.names}, event_id limit 1`;

const NEXT_PENDING = statement('find_next_pending_endpoint')`
  select ${PENDING_ENDPOINT.names} from deliveries
  where next_attempt_at is not null
    and (${WEBHOOK_ENDPOINT_KEY.names}, next_attempt_at) > ($1, $2, $3, ${Number.MAX_SAFE_INTEGER})
  order by ${WEBHOOK_ENDPOINT_KEY.names}, next_attempt_at limit 1`;

const NEXT_TENANT = statement('find_next_tenant')`
  select ${TENANT_WITH_EVENTS.names} from events where (${TENANT.names}) > ($1, $2)
  order by ${TENANT.names}, position limit 1`;

const NEXT_TENANT_WITH_USAGE = statement('find_next_tenant_with_usage')`
  select ${TENANT_WITH_USAGE.names} from usage_counts where (${TENANT.names}) > ($1, $2)
  order by ${TENANT.names}, day limit 1`;

const COUNT_PENDING = statement('count_pending_deliveries')`
  select count(*) from (select 1 from deliveries where next_attempt_at is not null limit $1) as pending`;

const COUNT_PENDING_OF = statement('count_pending_deliveries_of_endpoint')`
  select count(*) from (
    select 1 from deliveries where ${HAS_ENDPOINT} and next_attempt_at is not null limit $4) as pending`;

const LAST_DELIVERED = statement('find_last_delivered')`
  select max(last_attempt_at) from (
    select state, last_attempt_at from deliveries where ${HAS_ENDPOINT}
    order by event_id desc limit ${NEWEST_DELIVERIES}) as newest
  where state = 'delivered'`;

const FAILING_SINCE = statement('find_failing_since')`
  select failing_since from failing_webhook_endpoints where ${HAS_ENDPOINT}`;

const LIST_USAGE_OF_DAY = statement('list_usage_of_day')`
  select ${USAGE_COUNT.names} from usage_counts
  where workspace_id = $1 and environment = $2 and day = $3 and provided_id > $4
  order by provided_id, kind, integration limit $5`;

// Compares the id together with the day. For the day alone, PostgreSQL may choose the index of days, and read those of all
// groups.
const LIST_USAGE_OF_USER_GROUP = statement('list_usage_of_user_group')`
  select ${USAGE_COUNT.names} from usage_counts
  where bucket = $1 and workspace_id = $2 and environment = $3
    and (provided_id, day) >= ($4, $5) and (provided_id, day) <= ($4, $6)
  order by provided_id, day, kind, integration limit $7`;

const FIND_FIGURES = statement('find_figures')`
  select ${STORED_FIGURES.names} from environment_figures where workspace_id = $1 and environment = $2`;

const PING = statement('ping')`select coalesce(max(number), 0) from schema_migrations`;

/** Queries of the port. */
export const READS = {
  findApiTokenById: ({ apiTokenId }) => first(LISTED_API_TOKEN, FIND_API_TOKEN_BY_ID, [apiTokenId]),
  listApiTokens: ({ tenant, after, limit }) =>
    tenant === null
      ? all(LISTED_API_TOKEN, LIST_API_TOKENS, [after, limit])
      : all(LISTED_API_TOKEN, LIST_API_TOKENS_OF, [...TENANT.cells(tenant), after, limit]),
  listNewestApiTokens: ({ tenant, before, isRevoked, limit }) =>
    all(API_TOKEN, isRevoked ? LIST_NEWEST_REVOKED : LIST_NEWEST_UNREVOKED, [
      ...TENANT.cells(tenant),
      before,
      limit,
    ]),
  findWorkspace: ({ name }) => first(WORKSPACE, FIND_WORKSPACE, [name]),
  // No name is empty.
  listWorkspaces: ({ after, limit }) => all(WORKSPACE, LIST_WORKSPACES, [after ?? '', limit]),
  listTokenKeyIds: () => column<string>(LIST_TOKEN_KEYS),
  countUserGroups: ({ tenant }) => one<number>(COUNT_USER_GROUPS_OF, TENANT.cells(tenant)),
  countRows: ({ table }) => one<number>(statement(`count_${table}`)`select count(*) from ${table}`),
  findLastRename: ({ key, before }) =>
    first(RENAME, FIND_LAST_RENAME, [...USER_GROUP_KEY.cells(key), before]),
  findNextRename: ({ key, from }) => first(RENAME, FIND_NEXT_RENAME, [...USER_GROUP_KEY.cells(key), from]),
  findConfigVersion: ({ tenant }) => one<number>(FIND_CONFIG_VERSION, TENANT.cells(tenant), 0),
  findDocument: ({ key }) => first(DOCUMENT, FIND_DOCUMENT, DOCUMENT_KEY.cells(key)),
  findEvent: ({ key }) => first(EVENT, FIND_EVENT, EVENT_KEY.cells(key)),
  hasMoreEvents: ({ key, than }) => exists(HAS_MORE_EVENTS, [...userGroupCells(key), than]),
  findDelivery: ({ endpoint, eventId }) =>
    first(DELIVERY, FIND_DELIVERY, [...ENDPOINT_POSITION.cells(endpoint), eventId]),
  listDeliveries: ({ endpoint, before, limit, isFailed }) =>
    all(DELIVERY, isFailed ? LIST_FAILED_DELIVERIES : LIST_DELIVERIES, [
      ...ENDPOINT_POSITION.cells(endpoint),
      before ?? LAST_EVENT_ID,
      limit,
    ]),
  findFirstFailedAt: ({ endpoint }) => one<number | null>(FIRST_FAILED, ENDPOINT_POSITION.cells(endpoint)),
  findNextEndpoint: ({ after }) => first(WEBHOOK_ENDPOINT_KEY, NEXT_ENDPOINT, ENDPOINT_POSITION.cells(after)),
  findPendingEndpoint: ({ after }) => first(PENDING_ENDPOINT, NEXT_PENDING, ENDPOINT_POSITION.cells(after)),
  findNextTenant: ({ after }) => first(TENANT_WITH_EVENTS, NEXT_TENANT, endOfTenant(after)),
  findNextTenantWithUsage: ({ after }) =>
    first(TENANT_WITH_USAGE, NEXT_TENANT_WITH_USAGE, endOfTenant(after)),
  countPendingDeliveries: ({ atMost }) => one<number>(COUNT_PENDING, [atMost]),
  listUsageOfDay: ({ tenant, day, after, limit }) =>
    all(USAGE_COUNT, LIST_USAGE_OF_DAY, [...TENANT.cells(tenant), day, after, limit]),
  listUsageOfUserGroup: ({ key, from, to, limit }) =>
    all(USAGE_COUNT, LIST_USAGE_OF_USER_GROUP, [...USER_GROUP_KEY.cells(key), from, to, limit]),
  findFigures: ({ tenant }) => first(STORED_FIGURES, FIND_FIGURES, TENANT.cells(tenant)),
  ping: () => one<number>(PING),
  scanUserGroups: scan('user_groups', USER_GROUP, USER_GROUP_POSITION),
  scanDocuments: scan('documents', DOCUMENT, DOCUMENT_KEY),
  scanRenames: scan('user_group_renames', RENAME, RENAME_POSITION),
  scanDeliveries: scan('deliveries', DELIVERY, DELIVERY_POSITION),
  scanFailingEndpoints: scan('failing_webhook_endpoints', FAILING_ENDPOINT, ENDPOINT_POSITION),
  scanUsage: scan('usage_counts', USAGE_COUNT, USAGE_POSITION),
} satisfies { [Kind in QueryKind]?: (query: Omit<Query<Kind>, 'kind'>) => Call<QueryResult<Kind>> };

export type ReadKind = keyof typeof READS;
export const readKinds = Object.keys(READS) as ReadKind[];

export function readOf(query: Query<ReadKind>): Call<QueryResult<ReadKind>> {
  return (READS[query.kind] as (query: Query<ReadKind>) => Call<QueryResult<ReadKind>>)(query);
}

/**
 * Returns a position after all rows of the environment, and before those of the next; null: before every row. For the
 * environment itself, SQLite reads its rows first.
 */
function endOfTenant(tenant: Tenant | null): Cell[] {
  return tenant === null ? TENANT.cellsAfter(null) : [tenant.workspaceId, `${tenant.environment}~`];
}

/** Number and size of the documents of the same kind. */
export function documentTotal({ workspaceId, environment, kind }: DocumentKey): Call<DocumentTotal> {
  return {
    statement: TOTAL_DOCUMENTS,
    values: [workspaceId, environment, kind],
    toResult: ([row]) => {
      const [documents, bytes] = row as [number, number];
      return { documents, bytes };
    },
  };
}

export function* findEndpointHealth({
  endpoint,
  atMost,
}: Omit<Query<'findEndpointHealth'>, 'kind'>): Steps<QueryResult<'findEndpointHealth'>> {
  const key = ENDPOINT_POSITION.cells(endpoint);
  const [pendingDeliveries, lastDeliveredAt, since] = yield* together(
    one<number>(COUNT_PENDING_OF, [...key, atMost]),
    one<number | null>(LAST_DELIVERED, key),
    failingSince(endpoint),
  );
  return { pendingDeliveries, lastDeliveredAt, failingSince: since };
}

/** First failure since the last success; null if the last delivery succeeded. */
export function failingSince(endpoint: WebhookEndpointKey): Call<number | null> {
  return one<number | null>(FAILING_SINCE, ENDPOINT_POSITION.cells(endpoint), null);
}

/** Reads a whole table page by page, in the order of an index with the columns of the position. */
function scan<Position extends object, Value extends object>(
  table: string,
  rows: Entity<Value>,
  position: RowShape<Position>,
): (page: { after: Position | null; limit: number }) => Call<Value[]> {
  const page = statement(`scan_${table}`)`select ${rows.names} from ${table} ${position.pageAfter()}`;
  return ({ after, limit }) => all(rows, page, [...position.cellsAfter(after), limit]);
}
