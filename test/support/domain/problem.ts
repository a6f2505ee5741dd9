import assert from 'node:assert/strict';
import { Problem } from '../../../src/problem.ts';

/** Returns the problem that the code throws. */
export function problemOf(run: () => unknown): Problem {
  try {
    run();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: 'throws no problem' });
}
