import type { Command, LeasedIds } from '../port.ts';
import type { Connection } from './file/connection.ts';

const LEASE = 'update id_blocks set next = next + ? where sequence = ? returning next';

/** Leases need no name: one process serves a file, and it refuses to write once the file is replaced. */
export function leaseIds(
  connection: Connection,
  { count, sequence }: Pick<Command<'leaseIds'>, 'count' | 'sequence'>,
): LeasedIds {
  const [next] = connection.get(LEASE, [count, sequence]) as [number];
  return { first: next - count, lease: '' };
}
