import { after } from 'node:test';

/**
 * Returns a stack that closes what a suite opens before its tests: after the tests, last one first, and also
 * if opening another one fails.
 */
export function suiteStack(): AsyncDisposableStack {
  const stack = new AsyncDisposableStack();
  after(() => stack.disposeAsync());
  return stack;
}
