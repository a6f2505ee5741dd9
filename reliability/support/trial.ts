// A trial: callers use something continuously through every process while one of them ends it. A use sent
// after the end was acknowledged must fail.

import { setTimeout as sleep } from 'node:timers/promises';
import { PromiseBroken } from './ledger.ts';
import type { Random } from './random.ts';
import type { Processes } from './serving.ts';

/** Subject of a trial, which ends it: a token, or a state of the configuration. */
export interface Subject {
  /** Returns whether the process still accepts the subject; null if the process is overloaded. */
  use(url: string): Promise<boolean | null>;
  /** Resolves when the end is acknowledged. */
  end(): Promise<unknown>;
  /** Uses the successor of the subject, which every process must accept once the end is acknowledged. */
  useSuccessor?(url: string): Promise<boolean | null>;
  /** Called after the trial. */
  discard?(): Promise<unknown>;
}

export interface Use {
  /** Whether the use was sent after the end was acknowledged. */
  isAfterwards: boolean;
  isAccepted: boolean;
}

interface TrialOptions {
  /** Name for messages. */
  name: string;
  subject: Subject;
  /** The URLs of the processes. */
  urls: readonly string[];
  random: Random;
  /** Pause of each caller between two uses before the end. */
  pauseMs?: number | undefined;
}

/** Number of callers that use the subject continuously through each process. */
const CALLERS = 3;
/** Number of uses that each caller sends after the end. */
const USES_AFTERWARDS = 2;
/** Maximum time in use before the end. */
const IN_USE_MS = 8;

/** Throws `PromiseBroken`. */
export function runTrial(options: TrialOptions): Promise<readonly Use[]> {
  return new Trial(options).run();
}

class Trial {
  readonly #options: TrialOptions;
  readonly #uses: Use[] = [];
  #isEnded = false;

  constructor(options: TrialOptions) {
    this.#options = options;
  }

  async run(): Promise<readonly Use[]> {
    const { subject, urls, random } = this.#options;
    for (const url of urls)
      if ((await subject.use(url)) === false) throw this.#broken('rejected before the end');
    const callers = urls.flatMap((url) => Array.from({ length: CALLERS }, () => this.#call(url)));
    // Failures are reported at the end; this handler prevents unhandled rejections until then.
    Promise.all(callers).catch(() => {});
    try {
      await sleep(random.below(IN_USE_MS));
      await subject.end();
    } finally {
      this.#isEnded = true;
      // Sent in the same event loop iteration as the acknowledgement, while the callers wait for responses.
      callers.push(...urls.map((url) => this.#use(url)));
      callers.push(...urls.map((url) => this.#useSuccessor(url)));
      // Reports a broken promise only once no use is in flight, because the processes may be stopped
      // afterwards.
      await Promise.allSettled(callers);
    }
    await Promise.all(callers);
    await subject.discard?.();
    return this.#uses;
  }

  async #useSuccessor(url: string): Promise<void> {
    if ((await this.#options.subject.useSuccessor?.(url)) === false)
      throw this.#broken('the new one was rejected after the acknowledgement');
  }

  async #call(url: string): Promise<void> {
    const { pauseMs } = this.#options;
    for (let afterwards = 0; afterwards < USES_AFTERWARDS; ) {
      if (this.#isEnded) afterwards++;
      else if (pauseMs !== undefined) await sleep(pauseMs);
      await this.#use(url);
    }
  }

  async #use(url: string): Promise<void> {
    const isAfterwards = this.#isEnded;
    const isAccepted = await this.#options.subject.use(url);
    if (isAccepted === null) return;
    this.#uses.push({ isAfterwards, isAccepted });
    if (isAfterwards && isAccepted) throw this.#broken('the old one was accepted after the acknowledgement');
  }

  #broken(what: string): PromiseBroken {
    return new PromiseBroken(`${this.#options.name}: ${what}`);
  }
}

export interface Trials {
  trials: number;
  seed: number;
  onTrial: (trials: number) => void;
}

export type TrialsOptions = Trials & Processes;

export interface TrialFigures {
  trials: number;
  uses: number;
  /** Uses sent after the acknowledgement; none was accepted. */
  usesAfterwards: number;
  /** Uses sent before the acknowledgement that were accepted. */
  accepted: number;
}

export function noTrials(): TrialFigures {
  return { trials: 0, uses: 0, usesAfterwards: 0, accepted: 0 };
}

/** Adds the uses of a trial. */
export function count(figures: TrialFigures, uses: readonly Use[]): void {
  figures.trials++;
  figures.uses += uses.length;
  figures.usesAfterwards += uses.filter(({ isAfterwards }) => isAfterwards).length;
  figures.accepted += uses.filter(({ isAccepted }) => isAccepted).length;
}
