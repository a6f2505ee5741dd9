// Delays refusals: one costs as much as a small response, and its body has to be read, so callers that repeat
// their requests immediately would otherwise keep the process busy.

const MIN_MS = 500;
/**
 * Maximum of a process, a tenth of the default of UGS_MAX_CONNECTIONS: each occupies a connection, perhaps that of
 * a proxy.
 */
const MAX_DELAYED = 1_024;

export class RefusalDelay {
  readonly #max: number;
  #delayed = 0;

  /** `threads` of the process divide the refusals. */
  constructor(threads = 1) {
    this.#max = Math.floor(MAX_DELAYED / threads);
  }

  /** Runs `send` later, or immediately if too many are delayed. */
  run(send: () => void): void {
    if (this.#delayed === this.#max) {
      send();
      return;
    }
    this.#delayed++;
    // Jitter: refusals of a burst would otherwise cause the next burst.
    const delayMs = MIN_MS * (1 + Math.random());
    setTimeout(() => {
      this.#delayed--;
      send();
    }, delayMs);
  }
}
