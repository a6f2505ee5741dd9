// Writes what operations collect in memory some seconds later, off the path of responses, one write after the
// other. A crash loses at most what was collected since the last write.

/** Number of items that one command writes. */
export const WRITE_BATCH = 256;

interface Collection<Batch> {
  /** Returns what was collected, and starts an empty collection. */
  take(): Batch;
  write(batch: Batch): Promise<void>;
  /** Called with the error of a failed write. `write` itself has to keep what must not be lost. */
  onError: (error: unknown) => void;
}

export class DelayedWrite<Batch> {
  readonly #collection: Collection<Batch>;
  readonly #afterMs: number;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(collection: Collection<Batch>, afterMs: number) {
    this.#collection = collection;
    this.#afterMs = afterMs;
  }

  get isScheduled(): boolean {
    return this.#timer !== null;
  }

  schedule(): void {
    this.#timer ??= setTimeout(() => void this.now(), this.#afterMs).unref();
  }

  /** Writes now. Never rejects. */
  now(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const batch = this.#collection.take();
    this.#writing = this.#writing
      .then(() => this.#collection.write(batch))
      .catch((error: unknown) => this.#collection.onError(error));
    return this.#writing;
  }
}
