// Client of the writer thread, for threads that do not own it.

import type { MessagePort } from 'node:worker_threads';
import { type Command, type CommandResult, StoreUnavailable } from '../../port.ts';
import { PendingBatches } from './pending-batches.ts';
import type { WriterConnection } from './writer.ts';

/** Calls `Writer.connect` in the thread of the owner. Its error has lost its class. */
export type ConnectWriter = () => Promise<WriterConnection>;

interface Link {
  port: MessagePort;
  pending: PendingBatches;
}

export class RemoteWriter {
  readonly #connect: ConnectWriter;
  #link: Promise<Link> | null = null;

  constructor(connect: ConnectWriter) {
    this.#connect = connect;
  }

  /** Rejects with `StoreUnavailable` if the writer cannot be connected to. */
  async run(commands: readonly Command[]): Promise<CommandResult[]> {
    this.#link ??= this.#open();
    const { port, pending } = await this.#link;
    return await pending.send(port, commands);
  }

  async close(): Promise<void> {
    const link = await this.#link?.catch(() => null);
    link?.port.close();
  }

  async #open(): Promise<Link> {
    try {
      const { port, posted } = await this.#connect();
      const pending = new PendingBatches(posted);
      port.on('message', (reply: string) => pending.receive(JSON.parse(reply)));
      port.on('close', () => {
        // The next batch connects again.
        this.#link = null;
        pending.rejectAll(undefined);
      });
      return { port, pending };
    } catch (error) {
      this.#link = null;
      throw new StoreUnavailable((error as Error).message, { cause: error });
    }
  }
}
