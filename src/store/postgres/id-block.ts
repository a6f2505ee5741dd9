import type { Command, IdSequence } from '../store.ts';
import type { Session, Statement } from './pool.ts';

export const LEASE: Statement = {
  name: 'lease_ids',
  sql: `update id_blocks set next = id_blocks.next + sent.count
    from unnest($1::text[], $2::bigint[]) as sent (sequence, count)
    where id_blocks.sequence = sent.sequence
    returning id_blocks.sequence, id_blocks.next - sent.count`,
};

/** Leases of one sequence are one block, which is dealt out in their order. */
export async function leaseIds(
  session: Session,
  commands: readonly Command<'leaseIds'>[],
): Promise<number[]> {
  const counts = new Map<IdSequence, number>();
  for (const { sequence, count } of commands) counts.set(sequence, (counts.get(sequence) ?? 0) + count);
  const sequences = [...counts.keys()].sort();
  const rows = await session.query(LEASE, [sequences, sequences.map((sequence) => counts.get(sequence))]);
  const next = new Map(rows as [IdSequence, number][]);
  return commands.map(({ sequence, count }) => {
    const first = next.get(sequence)!;
    next.set(sequence, first + count);
    return first;
  });
}
