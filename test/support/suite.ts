import { after } from 'node:test';

/** Closes what a suite opens before its tests: after them, the last one first, and also if opening another one fails. */
export function suiteStack(): AsyncDisposableStack {
  const stack = new AsyncDisposableStack();
  after(() => stack.disposeAsync());
  return stack;
}
