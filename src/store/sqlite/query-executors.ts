// Executes batches of queries, each batch on one snapshot.

import type { FoundApiToken } from '../../domain/api-token.ts';
import type { TokenDigest } from '../../domain/token.ts';
import type { Query, QueryKind, QueryResult } from '../port.ts';
import { SCANS } from '../scan.ts';
import { findApiToken, findApiTokenById, listApiTokens, listNewestApiTokens } from './api-token.ts';
import { findConfig, findConfigVersion, findDocument } from './document.ts';
import { findNextTenant, hasMoreEvents, listEvents } from './event/event.ts';
import { findEvent } from './event/single-event.ts';
import type { QueryExecutor } from './executor.ts';
import { findFigures } from './figures.ts';
import type { Connection } from './file/connection.ts';
import { ping } from './ping.ts';
import { scan } from './scan.ts';
import { listTokenKeyIds } from './token-key.ts';
import { findNextTenantWithUsage, listUsageOfDay, listUsageOfUserGroup } from './usage.ts';
import { findImportedToken } from './user-group/imported-token.ts';
import { listUserGroups } from './user-group/list.ts';
import { listUserGroupSummaries } from './user-group/list-summaries.ts';
import { findLastRename, findNextRename } from './user-group/rename.ts';
import { searchUserGroups } from './user-group/search.ts';
import {
  countCharacters,
  countUserGroups,
  findByImportedToken,
  findByKey,
  findByToken,
  resolveImportedToken,
  resolveToken,
} from './user-group/user-group.ts';
import {
  countPendingDeliveries,
  findDelivery,
  findEndpointHealth,
  findPendingEndpoint,
  listDeliveries,
} from './webhook-endpoint/delivery.ts';
import { findWorkspace, listWorkspaces } from './workspace.ts';

const executors: { [Kind in QueryKind]: QueryExecutor<Kind> } = {
  findApiToken,
  findApiTokenById,
  findUserGroup: (connection, { key }) => findByKey(connection, key),
  findUserGroupByToken: (connection, { address }) => findByToken(connection, address),
  resolveToken,
  findUserGroupByImportedToken: (connection, { digest }) => findByImportedToken(connection, digest),
  resolveImportedToken,
  findImportedToken: (connection, { digest }) => findImportedToken(connection, digest),
  scanUserGroups: scan(SCANS.userGroups),
  listUserGroups,
  listUserGroupSummaries,
  searchUserGroups,
  findUserGroups: (connection, { keys }) => keys.map((key) => findByKey(connection, key)),
  listApiTokens,
  listNewestApiTokens,
  findWorkspace,
  listWorkspaces,
  listTokenKeyIds,
  countUserGroups,
  findConfig,
  findConfigVersion,
  findDocument,
  scanDocuments: scan(SCANS.documents),
  listEvents,
  findEvent,
  hasMoreEvents,
  findLastRename,
  findNextRename,
  scanRenames: scan(SCANS.renames),
  findDelivery,
  listDeliveries,
  scanDeliveries: scan(SCANS.deliveries),
  scanFailingEndpoints: scan(SCANS.failingEndpoints),
  findPendingEndpoint,
  countPendingDeliveries,
  findEndpointHealth,
  findNextTenant,
  findFigures,
  listUsageOfDay,
  listUsageOfUserGroup,
  scanUsage: scan(SCANS.usage),
  findNextTenantWithUsage,
  ping,
};

/** JSON in the rows of one batch. SQLite and Node decode this much of a script that is not Latin in 6 ms. */
const MAX_CHARACTERS = 262_144;

/** Ends early after `MAX_CHARACTERS`. */
export function runQueries(connection: Connection, queries: readonly Query[]): QueryResult[] {
  return connection.transaction('deferred', () => {
    // A batch has few different API tokens: each one is looked up once.
    const apiTokens = new Map<TokenDigest, FoundApiToken | null>();
    const results: QueryResult[] = [];
    let characters = 0;
    for (const query of queries) {
      if (characters >= MAX_CHARACTERS) break;
      const result =
        query.kind === 'findApiToken' ? findOnce(connection, query, apiTokens) : execute(connection, query);
      results.push(result);
      characters += countCharacters(query, result);
    }
    return results;
  });
}

function findOnce(
  connection: Connection,
  query: Query<'findApiToken'>,
  known: Map<TokenDigest, FoundApiToken | null>,
): FoundApiToken | null {
  let token = known.get(query.digest);
  if (token === undefined) {
    token = findApiToken(connection, query);
    known.set(query.digest, token);
  }
  return token;
}

function execute(connection: Connection, query: Query): QueryResult {
  return (executors[query.kind] as QueryExecutor<QueryKind>)(connection, query);
}
