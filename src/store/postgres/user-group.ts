// Finding user groups. A batch is joined with its keys: "column = any(keys)" on two columns would probe every pair
// of them (2.7 ms for 64 keys, a join takes 0.7).

import type { TokenAddress } from '../../domain/token.ts';
import { spell, type UserGroup, type UserGroupKey } from '../../domain/user-group.ts';
import { COLUMNS_BESIDE_KEY, toUserGroup, USER_GROUP_COLUMNS, userGroupOf } from '../rows.ts';
import type { Query } from '../store.ts';
import { Failure } from './failure.ts';
import type { Session, Statement } from './pool.ts';

export const FIND_BY_KEY: Statement = {
  name: 'find_user_groups',
  sql: `select ${COLUMNS_BESIDE_KEY}, sent.ordinal
    from unnest($1::integer[], $2::bigint[], $3::text[], $4::text[])
      with ordinality as sent (bucket, workspace_id, environment, provided_id, ordinal)
    join user_groups using (bucket, workspace_id, environment, provided_id)`,
};

export const FIND_BY_TOKEN: Statement = {
  name: 'find_user_groups_by_token',
  sql: `select ${USER_GROUP_COLUMNS}, sent.ordinal
    from unnest($1::integer[], $2::text[]) with ordinality as sent (bucket, token_digest, ordinal)
    join user_groups using (bucket, token_digest)`,
};

export const FIND_BY_PREVIOUS_TOKEN: Statement = {
  name: 'find_user_groups_by_previous_token',
  sql: `select ${USER_GROUP_COLUMNS}, sent.ordinal
    from unnest($1::integer[], $2::text[]) with ordinality as sent (bucket, previous_token_digest, ordinal)
    join user_groups using (bucket, previous_token_digest)`,
};

/** Changes nothing: who has run it has the rows to itself. There is no lock of rows that all engines have. */
export const LOCK: Statement = {
  name: 'lock_user_groups',
  sql: `update user_groups as stored set version = stored.version
    from unnest($1::integer[], $2::bigint[], $3::text[], $4::text[])
      as sent (bucket, workspace_id, environment, provided_id)
    where stored.bucket = sent.bucket and stored.workspace_id = sent.workspace_id
      and stored.environment = sent.environment and stored.provided_id = sent.provided_id`,
};

export const LIST: Statement = {
  name: 'list_user_groups',
  sql: `select ${USER_GROUP_COLUMNS} from user_groups
    where (workspace_id, environment, provided_id) > ($1, $2, $3)
    order by workspace_id, environment, provided_id limit $4`,
};

export const COUNT: Statement = { name: 'count_user_groups', sql: 'select count(*) from user_groups' };

export const COUNT_OF: Statement = {
  name: 'count_user_groups_of',
  sql: 'select count(*) from user_groups where workspace_id = $1 and environment = $2',
};

/** The group of each key, in their order; null where there is none. */
export async function findByKey(
  session: Session,
  queries: readonly { key: UserGroupKey }[],
): Promise<(UserGroup | null)[]> {
  const rows = await session.query(FIND_BY_KEY, columnsOfKeys(queries));
  return inOrder(queries, rows, (row, { key }) => userGroupOf(key, row));
}

/** Until the end of the transaction, in the order in which every process locks rows. No two may have the same key. */
export async function lockUserGroups(
  session: Session,
  commands: readonly { key: UserGroupKey }[],
): Promise<void> {
  await session.query(LOCK, columnsOfKeys(commands.toSorted(byKey)));
}

/**
 * Settles commands of a transaction in the order in which every process sends keys. `attempt` returns those whose group
 * came or changed between its two statements; then the transaction is begun anew, since to try again in it would lock
 * that group after others. Throws `Failure`.
 */
export async function settle<Command extends { key: UserGroupKey }>(
  commands: readonly Command[],
  attempt: (commands: readonly Command[]) => Promise<Command[]>,
): Promise<void> {
  const left = commands.length === 0 ? [] : await attempt(commands.toSorted(byKey));
  if (left.length > 0) throw new Failure(new Error('a user group changes too often'), 'conflict', 'good');
}

/**
 * Puts into `results` why a statement has left commands as they are, by what is stored now; returns those that nothing
 * explains, whose group came or changed between the two statements.
 */
export async function explainLeft<Command extends { key: UserGroupKey }, Result>(
  session: Session,
  commands: readonly Command[],
  results: Map<string, Result>,
  why: (command: Command, stored: UserGroup | null) => Result | null,
): Promise<Command[]> {
  const left = commands.filter(({ key }) => !results.has(spell(key)));
  if (left.length === 0) return [];
  const stored = await findByKey(session, left);
  for (const [index, command] of left.entries()) {
    const result = why(command, stored[index]!);
    if (result !== null) results.set(spell(command.key), result);
  }
  return left.filter(({ key }) => !results.has(spell(key)));
}

export async function findByToken(
  session: Session,
  queries: readonly { address: TokenAddress }[],
): Promise<(UserGroup | null)[]> {
  const found = await findByDigest(session, FIND_BY_TOKEN, queries);
  const rest = queries.filter((_, index) => found[index] === null);
  if (rest.length === 0) return found;
  // Second, and never first: a token may become the replaced one between the two, and not the current one again.
  const replaced = await findByDigest(session, FIND_BY_PREVIOUS_TOKEN, rest);
  return found.map((userGroup) => userGroup ?? replaced.shift()!);
}

async function findByDigest(
  session: Session,
  statement: Statement,
  queries: readonly { address: TokenAddress }[],
): Promise<(UserGroup | null)[]> {
  const values = [queries.map(({ address }) => address.bucket), queries.map(({ address }) => address.digest)];
  return inOrder(queries, await session.query(statement, values), toUserGroup);
}

/** Before every key there is. */
const FIRST_KEY = { workspaceId: 0, environment: '', providedId: '' };

export async function listUserGroups(session: Session, query: Query<'listUserGroups'>): Promise<UserGroup[]> {
  const { workspaceId, environment, providedId } = query.after ?? FIRST_KEY;
  const rows = await session.query(LIST, [workspaceId, environment, providedId, query.limit]);
  return rows.map((row) => toUserGroup(row)!);
}

export async function countUserGroups(session: Session, { of }: Query<'countUserGroups'>): Promise<number> {
  const [row] = await (of === null
    ? session.query(COUNT)
    : session.query(COUNT_OF, [of.workspaceId, of.environment]));
  return row?.[0] as number;
}

export function columnsOfKeys(items: readonly { key: UserGroupKey }[]): unknown[][] {
  return [
    items.map(({ key }) => key.bucket),
    items.map(({ key }) => key.workspaceId),
    items.map(({ key }) => key.environment),
    items.map(({ key }) => key.providedId),
  ];
}

/** Every process sends keys in this order, so that two of them lock rows in one order and do not deadlock. */
export function byKey({ key: a }: { key: UserGroupKey }, { key: b }: { key: UserGroupKey }): number {
  return (
    a.bucket - b.bucket ||
    a.workspaceId - b.workspaceId ||
    compare(a.environment, b.environment) ||
    compare(a.providedId, b.providedId)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Rows end with the ordinal, from 1, of what was sent for them. */
function inOrder<Sent>(
  sent: readonly Sent[],
  rows: readonly unknown[][],
  read: (row: unknown[], sent: Sent) => UserGroup | null,
): (UserGroup | null)[] {
  const results = new Array<UserGroup | null>(sent.length).fill(null);
  for (const row of rows) {
    const place = (row.at(-1) as number) - 1;
    results[place] = read(row, sent[place]!);
  }
  return results;
}
