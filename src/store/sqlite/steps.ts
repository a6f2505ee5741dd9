// Performs commands that take the same statements on both databases.

import { type Call, exists, statement } from '../statement.ts';
import { type Recording, type Steps, type StepsTransaction, send } from '../steps.ts';
import { record } from './event/record.ts';
import type { Connection } from './file/connection.ts';

const WORKSPACE_EXISTS = statement('workspace_exists')`select 1 from workspaces where workspace_id = $1`;

/** One transaction writes at a time, so none needs locks. */
const TRANSACTION: Omit<StepsTransaction, 'recordings'> = {
  *lockEnvironment() {},
  lockWorkspace: (workspaceId) => send(workspaceExists(workspaceId)),
  // `autoincrement` gives no position twice.
  keepPositions: () => [],
};

export function workspaceExists(workspaceId: number): Call<boolean> {
  return exists(WORKSPACE_EXISTS, [workspaceId]);
}

export function perform<Result>(
  connection: Connection,
  start: (transaction: StepsTransaction) => Steps<Result>,
): Result {
  const recordings: Recording[] = [];
  const result = connection.perform(start({ ...TRANSACTION, recordings }));
  for (const { event, version = null, changes = null } of recordings)
    record(connection, event, version, () => changes);
  return result;
}
