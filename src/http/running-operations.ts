// Operations that run. Node and Fastify count connections: of a client that has gone they know nothing more, while its
// request is still on its way to the database.

export class RunningOperations {
  #count = 0;
  #onEnd: (() => void) | null = null;

  begin(): void {
    this.#count++;
  }

  end(): void {
    if (--this.#count === 0) this.#onEnd?.();
  }

  /** Resolves when none runs. */
  async allEnded(): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      this.#onEnd = resolve;
    });
  }
}
