// Writes the outcomes of attempts. Those that end while a write is in flight are written together by the next
// one.

import type { FinishedAttempt } from '../domain/webhook-endpoint/delivery.ts';
import type { BatchingStore } from '../store/batching-store.ts';
import { patiently } from './patiently.ts';

const MAX_BATCH = 256;
/** How long a batch is retried. */
const STORE_MS = 5_000;

interface Entry {
  attempt: FinishedAttempt;
  resolve: () => void;
}

export class OutcomeWriter {
  readonly #store: BatchingStore;
  readonly #onError: (error: unknown) => void;
  #queue: Entry[] = [];
  #isWriting = false;

  constructor(store: BatchingStore, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
  }

  /** Resolves when the outcome is stored, or cannot be: then the webhook is delivered again. */
  write(attempt: FinishedAttempt): Promise<void> {
    return new Promise((resolve) => {
      this.#queue.push({ attempt, resolve });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, MAX_BATCH);
      await this.#writeBatch(batch.map(({ attempt }) => attempt));
      for (const { resolve } of batch) resolve();
    }
    this.#isWriting = false;
  }

  async #writeBatch(attempts: readonly FinishedAttempt[]): Promise<void> {
    const deadline = performance.now() + STORE_MS;
    const store = this.#store.until(deadline);
    const write = () => store.inTime(store.write({ kind: 'finishAttempts', attempts }));
    await patiently(write, { deadline }).catch(this.#onError);
  }
}
