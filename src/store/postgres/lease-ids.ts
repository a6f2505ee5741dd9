import { randomUUID } from 'node:crypto';
import type { IdSequence } from '../port.ts';
import { statement } from '../statement.ts';
import type { CommandBatchExecutor } from './executor.ts';

export const LEASE = statement('lease_ids')`
  update id_blocks set next = id_blocks.next + sent.count
  from unnest($1::text[], $2::bigint[]) as sent (sequence, count)
  where id_blocks.sequence = sent.sequence
  returning id_blocks.sequence, id_blocks.next - sent.count`;

export const NAME = statement('name_lease')`insert into id_leases (lease) values ($1)`;

/**
 * Leases one block for each sequence and divides it among the commands in their order. Each attempt has its
 * own lease name, which exists exactly as long as its blocks do: both statements travel in one pipeline, so
 * they are one transaction.
 */
export const leaseIds: CommandBatchExecutor<'leaseIds'> = async (session, commands) => {
  const counts = new Map<IdSequence, number>();
  for (const { sequence, count } of commands) counts.set(sequence, (counts.get(sequence) ?? 0) + count);
  const sequences = [...counts.keys()].sort();
  const lease = randomUUID();
  const [rows] = await session.pipelined(() => [
    session.query(LEASE, [sequences, sequences.map((sequence) => counts.get(sequence))]),
    session.query(NAME, [lease]),
  ]);
  const next = new Map(rows as [IdSequence, number][]);
  return commands.map(({ sequence, count }) => {
    const first = next.get(sequence)!;
    next.set(sequence, first + count);
    return { first, lease };
  });
};
