// PostgreSQL plans a prepared statement for the table's current size and keeps the plan. A plan for a small
// table scans all of it at each lookup (11 ms instead of 0.04 with 100 000 groups) until autovacuum runs, up
// to a minute later. ANALYZE makes every connection plan again.

import type { Command, CommandResult, LeasedIds } from '../port.ts';
import { statement } from '../statement.ts';
import type { ConnectionPool } from './client/pool.ts';
import type { CommandExecutor } from './executor.ts';

export const ANALYZE = statement('analyze_user_groups')`analyze user_groups`;

/** Gathers statistics if the commands leased ids that may double the number of groups. */
export async function keepPlansFitting(
  pool: ConnectionPool,
  commands: readonly Command[],
  results: readonly CommandResult[],
): Promise<void> {
  const hasDoubled = commands.some(
    (command, index) =>
      command.kind === 'leaseIds' &&
      command.sequence === 'team_id' &&
      holdsPowerOfTwo((results[index] as LeasedIds).first, command.count),
  );
  if (!hasDoubled) return;
  // Best effort: autovacuum does it later.
  await pool.run((session) => session.query(ANALYZE)).catch(() => {});
}

export const gatherStatistics: CommandExecutor<'gatherStatistics'> = async (session) => {
  await session.query(ANALYZE);
};

/**
 * Whether a lease includes a power of two. Not the first lease: for an almost empty table PostgreSQL would
 * plan sequential scans, which lock rows in another order than they are sent.
 */
function holdsPowerOfTwo(first: number, count: number): boolean {
  return first > 1 && 2 ** Math.ceil(Math.log2(first)) < first + count;
}
