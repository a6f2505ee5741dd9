// What answers each kind of query. The queries of one kind in a batch are one statement; those of a list, which
// are rare, a statement each.

import type { Query, QueryKind, QueryResult } from '../store.ts';
import { findApiTokens, listApiTokens } from './api-token.ts';
import { placesOf, putInPlace } from './batch.ts';
import { findImportedTokens } from './imported-token.ts';
import { searchUserGroups } from './list-user-groups.ts';
import { ping } from './ping.ts';
import type { ConnectionPool, Session } from './pool.ts';
import { listTokenKeyIds } from './token-key.ts';
import { countUserGroups, findByKey, findByToken, listUserGroups } from './user-group.ts';
import { listWorkspaces } from './workspace.ts';

type Answer<Kind extends QueryKind> = (
  session: Session,
  queries: readonly Query<Kind>[],
) => Promise<QueryResult<Kind>[]>;

const answers: { [Kind in QueryKind]: Answer<Kind> } = {
  findApiToken: findApiTokens,
  findUserGroup: findByKey,
  findUserGroupByToken: findByToken,
  findImportedToken: findImportedTokens,
  listUserGroups: singly(listUserGroups),
  searchUserGroups: singly(searchUserGroups),
  listApiTokens: singly(listApiTokens),
  listWorkspaces: once(listWorkspaces),
  listTokenKeyIds: once(listTokenKeyIds),
  countUserGroups: singly(countUserGroups),
  ping: once(ping),
};

/** All kinds at one time, on one connection. Throws `StoreUnavailable`. */
export async function runQueries(pool: ConnectionPool, queries: readonly Query[]): Promise<QueryResult[]> {
  const results: QueryResult[] = new Array(queries.length);
  const kinds = [...placesOf(queries.map(({ kind }) => kind))];
  await pool.run(async (session) => {
    const running = kinds.map(async ([kind, places]) => {
      const answer = answers[kind] as Answer<QueryKind>;
      const ofKind = places.map((place) => queries[place]!);
      putInPlace(results, places, await answer(session, ofKind));
    });
    await Promise.all(running);
  });
  return results;
}

function singly<Kind extends QueryKind>(
  answer: (session: Session, query: Query<Kind>) => Promise<QueryResult<Kind>>,
): Answer<Kind> {
  return async (session, queries) => {
    const results: QueryResult<Kind>[] = [];
    for (const query of queries) results.push(await answer(session, query));
    return results;
  };
}

/** For queries without parameters: all of them get one answer. */
function once<Kind extends QueryKind>(
  answer: (session: Session) => Promise<QueryResult<Kind>>,
): Answer<Kind> {
  return async (session, queries) => {
    const result = await answer(session);
    return queries.map(() => result);
  };
}
