// Lookups of user groups by the marked digest of a token. One statement finds the bucket and the group: between two, a
// rename could move the group to another bucket.

import type { Bucket } from '../../../domain/bucket.ts';
import type { TokenAddress } from '../../../domain/token.ts';
import type { UserGroup } from '../../../domain/user-group/user-group.ts';
import { TENANT, TENANT_OR_ANY, USER_GROUP } from '../../entities.ts';
import type { Query } from '../../port.ts';
import { bigint, RowShape } from '../../row-shape.ts';
import { statement } from '../../statement.ts';
import type { Session } from '../client/session.ts';
import { numberedRows } from '../sent-rows.ts';
import { findImportedTokens } from './imported-token.ts';
import {
  BELONGS_TO_TENANT,
  findByToken,
  findGroups,
  RESOLVES_FOR_TENANT,
  resolveTokens,
} from './user-group.ts';

type Lookup = Query<'findUserGroupByImportedToken'>;
type Resolution = Query<'resolveImportedToken'>;

const digest = USER_GROUP.fields.tokenDigest;
const SENT = new RowShape<Omit<Lookup, 'kind'>>({ digest, ...TENANT_OR_ANY.fields });
const RESOLVED = new RowShape<Omit<Resolution, 'kind'>>({ digest, tenant: TENANT, now: bigint('now') });

/** Bucket for the lookup of a digest that no group has, which then takes the same steps as any other. */
const ANY_BUCKET = 0 as Bucket;

/**
 * Selects the groups with a sent token in this column. A subquery, because after a join with the imported tokens
 * PostgreSQL looks up only the bucket, and reads all of its groups.
 */
function groupsBy(shape: typeof SENT | typeof RESOLVED, column: string): string {
  return `select ${USER_GROUP.namesIn('user_groups')}, sent.ordinal
    from ${numberedRows(shape)}
    join user_groups on user_groups.${column} = sent.token_digest and user_groups.bucket = coalesce(
      (select bucket from imported_tokens where imported_tokens.token_digest = sent.token_digest), ${ANY_BUCKET})`;
}

export const FIND = statement('find_user_groups_by_imported_token')`
  ${groupsBy(SENT, 'token_digest')}
  where ${BELONGS_TO_TENANT}
  union all
  ${groupsBy(SENT, 'previous_token_digest')}
  where ${BELONGS_TO_TENANT}`;

export const RESOLVE = statement('resolve_imported_tokens')`
  ${groupsBy(RESOLVED, 'token_digest')}
  where ${RESOLVES_FOR_TENANT}
  union all
  ${groupsBy(RESOLVED, 'previous_token_digest')}
  where ${RESOLVES_FOR_TENANT} and previous_token_expires_at > sent.now`;

export async function findByImportedToken(
  session: Session,
  queries: readonly Lookup[],
): Promise<(UserGroup | null)[]> {
  if (session.isDistributed) return findInBuckets(session, queries, findByToken);
  return findGroups(session, FIND, SENT, queries);
}

export async function resolveImportedTokens(
  session: Session,
  queries: readonly Resolution[],
): Promise<(UserGroup | null)[]> {
  if (session.isDistributed) return findInBuckets(session, queries, resolveTokens);
  return findGroups(session, RESOLVE, RESOLVED, queries);
}

/**
 * Variant for Citus, which would read every shard for the join: takes two statements, and repeats them if a
 * token has moved to another bucket in between. `before`: buckets in which no group has the tokens.
 */
async function findInBuckets<Sent extends Lookup | Resolution>(
  session: Session,
  queries: readonly Sent[],
  find: (
    session: Session,
    queries: readonly (Sent & { address: TokenAddress })[],
  ) => Promise<(UserGroup | null)[]>,
  before: readonly (Bucket | null)[] = [],
): Promise<(UserGroup | null)[]> {
  const buckets = await findImportedTokens(session, queries);
  if (buckets.every((bucket, index) => bucket === before[index])) return queries.map(() => null);
  const addressed = queries.map((query, index) => ({
    ...query,
    address: { bucket: buckets[index] ?? ANY_BUCKET, digest: query.digest },
  }));
  const found = await find(session, addressed);
  const isMissing = (_: unknown, index: number) => found[index] === null;
  const missing = queries.filter(isMissing);
  if (missing.length === 0) return found;
  const moved = await findInBuckets(session, missing, find, buckets.filter(isMissing));
  return found.map((userGroup) => userGroup ?? moved.shift()!);
}
