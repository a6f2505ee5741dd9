// Assertions that a request is rejected with the expected error and changes nothing.

import assert from 'node:assert/strict';
import { redact } from '../../../src/domain/secret.ts';
import type { ProblemCode } from '../../../src/problem.ts';
import type { TestResponse } from '../http.ts';
import { assertProblem } from '../problem.ts';
import type { Victim } from './victim.ts';

export interface ExpectedError {
  status: number;
  code: ProblemCode;
  /** Prefix of the pointer of the first error; undefined if the response must have no errors array. */
  pointer?: string;
}

export const invalidRequest = { status: 400, code: 'invalid_request' } as const;

/** Fails if the work changes a row, causes an internal error, or would crash the process of the service. */
export async function assertUnchanged(victim: Victim, work: () => Promise<void>): Promise<void> {
  const before = await victim.rows();
  const uncaught: Error[] = [];
  const record = (error: Error) => uncaught.push(error);
  // The service runs in this process, where the test runner would swallow exceptions that crash a real one.
  process.on('uncaughtExceptionMonitor', record);
  try {
    await work();
  } finally {
    process.off('uncaughtExceptionMonitor', record);
  }
  assert.deepEqual(uncaught.slice(0, 1), []);
  assert.deepEqual(await victim.rows(), before);
  assert.deepEqual(victim.errorsLogged(), []);
  assert.deepEqual(Reflect.ownKeys(Object.prototype), OWN_KEYS_OF_OBJECT_PROTOTYPE);
}

const OWN_KEYS_OF_OBJECT_PROTOTYPE = Reflect.ownKeys(Object.prototype);
const REST_OF_LONG_NAME = /(?<=\/[^/]{300})[^/]+/gu;
const TOKEN = /ug[ta]_[0-9A-Za-z]{49}/;

/** Returns the differences of the response from the expected error; empty if there are none. */
export function differencesOf(name: string, expected: ExpectedError, response: TestResponse): string[] {
  try {
    assertError(expected, response);
    return [];
  } catch (error) {
    const { status, code, pointer = 'no pointer' } = expected;
    const got = `${response.status} ${redact(response.text.slice(0, 300))}`;
    const reason = redact((error as Error).message.slice(0, 200));
    return [`${name}: expected ${status} ${code} at ${pointer}, got ${got}: ${reason}`];
  }
}

function assertError({ status, code, pointer }: ExpectedError, response: TestResponse): void {
  assert.equal(response.status, status);
  assertProblem(response, code);
  assert.doesNotMatch(response.text, TOKEN, 'a token');
  const actual: string | undefined = response.json.errors?.[0].pointer;
  const truncated = pointer?.replace(REST_OF_LONG_NAME, '… (cut off)');
  assert.equal(actual?.slice(0, truncated?.length ?? 0), truncated);
}
