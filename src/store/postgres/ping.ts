import { statement } from '../statement.ts';
import type { CommandBatchExecutor } from './executor.ts';

// A real write, which fails on a full disk and on a standby. It locks no row that a request may wait for.
export const WRITE = statement('ping_write')`
  update id_blocks set next = next where sequence = 'workspace_id'`;

export const pingWrite: CommandBatchExecutor<'pingWrite'> = async (session, commands) => {
  await session.query(WRITE);
  return commands.map(() => null);
};
