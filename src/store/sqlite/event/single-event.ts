// One event: found by its key, or recorded without a change.

import type { StoredEvent } from '../../../domain/event/event.ts';
import { EVENT } from '../../entities.ts';
import type { Command, Query } from '../../port.ts';
import type { Connection } from '../file/connection.ts';
import { record } from './event.ts';

const FIND = `select ${EVENT.names} from events
  where workspace_id = ? and environment = ? and target_type = ? and target_id = ? and position = ?`;

export function findEvent(connection: Connection, { key }: Query<'findEvent'>): StoredEvent | null {
  const { workspaceId, environment, target, position } = key;
  return EVENT.readOrNull(connection.get(FIND, [workspaceId, environment, target.type, target.id, position]));
}

export function recordEvent(connection: Connection, { event }: Command<'recordEvent'>): null {
  record(connection, event, null);
  return null;
}
