// Batches that were sent to the writer thread, in the order of its replies.

import { createdUserGroup } from '../../entities.ts';
import { type Command, type CommandResult, type NewUserGroup, StoreUnavailable } from '../../port.ts';
import { encodeBatch } from './writer-message.ts';
import type { WriterReply, WriterRequest } from './writer-thread.ts';

interface PendingBatch {
  commands: readonly Command[];
  resolve: (results: CommandResult[]) => void;
  reject: (error: Error) => void;
}

export class PendingBatches {
  readonly #pending: PendingBatch[] = [];
  readonly #posted: Int32Array;

  /** `posted`: see `WriterFile`. */
  constructor(posted: SharedArrayBuffer) {
    this.#posted = new Int32Array(posted);
  }

  send(
    to: { postMessage(request: WriterRequest): void },
    commands: readonly Command[],
  ): Promise<CommandResult[]> {
    return new Promise((resolve, reject) => {
      to.postMessage(encodeBatch(commands));
      // After posting: a batch that could not be posted gets no reply, and would take another batch's.
      this.#pending.push({ commands, resolve, reject });
      Atomics.add(this.#posted, 0, 1);
      Atomics.notify(this.#posted, 0);
    });
  }

  receive(reply: WriterReply): void {
    const { commands, resolve, reject } = this.#pending.shift()!;
    if ('error' in reply) {
      reject(reply.unavailable ? new StoreUnavailable(reply.error) : new Error(reply.error));
      return;
    }
    resolve(
      reply.results.map((result, index) => {
        const command = commands[index]!;
        const isAbbreviated = result === 'created' && command.kind === 'createUserGroup';
        return isAbbreviated ? created(command) : result;
      }),
    );
  }

  /** The thread has exited. The pending batches may have been applied. */
  rejectAll(cause: unknown): void {
    const message = `SQLite: the writer thread exited${cause instanceof Error ? `: ${cause.message}` : ''}`;
    for (const { reject } of this.#pending.splice(0)) reject(new StoreUnavailable(message, { cause }));
  }
}

function created(command: Command): CommandResult<'createUserGroup'> {
  return { created: true, userGroup: createdUserGroup(command as NewUserGroup & Command) };
}
