// Tells the operator once that the database cannot be reached, and once that it is back.

import type { StoreObserver } from '../store.ts';

export class Outage {
  readonly #observer: StoreObserver | undefined;
  #beganAt: number | null = null;

  constructor(observer: StoreObserver | undefined) {
    this.#observer = observer;
  }

  begin(reason: string): void {
    if (this.#beganAt !== null) return;
    this.#beganAt = performance.now();
    this.#observer?.unavailable(reason);
  }

  end(): void {
    if (this.#beganAt === null) return;
    this.#observer?.back(performance.now() - this.#beganAt);
    this.#beganAt = null;
  }
}
