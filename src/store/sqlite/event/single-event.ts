// One event: found by its key, or recorded without a change.

import { EVENT } from '../../entities.ts';
import type { CommandExecutor, QueryExecutor } from '../executor.ts';
import { record } from './record.ts';

const FIND = `select ${EVENT.names} from events
  where workspace_id = ? and environment = ? and target_type = ? and target_id = ? and position = ?`;

export const findEvent: QueryExecutor<'findEvent'> = (connection, { key }) => {
  const { workspaceId, environment, target, position } = key;
  return EVENT.readOrNull(connection.get(FIND, [workspaceId, environment, target.type, target.id, position]));
};

export const recordEvent: CommandExecutor<'recordEvent'> = (connection, { event }) => {
  record(connection, event, null);
  return null;
};
