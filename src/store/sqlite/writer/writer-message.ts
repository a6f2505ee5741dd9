// Batches of commands as messages to the writer thread: JSON, because structured cloning of the same objects costs both
// threads four times as much. Commands and results consist of strings, numbers and nulls.
//
// An event travels as an array of its fields: as an object it takes as long to parse as the rest of its command.

import type { NewEvent } from '../../../domain/event/event.ts';
import { monotonicMs } from '../../../scheduling/monotonic-ms.ts';
import type { Command } from '../../port.ts';
import { type Cell, Entity } from '../../row-shape.ts';

/** Commands that a client has sent together. */
export interface CommandBatch {
  commands: readonly Command[];
  /** `monotonicMs()` */
  sentAt: number;
}

/** An event without its webhook endpoints. */
const EVENT = new Entity<Omit<NewEvent, 'endpoints'>>((column) => ({
  bucket: column.integer('bucket'),
  workspaceId: column.bigint('workspace_id'),
  environment: column.text('environment'),
  target: { type: column.text('target_type'), id: column.text('target_id') },
  eventId: column.text('event_id'),
  type: column.text('type'),
  occurredAt: column.bigint('occurred_at'),
  requestId: column.text('request_id'),
  actor: {
    type: column.text('actor_type'),
    id: column.bigint('actor_id'),
    name: column.text('actor_name'),
    via: column.text('actor_via'),
  },
}));

export function encodeBatch(commands: readonly Command[]): string {
  return JSON.stringify({
    sentAt: monotonicMs(),
    commands: commands.map((command) =>
      'event' in command && command.event !== undefined
        ? { ...command, event: packed(command.event) }
        : command,
    ),
  });
}

export function decodeBatch(message: string): CommandBatch {
  const batch = JSON.parse(message) as { sentAt: number; commands: { event?: Cell[] | NewEvent }[] };
  for (const command of batch.commands) {
    if (command.event !== undefined) command.event = unpacked(command.event as Cell[]);
  }
  return batch as unknown as CommandBatch;
}

/** The values of the event, followed by its webhook endpoints. */
function packed(event: NewEvent): Cell[] {
  const cells = EVENT.cells(event);
  cells.push(...event.endpoints);
  return cells;
}

function unpacked(cells: readonly Cell[]): NewEvent {
  const endpoints = cells.slice(EVENT.columns.length) as string[];
  return Object.assign(EVENT.read(cells), { endpoints });
}
