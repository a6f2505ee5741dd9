// Counts requests in flight. Node and Fastify count connections, but a request whose client has disconnected
// may still be waiting for the database.

export class InFlight {
  #count = 0;
  #onEnd: (() => void) | null = null;

  begin(): void {
    this.#count++;
  }

  end(): void {
    if (--this.#count === 0) this.#onEnd?.();
  }

  /** Resolves when no request is in flight. */
  async allEnded(): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      this.#onEnd = resolve;
    });
  }
}
