// Bounds the requests that start in one turn of the event loop: hundreds of connections may each send one at the same
// time, and a request takes about a tenth of a millisecond until it waits for the database or is refused.

import type { FastifyInstance } from 'fastify';
import { hasSmallBody, postponeBody } from './body.ts';

export const MAX_PER_TURN = 64;

type Start = () => void;

export function limitArrivals(app: FastifyInstance): void {
  const arrivals = new Arrivals();
  app.addHook('onRequest', ({ raw: message }, _reply, done) => {
    if (arrivals.hasRoom) return arrivals.start(done);
    if (!hasSmallBody(message)) postponeBody(message);
    arrivals.add(done);
  });
}

class Arrivals {
  readonly #waiting: Start[] = [];
  /** Since the last reset, which may be several turns ago: resetting in every turn would cost more. */
  #started = 0;
  #isResetScheduled = false;

  get hasRoom(): boolean {
    return this.#started < MAX_PER_TURN;
  }

  start(done: Start): void {
    this.#started++;
    if (this.#started === MAX_PER_TURN && !this.#isResetScheduled) {
      this.#isResetScheduled = true;
      setImmediate(() => this.#reset());
    }
    done();
  }

  /** Starts it in a later turn. */
  add(done: Start): void {
    this.#waiting.push(done);
  }

  #reset(): void {
    this.#isResetScheduled = false;
    this.#started = 0;
    for (const done of this.#waiting.splice(0, MAX_PER_TURN)) this.start(done);
  }
}
