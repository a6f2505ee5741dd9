import { statement } from '../statement.ts';
import type { Session } from './client/session.ts';
import type { CommandBatchExecutor } from './executor.ts';

export const READ = statement('ping')`select coalesce(max(number), 0) from schema_migrations`;

// A real write, which fails on a full disk and on a standby. It locks no row that a request may wait for.
export const WRITE = statement('ping_write')`
  update id_blocks set next = next where sequence = 'workspace_id'`;

export async function ping(session: Session): Promise<number> {
  const [row] = await session.query(READ);
  return row![0] as number;
}

export const pingWrite: CommandBatchExecutor<'pingWrite'> = async (session, commands) => {
  await session.query(WRITE);
  return commands.map(() => null);
};
