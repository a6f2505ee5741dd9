// Counts of the use of tokens.

import type { UsageCount } from '../../domain/usage.ts';
import { USAGE_COUNT, USAGE_POSITION } from '../entities.ts';
import { statement } from '../statement.ts';
import type { CommandExecutor } from './executor.ts';
import { sentRows, toArrays } from './sent-rows.ts';

const INSERT = `insert into usage_counts as stored (${USAGE_COUNT.names})
    select ${USAGE_COUNT.names} from ${sentRows(USAGE_COUNT)}`;

export const ADD = statement('add_usage')`
  ${INSERT}
  on conflict (bucket, workspace_id, environment, provided_id, day, kind, integration)
  do update set count = stored.count + excluded.count`;

export const COPY = statement('copy_usage')`
  ${INSERT}
  on conflict (bucket, workspace_id, environment, provided_id, day, kind, integration) do nothing`;

export const addUsage: CommandExecutor<'addUsage'> = async (session, { counts }) => {
  await session.query(ADD, toArrays(USAGE_COUNT, sumByKey(counts)));
};

export const copyUsage: CommandExecutor<'copyUsage'> = async (session, { counts }) => {
  await session.query(COPY, toArrays(USAGE_COUNT, counts));
};

/** Adds up the counts of each key, as ADD requires. Sorts by key, so that processes do not deadlock. */
function sumByKey(counts: readonly UsageCount[]): UsageCount[] {
  const sums = new Map<string, UsageCount>();
  for (const each of counts) {
    const key = JSON.stringify(USAGE_POSITION.cells(each));
    sums.set(key, { ...each, count: each.count + (sums.get(key)?.count ?? 0) });
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}
