// The writer thread as another thread than its owner sees it.

import type { MessagePort } from 'node:worker_threads';
import type { Command, CommandResult } from '../../port.ts';
import { PendingBatches } from './pending-batches.ts';

/** Returns a port of `Writer.connect`. Rejects with `StoreUnavailable`. */
export type ConnectWriter = () => Promise<MessagePort>;

export class RemoteWriter {
  readonly #connect: ConnectWriter;
  #port: Promise<MessagePort> | null = null;
  readonly #pending = new PendingBatches();

  constructor(connect: ConnectWriter) {
    this.#connect = connect;
  }

  async run(commands: readonly Command[]): Promise<CommandResult[]> {
    this.#port ??= this.#open();
    return await this.#pending.send(await this.#port, commands);
  }

  async close(): Promise<void> {
    (await this.#port)?.close();
  }

  async #open(): Promise<MessagePort> {
    try {
      const port = await this.#connect();
      port.on('message', (reply: string) => this.#pending.receive(JSON.parse(reply)));
      port.on('close', () => {
        // The next batch connects again.
        this.#port = null;
        this.#pending.rejectAll(undefined);
      });
      return port;
    } catch (error) {
      this.#port = null;
      throw error;
    }
  }
}
