// What a refusal looks like, whatever it refuses, and that it leaves everything as it was.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { redact } from '../../src/domain/secret.ts';
import type { ProblemCode } from '../../src/problem.ts';
import { inLanes, send, type TestAnswer, type TestRequest } from '../http.ts';
import { assertProblem } from '../problem.ts';
import type { Victim } from './victim.ts';

export interface Refusal {
  status: number;
  code: ProblemCode;
  /** Where the body is at fault: the pointer of the first error begins with it. Without it no place may be named. */
  pointer?: string;
}

export interface BadCase extends Refusal {
  /** Stands in the message when the case fails; no two cases share one. */
  name: string;
  request: TestRequest;
}

const MAX_FAULTS_SHOWN = 20;

export const invalidJson = { status: 400, code: 'invalid_json', pointer: '' } as const;
export const invalidRequest = { status: 400, code: 'invalid_request' } as const;

/** Sends every case and fails with the names of all that were not refused just so, or that left a trace. */
export async function refuses(t: TestContext, victim: Victim, cases: readonly BadCase[]): Promise<void> {
  t.diagnostic(`${cases.length} cases`);
  assert.ok(cases.length > 0);
  assert.equal(new Set(cases.map(({ name }) => name)).size, cases.length, 'two cases share a name');
  await leavesNoTrace(victim, async () => {
    const answers = await inLanes(cases, (each) => answerTo(victim, each));
    const faults = cases.flatMap((each, index) => faultsOf(each.name, each, answers[index]!));
    const shown = faults.slice(0, MAX_FAULTS_SHOWN).join('\n');
    assert.equal(faults.length, 0, `${faults.length} of ${cases.length}:\n${shown}`);
  });
}

function answerTo({ service }: Victim, { request }: BadCase): Promise<TestAnswer> {
  return send(service.url, { token: service.token, ...request });
}

/** Fails where the work changes a row, or meets a mistake of the service, or would end its process. */
export async function leavesNoTrace(victim: Victim, work: () => Promise<void>): Promise<void> {
  const before = await victim.rows();
  const uncaught: Error[] = [];
  const note = (error: Error) => uncaught.push(error);
  // The service runs in this process, and the test runner would only mention what ends another one.
  process.on('uncaughtExceptionMonitor', note);
  try {
    await work();
  } finally {
    process.off('uncaughtExceptionMonitor', note);
  }
  assert.deepEqual(uncaught.slice(0, 1), []);
  assert.deepEqual(await victim.rows(), before);
  assert.deepEqual(victim.errorsLogged(), []);
  assert.deepEqual(Reflect.ownKeys(Object.prototype), OWN_KEYS_OF_OBJECT_PROTOTYPE);
}

const OWN_KEYS_OF_OBJECT_PROTOTYPE = Reflect.ownKeys(Object.prototype);
const REST_OF_LONG_NAME = /(?<=\/[^/]{300})[^/]+/gu;
const TOKEN = /ug[ta]_[0-9A-Za-z]{49}/;

/** How the answer fails to be the refusal that it should be; nothing where it is. */
export function faultsOf(name: string, refusal: Refusal, answer: TestAnswer): string[] {
  try {
    assertRefusal(refusal, answer);
    return [];
  } catch (error) {
    const { status, code, pointer = 'no place' } = refusal;
    const got = `${answer.status} ${redact(answer.text.slice(0, 300))}`;
    const reason = redact((error as Error).message.slice(0, 200));
    return [`${name}: expected ${status} ${code} at ${pointer}, got ${got}: ${reason}`];
  }
}

function assertRefusal({ status, code, pointer }: Refusal, answer: TestAnswer): void {
  assert.equal(answer.status, status);
  assertProblem(answer, code);
  assert.doesNotMatch(answer.text, TOKEN, 'a token');
  const place: string | undefined = answer.json.errors?.[0].pointer;
  const shown = pointer?.replace(REST_OF_LONG_NAME, '… (cut off)');
  assert.equal(place?.slice(0, shown?.length ?? 0), shown);
}
