// Executes batches of queries. All queries of one kind are one statement; rare kinds have one for each query. All travel
// together.

import type { Query, QueryKind, QueryResult } from '../port.ts';
import { SCANS } from '../scan.ts';
import { findApiTokenById, findApiTokens, listApiTokens, listNewestApiTokens } from './api-token.ts';
import { groupIndexes, scatter } from './batch.ts';
import type { ConnectionPool } from './client/pool.ts';
import type { Session } from './client/session.ts';
import { findConfig, findConfigVersion, findDocument } from './document.ts';
import { findNextTenant, hasMoreEvents, listEvents } from './event/event.ts';
import { findEvents } from './event/single-event.ts';
import type { QueryBatchExecutor, QueryExecutor } from './executor.ts';
import { findFigures } from './figures.ts';
import { ping } from './ping.ts';
import { scan } from './scan.ts';
import { listTokenKeyIds } from './token-key.ts';
import { findNextTenantWithUsage, listUsageOfDay, listUsageOfUserGroup } from './usage.ts';
import { findByImportedToken, resolveImportedTokens } from './user-group/find-by-imported-token.ts';
import { findImportedTokens } from './user-group/imported-token.ts';
import { listUserGroups } from './user-group/list.ts';
import { listUserGroupSummaries } from './user-group/list-summaries.ts';
import { findLastRename, findNextRename } from './user-group/rename.ts';
import { searchUserGroups } from './user-group/search.ts';
import { countUserGroups, findByKey, findByToken, resolveTokens } from './user-group/user-group.ts';
import {
  countPendingDeliveries,
  findDelivery,
  findEndpointHealth,
  findPendingEndpoint,
  listDeliveries,
} from './webhook-endpoint/delivery.ts';
import { findWorkspace, listWorkspaces } from './workspace.ts';

const executors: { [Kind in QueryKind]: QueryBatchExecutor<Kind> } = {
  findApiToken: findApiTokens,
  findApiTokenById: singly(findApiTokenById),
  findUserGroup: findByKey,
  findUserGroupByToken: findByToken,
  resolveToken: resolveTokens,
  findUserGroupByImportedToken: findByImportedToken,
  resolveImportedToken: resolveImportedTokens,
  findImportedToken: findImportedTokens,
  scanUserGroups: singly(scan(SCANS.userGroups)),
  listUserGroups: singly(listUserGroups),
  listUserGroupSummaries: singly(listUserGroupSummaries),
  searchUserGroups: singly(searchUserGroups),
  findUserGroups: singly((session, { keys }) =>
    findByKey(
      session,
      keys.map((key) => ({ key })),
    ),
  ),
  listApiTokens: singly(listApiTokens),
  listNewestApiTokens: singly(listNewestApiTokens),
  findWorkspace: singly(findWorkspace),
  listWorkspaces: singly(listWorkspaces),
  listTokenKeyIds: once(listTokenKeyIds),
  countUserGroups: singly(countUserGroups),
  findConfig: singly(findConfig),
  findConfigVersion: singly(findConfigVersion),
  findDocument: singly(findDocument),
  scanDocuments: singly(scan(SCANS.documents)),
  listEvents: singly(listEvents),
  findEvent: findEvents,
  hasMoreEvents: singly(hasMoreEvents),
  findLastRename: singly(findLastRename),
  findNextRename: singly(findNextRename),
  scanRenames: singly(scan(SCANS.renames)),
  findDelivery: singly(findDelivery),
  listDeliveries: singly(listDeliveries),
  scanDeliveries: singly(scan(SCANS.deliveries)),
  scanFailingEndpoints: singly(scan(SCANS.failingEndpoints)),
  findPendingEndpoint: singly(findPendingEndpoint),
  countPendingDeliveries: singly(countPendingDeliveries),
  findEndpointHealth: singly(findEndpointHealth),
  findNextTenant: singly(findNextTenant),
  findFigures: singly(findFigures),
  listUsageOfDay: singly(listUsageOfDay),
  listUsageOfUserGroup: singly(listUsageOfUserGroup),
  scanUsage: singly(scan(SCANS.usage)),
  findNextTenantWithUsage: singly(findNextTenantWithUsage),
  ping: once(ping),
};

/** All kinds in one pipeline, on one connection. Throws `StoreUnavailable`. */
export async function runQueries(pool: ConnectionPool, queries: readonly Query[]): Promise<QueryResult[]> {
  const results: QueryResult[] = new Array(queries.length);
  const kinds = [...groupIndexes(queries.map(({ kind }) => kind))];
  const runKind = async (session: Session, kind: QueryKind, places: readonly number[]): Promise<void> => {
    const execute = executors[kind] as QueryBatchExecutor<QueryKind>;
    const ofKind = places.map((place) => queries[place]!);
    scatter(results, places, await execute(session, ofKind));
  };
  await pool.run((session) =>
    session.pipelined(() => Promise.all(kinds.map(([kind, places]) => runKind(session, kind, places)))),
  );
  return results;
}

function singly<Kind extends QueryKind>(execute: QueryExecutor<Kind>): QueryBatchExecutor<Kind> {
  return (session, queries) => Promise.all(queries.map((query) => execute(session, query)));
}

/** For queries without parameters: all of them share one result. */
function once<Kind extends QueryKind>(
  execute: (session: Session) => Promise<QueryResult<Kind>>,
): QueryBatchExecutor<Kind> {
  return async (session, queries) => {
    const result = await execute(session);
    return queries.map(() => result);
  };
}
