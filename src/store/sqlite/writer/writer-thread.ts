// The writer thread. A disk sync can take long, and must not block reads.

import { parentPort, workerData } from 'node:worker_threads';
import type { Tenant } from '../../../domain/event/event.ts';
import { EventQuota } from '../../../domain/event/quota.ts';
import { type Command, type CommandResult, StoreUnavailable } from '../../port.ts';
import { runCommands } from '../command-executors.ts';
import { Connection } from '../file/connection.ts';
import { refuseAnother } from '../file/file.ts';
import { decodeCommands } from './writer-message.ts';

/** A batch of commands from `encodeCommands`, or null to stop. */
export type WriterRequest = string | null;
/** `created`: the group was created exactly as in the command, so it need not be sent back. */
export type WriterReply = (
  | { results: (CommandResult | 'created')[] }
  | { error: string; unavailable: boolean }
) & {
  /** The environment of each event that the quota has reduced. */
  reduced?: Tenant[];
};

export interface WriterFile {
  file: string;
  identity: string;
  eventBytesPerDay: number;
}

const { file, identity, eventBytesPerDay } = workerData as WriterFile;
const reduced: Tenant[] = [];
const eventQuota = new EventQuota({
  bytesPerDay: eventBytesPerDay,
  onReduced: ({ workspaceId, environment }) => reduced.push({ workspaceId, environment }),
});
let connection: Connection | null = null;

parentPort?.on('message', (request: WriterRequest) => {
  if (request === null) {
    close();
    parentPort?.close();
    return;
  }
  const message: WriterReply = reply(decodeCommands(request));
  if (reduced.length > 0) message.reduced = reduced.splice(0);
  parentPort?.postMessage(JSON.stringify(message));
});

function reply(commands: readonly Command[]): WriterReply {
  try {
    refuseAnother(file, identity);
    connection ??= new Connection(file, eventQuota);
    const results = runCommands(connection, commands);
    return {
      results: results.map((result, index) => (isCreated(commands[index]!, result) ? 'created' : result)),
    };
  } catch (error) {
    // Errors lose their class when they are posted to another thread.
    const { message } = error as Error;
    const unavailable = error instanceof StoreUnavailable;
    // A file that could not be opened for writing stays open read-only, so the next batch reopens it.
    if (unavailable) close();
    return { error: message, unavailable };
  }
}

function isCreated({ kind }: Command, result: CommandResult): boolean {
  return kind === 'createUserGroup' && (result as { created: boolean }).created;
}

function close(): void {
  connection?.close();
  connection = null;
}
