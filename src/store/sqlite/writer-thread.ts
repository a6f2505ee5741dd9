// The thread that writes. A sync of the disk can take long, and reads must not wait for it.

import { parentPort, workerData } from 'node:worker_threads';
import { type Command, type CommandResult, StoreUnavailable } from '../store.ts';
import { Connection } from './connection.ts';
import { refuseAnother } from './file.ts';
import { Writer } from './writer.ts';

/**
 * A batch of commands as JSON, or null: the order to end. JSON, because a structured clone of the same objects costs
 * both threads four times as much; commands and results are strings, numbers and nulls.
 */
export type WriterRequest = string | null;
/** `made` stands for a group that was made just as the command says: whoever sent the command has it already. */
export type WriterReply = { results: (CommandResult | 'made')[] } | { error: string; unavailable: boolean };

export interface WriterFile {
  file: string;
  identity: string;
}

const { file, identity } = workerData as WriterFile;
let connection: Connection | null = null;

parentPort?.on('message', (request: WriterRequest) => {
  if (request === null) {
    close();
    parentPort?.close();
    return;
  }
  parentPort?.postMessage(JSON.stringify(reply(JSON.parse(request))));
});

function reply(commands: readonly Command[]): WriterReply {
  try {
    refuseAnother(file, identity);
    connection ??= new Connection(file);
    const results = new Writer(connection).run(commands);
    return { results: results.map((result, index) => (isMade(commands[index]!, result) ? 'made' : result)) };
  } catch (error) {
    // An error loses its class on the way to another thread.
    const { message } = error as Error;
    const unavailable = error instanceof StoreUnavailable;
    // Trouble leaves its mark: a file that could not be opened to write stays open for reading only. The next batch
    // opens it anew.
    if (unavailable) close();
    return { error: message, unavailable };
  }
}

function isMade({ kind }: Command, result: CommandResult): boolean {
  return kind === 'createUserGroup' && (result as { created: boolean }).created;
}

function close(): void {
  connection?.close();
  connection = null;
}
