// PostgreSQL plans a prepared statement for the size that a table has then, and keeps the plan. One that was made
// while the table was small reads all of it at each look-up (at 100 000 groups 11 ms instead of 0.04), until
// autovacuum comes by, up to a minute later. Statistics that are gathered anew make every connection plan anew.

import type { Command, CommandResult, LeasedIds } from '../store.ts';
import type { ConnectionPool, Session, Statement } from './pool.ts';

export const ANALYZE: Statement = { name: 'analyze_user_groups', sql: 'analyze user_groups' };

/** Gathers statistics where the commands were leases with which the number of groups may have doubled. */
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
  // Nothing depends on it: where it fails, autovacuum does it later.
  await pool.run((session) => session.query(ANALYZE)).catch(() => {});
}

export async function gatherStatistics(
  session: Session,
  commands: readonly Command<'gatherStatistics'>[],
): Promise<null[]> {
  await session.query(ANALYZE);
  return commands.map(() => null);
}

/**
 * Not of the first ones: the table is empty or has a few rows then, and for so small a table PostgreSQL would make
 * plans that go through the table first, and so lock rows in another order than they are sent.
 */
function holdsPowerOfTwo(first: number, count: number): boolean {
  return first > 1 && 2 ** Math.ceil(Math.log2(first)) < first + count;
}
