// Counts of the use of tokens.

import type { UsageCount } from '../../domain/usage.ts';
import { TENANT, TENANT_WITH_USAGE, USAGE_COUNT } from '../entities.ts';
import { RowShape } from '../row-shape.ts';
import { statement } from '../statement.ts';
import type { CommandExecutor, QueryExecutor } from './executor.ts';
import { isSent, sentRows, toArrays } from './sent-rows.ts';

const { count: _, ...keyFields } = USAGE_COUNT.fields;
const KEY = new RowShape<Omit<UsageCount, 'count'>>(keyFields);
const INSERT = `insert into usage_counts as stored (${USAGE_COUNT.names})
    select ${USAGE_COUNT.names} from ${sentRows(USAGE_COUNT)}`;

export const ADD = statement('add_usage')`
  ${INSERT}
  on conflict (bucket, workspace_id, environment, provided_id, day, kind, integration)
  do update set count = stored.count + excluded.count`;

export const COPY = statement('copy_usage')`
  ${INSERT}
  on conflict (bucket, workspace_id, environment, provided_id, day, kind, integration) do nothing`;

export const NEXT_TENANT = statement('find_next_tenant_with_usage')`
  select ${TENANT_WITH_USAGE.names} from usage_counts where (workspace_id, environment) > ($1, $2)
  order by workspace_id, environment, day limit 1`;

/** Place in the order of the counts of an environment. */
const IN_TENANT = USAGE_COUNT.pick('day', 'providedId', 'kind', 'integration');

// Batches continue as those of events do (event/delete.ts).
export const FIND_OLD = statement('find_old_usage')`
  select ${USAGE_COUNT.names} from usage_counts
  where workspace_id = $1 and environment = $2 and day < $3::bigint and (${IN_TENANT.names}) > ($4, $5, $6, $7)
  order by ${IN_TENANT.names} limit $8`;

export const DELETE = statement('delete_usage')`
  delete from usage_counts as stored using ${sentRows(KEY)} where ${isSent(KEY)} returning 1`;

export const addUsage: CommandExecutor<'addUsage'> = async (session, { counts }) => {
  await session.query(ADD, toArrays(USAGE_COUNT, sumByKey(counts)));
};

export const copyUsage: CommandExecutor<'copyUsage'> = async (session, { counts }) => {
  await session.query(COPY, toArrays(USAGE_COUNT, counts));
};

export const findNextTenantWithUsage: QueryExecutor<'findNextTenantWithUsage'> = async (session, { after }) =>
  TENANT_WITH_USAGE.readFirst(await session.query(NEXT_TENANT, TENANT.cellsAfter(after)));

/** Runs in a transaction. */
export const deleteOldUsage: CommandExecutor<'deleteOldUsage'> = async (
  session,
  { tenant, before, limit, after = IN_TENANT.cellsAfter(null) },
) => {
  const values = [...TENANT.cells(tenant), before, ...after, limit];
  const old = USAGE_COUNT.readAll(await session.query(FIND_OLD, values));
  if (old.length === 0) return { deleted: 0, hasMore: false };
  const deleted = await session.query(DELETE, toArrays(KEY, old));
  return { deleted: deleted.length, hasMore: old.length === limit, next: IN_TENANT.cells(old.at(-1)!) };
};

/** Adds up the counts of each key, as ADD requires. Sorts by key, so that processes do not deadlock. */
function sumByKey(counts: readonly UsageCount[]): UsageCount[] {
  const sums = new Map<string, UsageCount>();
  for (const each of counts) {
    const key = JSON.stringify(KEY.cells(each));
    sums.set(key, { ...each, count: each.count + (sums.get(key)?.count ?? 0) });
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}
