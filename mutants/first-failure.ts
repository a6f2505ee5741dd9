// A reporter for node:test that reports failed tests to the parent process through a separate pipe.

import { writeSync } from 'node:fs';
import type { TestEvent } from 'node:test/reporters';

/** The file descriptor of the pipe. Each failure is a line. */
export const FAILURES = 3;

// biome-ignore lint/style/noDefaultExport: node:test requires it.
// biome-ignore lint/correctness/useYield: a reporter may print nothing.
export default async function* firstFailure(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.todo === undefined) writeSync(FAILURES, `${data.name}\n`);
  }
}
