// Lookups of user groups. A batch is joined with its keys: "column = any(keys)" on two columns would probe every pair
// of them (64 keys: 2.7 ms, a join takes 0.7).

import type { TokenAddress, TokenDigest } from '../../../domain/token.ts';
import { keyToString, type UserGroup, type UserGroupKey } from '../../../domain/user-group/user-group.ts';
import {
  TENANT,
  TENANT_OR_ANY,
  toUserGroupWithKey,
  USER_GROUP,
  USER_GROUP_BESIDE_KEY,
  USER_GROUP_KEY,
} from '../../entities.ts';
import { byKey } from '../../lock-order.ts';
import type { Query } from '../../port.ts';
import { bigint, type Field, RowShape, text } from '../../row-shape.ts';
import { type Statement, statement } from '../../statement.ts';
import { firstOfEach } from '../batch.ts';
import { conflict } from '../client/errors.ts';
import type { Session } from '../client/session.ts';
import { isSent, numberedRows, sentRows, toArrays } from '../sent-rows.ts';

const { bucket, tokenDigest } = USER_GROUP.fields;
const KEY = new RowShape<{ key: UserGroupKey }>({ key: USER_GROUP_KEY });
/** A token that a group may have, or may have had. */
const CURRENT_TOKEN = tokenShape(tokenDigest);
const PREVIOUS_TOKEN = tokenShape(text('previous_token_digest'));

function tokenShape(digest: Field<TokenDigest>): RowShape<Omit<Query<'findUserGroupByToken'>, 'kind'>> {
  const address = new RowShape<TokenAddress>({ bucket, digest });
  return new RowShape({ address, ...TENANT_OR_ANY.fields });
}

export const FIND_BY_KEY = statement('find_user_groups')`
  select ${USER_GROUP_BESIDE_KEY.names}, sent.ordinal
  from ${numberedRows(USER_GROUP_KEY)}
  join user_groups using (${USER_GROUP_KEY.names})`;

// In a `where` clause like `RESOLVES_FOR_TENANT`: the row of another tenant is not returned either.
export const BELONGS_TO_TENANT = `(user_groups.workspace_id, user_groups.environment)
      = (coalesce(sent.workspace_id, user_groups.workspace_id), coalesce(sent.environment, user_groups.environment))`;

export const FIND_BY_TOKEN = statement('find_user_groups_by_token')`
  select ${USER_GROUP.namesIn('user_groups')}, sent.ordinal
  from ${numberedRows(CURRENT_TOKEN)}
  join user_groups using (bucket, token_digest)
  where ${BELONGS_TO_TENANT}`;

export const FIND_BY_PREVIOUS_TOKEN = statement('find_user_groups_by_previous_token')`
  select ${USER_GROUP.namesIn('user_groups')}, sent.ordinal
  from ${numberedRows(PREVIOUS_TOKEN)}
  join user_groups using (bucket, previous_token_digest)
  where ${BELONGS_TO_TENANT}`;

// Looks up only the digest in an index: "is not distinct from" uses none. The row of a token that does not
// resolve is not returned, so its size does not distinguish it from an unknown token.
export const RESOLVES_FOR_TENANT = `suspended_at is null
      and (user_groups.workspace_id, user_groups.environment) is not distinct from (sent.workspace_id, sent.environment)`;

const RESOLVED = new RowShape<Pick<Query<'resolveToken'>, 'address' | 'tenant'>>({
  ...CURRENT_TOKEN.fields,
  tenant: TENANT,
});
const RESOLVED_PREVIOUS = new RowShape<Omit<Query<'resolveToken'>, 'kind'>>({
  ...PREVIOUS_TOKEN.fields,
  tenant: TENANT,
  now: bigint('now'),
});

export const RESOLVE = statement('resolve_tokens')`
  select ${USER_GROUP.namesIn('user_groups')}, sent.ordinal
  from ${numberedRows(RESOLVED)}
  join user_groups using (bucket, token_digest)
  where ${RESOLVES_FOR_TENANT}`;

export const RESOLVE_PREVIOUS = statement('resolve_previous_tokens')`
  select ${USER_GROUP.namesIn('user_groups')}, sent.ordinal
  from ${numberedRows(RESOLVED_PREVIOUS)}
  join user_groups using (bucket, previous_token_digest)
  where ${RESOLVES_FOR_TENANT} and previous_token_expires_at > sent.now`;

/** A no-op update that locks the rows: no row-locking clause is supported by all engines. */
export const LOCK = statement('lock_user_groups')`
  update user_groups as stored set version = stored.version
  from ${sentRows(USER_GROUP_KEY)} where ${isSent(USER_GROUP_KEY)}`;

