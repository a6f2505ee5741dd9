// Bounds the requests that start in one turn of the event loop: hundreds of connections may each send one at the same
// time, and a request takes about a tenth of a millisecond until it waits for the database or is refused.

import type { IncomingMessage } from 'node:http';
import { hasSmallBody, postponeBody } from './body.ts';

export const MAX_PER_TURN = 64;

type Start = () => void;

export class ArrivalLimit {
  readonly #waiting: Start[] = [];
  /** Since the last reset, which may be several turns ago: resetting in every turn would cost more. */
  #started = 0;
  #isResetScheduled = false;

  /** Runs `start` in this turn or in a later one. */
  admit(message: IncomingMessage, start: Start): void {
    if (this.#started < MAX_PER_TURN) {
      this.#start(start);
      return;
    }
    if (!hasSmallBody(message)) postponeBody(message);
    this.#waiting.push(start);
  }

  #start(start: Start): void {
    this.#started++;
    if (this.#started === MAX_PER_TURN && !this.#isResetScheduled) {
      this.#isResetScheduled = true;
      setImmediate(() => this.#reset());
    }
    start();
  }

  #reset(): void {
    this.#isResetScheduled = false;
    this.#started = 0;
    for (const start of this.#waiting.splice(0, MAX_PER_TURN)) this.#start(start);
  }
}
