// Delays refusals: one costs as much as a small response, and its body has to be read, so callers that repeat
// their requests immediately would otherwise keep the process busy.

const MIN_MS = 500;
/**
 * Maximum, a tenth of the default of UGS_MAX_CONNECTIONS: each occupies a connection, perhaps that of a
 * proxy.
 */
const MAX_DELAYED = 1_024;

export class RefusalDelay {
  #delayed = 0;

  /** Runs `send` later, or immediately if too many are delayed. */
  run(send: () => void): void {
    if (this.#delayed === MAX_DELAYED) {
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
