// Bounds the requests that start in one turn of the event loop: hundreds of connections may each send one at the same
// time, and a request takes about a tenth of a millisecond until it waits for the database or is refused. Tenants whose
// requests wait take turns.

import type { IncomingMessage } from 'node:http';
import { FairQueue, UNKNOWN_TENANT } from '../store/fair-queue.ts';
import { hasSmallBody, postponeBody } from './body.ts';

export const MAX_PER_TURN = 64;
/**
 * While tenants wait for each other, turns are shorter: a request takes several, and each is as long as all that the
 * tenants start in it.
 */
export const MAX_PER_SHARED_TURN = 16;
/** After the last turn in which several tenants waited. */
const SHARED_MS = 100;

type Start = () => void;
/** The tenant that a request is probably from, a workspace id: it is not authenticated yet. */
export type GuessTenant = (message: IncomingMessage) => number;

export class ArrivalLimit {
  readonly #waiting = new FairQueue<Start>();
  readonly #tenantOf: GuessTenant;
  /** Since the last reset, which may be several turns ago: resetting in every turn would cost more. */
  #started = 0;
  #isResetScheduled = false;
  #limit = MAX_PER_TURN;
  #sharedUntil = Number.NEGATIVE_INFINITY;

  constructor(tenantOf: GuessTenant = () => UNKNOWN_TENANT) {
    this.#tenantOf = tenantOf;
  }

  /** Runs `start` in this turn or in a later one. */
  admit(message: IncomingMessage, start: Start): void {
    if (this.#started < this.#limit) {
      this.#start(start);
      return;
    }
    if (!hasSmallBody(message)) postponeBody(message);
    this.#waiting.push(this.#tenantOf(message), start);
  }

  #start(start: Start): void {
    this.#started++;
    if (this.#started >= this.#limit && !this.#isResetScheduled) {
      this.#isResetScheduled = true;
      setImmediate(() => this.#reset());
    }
    start();
  }

  #limitOfTurn(): number {
    const now = performance.now();
    if (this.#waiting.tenants > 1) this.#sharedUntil = now + SHARED_MS;
    return now < this.#sharedUntil ? MAX_PER_SHARED_TURN : MAX_PER_TURN;
  }

  #nextOfTurn(): Start | undefined {
    return this.#started < this.#limit ? this.#waiting.shift() : undefined;
  }

  #reset(): void {
    this.#isResetScheduled = false;
    this.#started = 0;
    this.#limit = this.#limitOfTurn();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#nextOfTurn()) this.#start(next);
  }
}
