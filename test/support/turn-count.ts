// Counts what happens in each turn of the event loop.

export class TurnCount {
  #count = 0;
  /** The largest count of a turn. */
  most = 0;

  add(): void {
    if (this.#count === 0)
      setImmediate(() => {
        this.#count = 0;
      });
    this.most = Math.max(this.most, ++this.#count);
  }
}