/** The group of each key, in order; null if there is none. */
export async function findByKey(
  session: Session,
  queries: readonly { key: UserGroupKey }[],
): Promise<(UserGroup | null)[]> {
  const rows = await session.query(FIND_BY_KEY, toArrays(KEY, queries));
  return inOrder(queries, rows, (row, { key }) => toUserGroupWithKey(key, row));
}

/** Locks until the end of the transaction, in the order that every process uses. */
export async function lockUserGroups(
  session: Session,
  commands: readonly { key: UserGroupKey }[],
): Promise<void> {
  const distinct = firstOfEach(commands, ({ key }) => keyToString(key));
  await session.query(LOCK, toArrays(KEY, distinct.sort(byKey)));
}

/**
 * Applies the commands of a transaction in the key order that every process uses. `attempt` returns those whose group
 * was created or changed between its two statements; then the whole transaction is retried, because retrying within it
 * would lock that group out of order. Throws `TransientError`.
 */
export async function applyOrConflict<Command extends { key: UserGroupKey }>(
  commands: readonly Command[],
  attempt: (commands: readonly Command[]) => Promise<Command[]>,
): Promise<void> {
  const unapplied = commands.length === 0 ? [] : await attempt(commands.toSorted(byKey));
  if (unapplied.length > 0) throw conflict(new Error('concurrent update of a user group'));
}

/**
 * Stores in `results` why a statement did not apply commands, judging by the group that is stored now.
 * Returns the unexplained commands, whose group was created or changed between the two statements.
 */
export async function explainUnapplied<Command extends { key: UserGroupKey }, Result>(
  session: Session,
  commands: readonly Command[],
  results: Map<string, Result>,
  why: (command: Command, stored: UserGroup | null) => Result | null,
): Promise<Command[]> {
  const unapplied = commands.filter(({ key }) => !results.has(keyToString(key)));
  if (unapplied.length === 0) return [];
  const stored = await findByKey(session, unapplied);
  for (const [index, command] of unapplied.entries()) {
    const result = why(command, stored[index]!);
    if (result !== null) results.set(keyToString(command.key), result);
  }
  return unapplied.filter(({ key }) => !results.has(keyToString(key)));
}

export function findByToken(
  session: Session,
  queries: readonly Omit<Query<'findUserGroupByToken'>, 'kind'>[],
): Promise<(UserGroup | null)[]> {
  return findEither(
    queries,
    (all) => findGroups(session, FIND_BY_TOKEN, CURRENT_TOKEN, all),
    (rest) => findGroups(session, FIND_BY_PREVIOUS_TOKEN, PREVIOUS_TOKEN, rest),
  );
}

export function resolveTokens(
  session: Session,
  queries: readonly Omit<Query<'resolveToken'>, 'kind'>[],
): Promise<(UserGroup | null)[]> {
  return findEither(
    queries,
    (all) => findGroups(session, RESOLVE, RESOLVED, all),
    (rest) => findGroups(session, RESOLVE_PREVIOUS, RESOLVED_PREVIOUS, rest),
  );
}

type Find<Sent> = (queries: readonly Sent[]) => Promise<(UserGroup | null)[]>;

/** In this order: between the two statements a current token may become a replaced one, but not vice versa. */
async function findEither<Sent>(
  queries: readonly Sent[],
  findCurrent: Find<Sent>,
  findReplaced: Find<Sent>,
): Promise<(UserGroup | null)[]> {
  const found = await findCurrent(queries);
  const rest = queries.filter((_, index) => found[index] === null);
  if (rest.length === 0) return found;
  const replaced = await findReplaced(rest);
  return found.map((userGroup) => userGroup ?? replaced.shift()!);
}

/** Finds the group of each query; the statement returns its columns and the ordinal. */
export async function findGroups<Sent extends object>(
  session: Session,
  statement: Statement,
  shape: RowShape<Sent>,
  queries: readonly Sent[],
): Promise<(UserGroup | null)[]> {
  return inOrder(queries, await session.query(statement, toArrays(shape, queries)), (row) =>
    USER_GROUP.read(row),
  );
}

/** Assigns rows to queries by their last column, the ordinal of the query, from 1. */
function inOrder<Sent>(
  sent: readonly Sent[],
  rows: readonly unknown[][],
  read: (row: unknown[], sent: Sent) => UserGroup | null,
): (UserGroup | null)[] {
  const results = new Array<UserGroup | null>(sent.length).fill(null);
  for (const row of rows) {
    const index = (row.at(-1) as number) - 1;
    results[index] = read(row, sent[index]!);
  }
  return results;
}
