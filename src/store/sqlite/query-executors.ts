// Executes batches of queries, each batch on one snapshot.

import type { FoundApiToken } from '../../domain/api-token.ts';
import type { TokenDigest } from '../../domain/token.ts';
import type { Query, QueryKind, QueryResult } from '../port.ts';
import { findEndpointHealth, type ReadKind, readKinds, readOf } from '../reads.ts';
import { countInResult } from '../result-size.ts';
import { findApiToken } from './api-token.ts';
import { findConfig } from './document.ts';
import { findEventFloor, hasMoreEvents, listEvents } from './event/list.ts';
import { MAX_CHARACTERS, type QueryExecutor } from './executor.ts';
import type { Connection } from './file/connection.ts';
import { findImportedToken } from './user-group/imported-token.ts';
import { listUserGroupSummaries, listUserGroups } from './user-group/list.ts';
import { searchUserGroups } from './user-group/search.ts';
import {
  findByImportedToken,
  findByKey,
  findByToken,
  resolveImportedToken,
  resolveToken,
} from './user-group/user-group.ts';

/** Executes queries that take the same statement on both databases. */
const executeRead: QueryExecutor<ReadKind> = (connection, query) => connection.read(readOf(query));

const executors: { [Kind in QueryKind]: QueryExecutor<Kind> } = {
  ...(Object.fromEntries(readKinds.map((kind) => [kind, executeRead])) as {
    [Kind in ReadKind]: QueryExecutor<Kind>;
  }),
  findApiToken,
  findUserGroup: (connection, { key }) => findByKey(connection, key),
  findUserGroupByToken: findByToken,
  resolveToken,
  findUserGroupByImportedToken: findByImportedToken,
  resolveImportedToken,
  findImportedToken: (connection, { digest }) => findImportedToken(connection, digest),
  listUserGroups,
  listUserGroupSummaries,
  searchUserGroups,
  findUserGroups: (connection, { keys }) => keys.map((key) => findByKey(connection, key)),
  findConfig,
  hasMoreEvents,
  listEvents,
  findEndpointHealth: (connection, query) => connection.perform(findEndpointHealth(query)),
  findEventFloor,
  // Transactions end in the order in which they record events.
  findFeedBlocker: () => null,
};

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
      characters += countInResult(result);
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
