import type { Command } from '../store.ts';
import type { Session, Statement } from './pool.ts';

export const READ: Statement = { name: 'ping', sql: 'select 1 from id_blocks limit 1' };

// Writes in earnest: a full disk and a server that has become a replica both fail it. No row that a request waits
// for is locked by it.
export const WRITE: Statement = {
  name: 'ping_write',
  sql: "update id_blocks set next = next where sequence = 'workspace_id'",
};

export async function ping(session: Session): Promise<null> {
  await session.query(READ);
  return null;
}

export async function pingWrite(
  session: Session,
  commands: readonly Command<'pingWrite'>[],
): Promise<null[]> {
  await session.query(WRITE);
  return commands.map(() => null);
}
