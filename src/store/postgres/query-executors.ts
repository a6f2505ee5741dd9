// Executes batches of queries. All queries of one kind are one statement; rare kinds take one for each query.

import type { Query, QueryKind, QueryResult } from '../port.ts';
import { findEndpointHealth, type ReadKind, readKinds, readOf } from '../reads.ts';
import { findApiTokens } from './api-token.ts';
import { scatter } from './batch.ts';
import type { ConnectionPool } from './client/pool.ts';
import type { Session } from './client/session.ts';
import { findConfig } from './document.ts';
import { findEventFloor, findFeedBlocker, listEvents } from './event/list.ts';
import type { QueryBatchExecutor, QueryExecutor } from './executor.ts';
import { findByImportedToken, resolveImportedTokens } from './user-group/find-by-imported-token.ts';
import { findImportedTokens } from './user-group/imported-token.ts';
import { listUserGroupSummaries, listUserGroups } from './user-group/list.ts';
import { searchUserGroups } from './user-group/search.ts';
import { findByKey, findByToken, resolveTokens } from './user-group/user-group.ts';
import { listDeliveries } from './webhook-endpoint/delivery.ts';

/** Executes queries that take the same statement on both databases. */
const executeReads = singly<ReadKind>((session, query) => session.read(readOf(query)));

const executors: { [Kind in QueryKind]: QueryBatchExecutor<Kind> } = {
  ...(Object.fromEntries(readKinds.map((kind) => [kind, executeReads])) as {
    [Kind in ReadKind]: QueryBatchExecutor<Kind>;
  }),
  findApiToken: findApiTokens,
  findUserGroup: findByKey,
  findUserGroupByToken: findByToken,
  resolveToken: resolveTokens,
  findUserGroupByImportedToken: findByImportedToken,
  resolveImportedToken: resolveImportedTokens,
  findImportedToken: findImportedTokens,
  listUserGroups: singly(listUserGroups),
  listUserGroupSummaries: singly(listUserGroupSummaries),
  searchUserGroups: singly(searchUserGroups),
  findUserGroups: singly((session, { keys }) =>
    findByKey(
      session,
      keys.map((key) => ({ key })),
    ),
  ),
  findConfig: singly(findConfig),
  listEvents: singly(listEvents),
  listDeliveries: singly(listDeliveries),
  findEndpointHealth: singly((session, query) => session.perform(findEndpointHealth(query))),
  findEventFloor: singly(findEventFloor),
  findFeedBlocker: singly(findFeedBlocker),
};

/** Runs all kinds in one pipeline, on one connection. Throws `StoreUnavailable`. */
export async function runQueries(pool: ConnectionPool, queries: readonly Query[]): Promise<QueryResult[]> {
  const results: QueryResult[] = new Array(queries.length);
  const kinds = [...Map.groupBy(queries.keys(), (place) => queries[place]!.kind)];
  const runKind = async (session: Session, kind: QueryKind, places: readonly number[]): Promise<void> => {
    const execute = executors[kind] as QueryBatchExecutor<QueryKind>;
    const ofKind = places.map((place) => queries[place]!);
    scatter(results, places, await execute(session, ofKind));
  };
  await pool.run((session) =>
    session.pipelined(() => kinds.map(([kind, places]) => runKind(session, kind, places))),
  );
  return results;
}

function singly<Kind extends QueryKind>(execute: QueryExecutor<Kind>): QueryBatchExecutor<Kind> {
  return (session, queries) => Promise.all(queries.map((query) => execute(session, query)));
}
