// One event: found by its key, or recorded without a change.

import type { EventKey, StoredEvent } from '../../../domain/event/event.ts';
import type { Command, Query } from '../../port.ts';
import { EVENT_COLUMNS, toEvent } from '../../row-mapping.ts';
import type { Session, Statement } from '../client/pool.ts';
import { record } from './event.ts';

const STORED_COLUMNS = `${EVENT_COLUMNS}, position`
  .split(', ')
  .map((column) => `stored.${column}`)
  .join(', ');

export const FIND: Statement = {
  name: 'find_events',
  sql: `select ${STORED_COLUMNS}
    from events as stored,
      unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[])
        as sent (bucket, workspace_id, environment, target_type, target_id, position)
    where stored.bucket = sent.bucket and stored.workspace_id = sent.workspace_id
      and stored.environment = sent.environment and stored.target_type = sent.target_type
      and stored.target_id = sent.target_id and stored.position = sent.position`,
};

export async function findEvents(
  session: Session,
  queries: readonly Query<'findEvent'>[],
): Promise<(StoredEvent | null)[]> {
  const keys = queries.map(({ key }) => key);
  const rows = await session.query(FIND, [
    keys.map(({ bucket }) => bucket),
    keys.map(({ workspaceId }) => workspaceId),
    keys.map(({ environment }) => environment),
    keys.map(({ target }) => target.type),
    keys.map(({ target }) => target.id),
    keys.map(({ position }) => position),
  ]);
  // Events of different targets may have the same position.
  const found = new Map(rows.map(toEvent).map((event) => [nameOf(event), event]));
  return keys.map((key) => found.get(nameOf(key)) ?? null);
}

function nameOf({ workspaceId, environment, target, position }: EventKey): string {
  return JSON.stringify([workspaceId, environment, target.type, target.id, position]);
}

export async function recordEvent(session: Session, { event }: Command<'recordEvent'>): Promise<null> {
  await record(session, [{ event, version: null, changes: null }]);
  return null;
}
