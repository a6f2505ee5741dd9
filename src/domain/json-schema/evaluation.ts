// One evaluation of a value: the current place in it, and its violations.

import type { Violation } from '../../problem.ts';
import { jsonPointer } from '../json/strict-json.ts';
import { truncate } from '../truncate.ts';

/** Names of members and indexes of items that a schema has evaluated; null if no schema asks for them. */
export type Evaluated = Set<string | number> | null;

/** Asserts something about the value at the current place, and adds what it evaluates. */
export type Assertion = (value: unknown, evaluation: Evaluation, evaluated: Evaluated) => boolean;

export interface EvaluationLimits {
  maxViolations: number;
  step: () => void;
}

export class Evaluation {
  readonly violations: Violation[] = [];
  /** Whether `unevaluatedProperties` or `unevaluatedItems` occur. */
  readonly #tracks: boolean;
  /** Called at every step; it may throw to stop the evaluation. */
  readonly step: () => void;
  readonly #maxViolations: number;
  readonly #path: (string | number)[] = [];
  #quiet = 0;

  constructor(tracks: boolean, { maxViolations, step }: EvaluationLimits) {
    this.#tracks = tracks;
    this.step = step;
    this.#maxViolations = maxViolations;
  }

  /** Whether further violations of the value would not be reported. */
  get isDecided(): boolean {
    return this.#quiet > 0 || this.violations.length >= this.#maxViolations;
  }

  /** Records a violation, of a member if `keys` are given. Returns false. */
  fail(detail: string, ...keys: (string | number)[]): false {
    if (!this.isDecided)
      this.violations.push({ pointer: jsonPointer([...this.#path, ...keys]), detail: truncate(detail) });
    return false;
  }

  /** Asserts something about a member or an item. */
  at(key: string | number, value: unknown, assertion: Assertion): boolean {
    this.#path.push(key);
    try {
      return assertion(value, this, this.#newEvaluated());
    } finally {
      this.#path.pop();
    }
  }

  /** Asserts something without recording violations. What it evaluates counts only if `evaluated` is given. */
  quietly(value: unknown, assertion: Assertion, evaluated = this.#newEvaluated()): boolean {
    this.#quiet++;
    try {
      return assertion(value, this, evaluated);
    } finally {
      this.#quiet--;
    }
  }

  /** For a value of which nothing has been evaluated yet. */
  #newEvaluated(): Evaluated {
    return this.#tracks ? new Set() : null;
  }
}

/** Requires all to hold. What they evaluate counts only if they do. */
export function conjunction(assertions: readonly Assertion[]): Assertion {
  return (value, evaluation, evaluated) => {
    const own: Evaluated = evaluated === null ? null : new Set();
    let isValid = true;
    for (const assertion of assertions) {
      evaluation.step();
      if (assertion(value, evaluation, own)) continue;
      isValid = false;
      if (evaluation.isDecided) break;
    }
    if (isValid && own !== null) for (const key of own) evaluated!.add(key);
    return isValid;
  };
}
