// Counts events in each turn of the event loop.

export class TurnCount {
  #count = 0;
  /** Largest count in one turn. */
  most = 0;

  add(): void {
    if (this.#count === 0)
      setImmediate(() => {
        this.#count = 0;
      });
    this.most = Math.max(this.most, ++this.#count);
  }
}
