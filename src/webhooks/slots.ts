// A counting semaphore: how many webhooks are sent at the same time. First come, first served.

export class Slots {
  #free: number;
  readonly #waiting: { wanted: number; resolve: (taken: number) => void }[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes up to `wanted`, as soon as there is one; returns how many. */
  take(wanted: number): Promise<number> {
    return new Promise((resolve) => {
      this.#waiting.push({ wanted, resolve });
      this.#serve();
    });
  }

  release(count: number): void {
    this.#free += count;
    this.#serve();
  }

  #serve(): void {
    while (this.#free > 0) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      const taken = Math.min(this.#free, next.wanted);
      this.#free -= taken;
      next.resolve(taken);
    }
  }
}
