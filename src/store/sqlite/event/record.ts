// Events and the webhook deliveries that they cause. One transaction writes at a time, so positions are in the order of
// commits.

import type { Changes } from '../../../domain/event/changes.ts';
import type { NewEvent } from '../../../domain/event/event.ts';
import { RECORDED_EVENT } from '../../entities.ts';
import type { Connection } from '../file/connection.ts';

const INSERT = `insert into events (${RECORDED_EVENT.names})
  values (${RECORDED_EVENT.parameters})`;
const INSERT_DELIVERY = `insert into deliveries (bucket, workspace_id, environment, endpoint_id, event_id, event_type,
    target_type, target_id, position, state, attempts, next_attempt_at, created_at)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', 0, ?, ?)`;

/** Returns the position of the event; null without one. */
export function record(
  connection: Connection,
  event: NewEvent | undefined,
  version: number | null,
  makeChanges: () => Changes | null = () => null,
): number | null {
  if (event === undefined) return null;
  const changes = connection.eventQuota.storedForm(event, makeChanges());
  const position = connection.insert(INSERT, RECORDED_EVENT.cells({ ...event, version, changes }));
  const { bucket, workspaceId, environment, eventId, type, target, occurredAt } = event;
  for (const endpoint of event.endpoints) {
    const delivery = [bucket, workspaceId, environment, endpoint, eventId, type, target.type, target.id];
    connection.run(INSERT_DELIVERY, [...delivery, position, occurredAt, occurredAt]);
  }
  return position;
}
