// Batches of commands as messages to the writer thread: JSON, because structured cloning of the same objects costs both
// threads four times as much. Commands and results consist of strings, numbers and nulls.
//
// An event travels as an array of its fields: as an object it takes as long to parse as the rest of its command.

import type { Actor, NewEvent, TargetType } from '../../../domain/event/event.ts';
import { monotonicMs } from '../../../scheduling/monotonic-ms.ts';
import type { Command } from '../../port.ts';

/** Commands that a client has sent together. */
export interface CommandBatch {
  commands: readonly Command[];
  /** `monotonicMs()` */
  sentAt: number;
}

type PackedEvent = readonly [
  NewEvent['bucket'],
  NewEvent['workspaceId'],
  NewEvent['environment'],
  TargetType,
  targetId: string,
  NewEvent['eventId'],
  NewEvent['type'],
  NewEvent['occurredAt'],
  NewEvent['requestId'],
  Actor['type'],
  Actor['id'],
  Actor['name'],
  Actor['via'],
  ...NewEvent['endpoints'],
];

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
  const batch = JSON.parse(message) as { sentAt: number; commands: { event?: PackedEvent | NewEvent }[] };
  for (const command of batch.commands) {
    if (command.event !== undefined) command.event = unpacked(command.event as PackedEvent);
  }
  return batch as unknown as CommandBatch;
}

function packed(event: NewEvent): PackedEvent {
  const { target, actor } = event;
  return [
    event.bucket,
    event.workspaceId,
    event.environment,
    target.type,
    target.id,
    event.eventId,
    event.type,
    event.occurredAt,
    event.requestId,
    actor.type,
    actor.id,
    actor.name,
    actor.via,
    ...event.endpoints,
  ];
}

function unpacked(fields: PackedEvent): NewEvent {
  return {
    bucket: fields[0],
    workspaceId: fields[1],
    environment: fields[2],
    target: { type: fields[3], id: fields[4] },
    eventId: fields[5],
    type: fields[6],
    occurredAt: fields[7],
    requestId: fields[8],
    actor: { type: fields[9], id: fields[10], name: fields[11], via: fields[12] },
    endpoints: fields.slice(13) as string[],
  };
}
