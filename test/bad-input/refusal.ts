// What a refusal looks like, whatever it refuses, and that it leaves everything as it was.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { redact } from '../../src/domain/secret.ts';
import type { ProblemCode } from '../../src/problem.ts';
import { send, type TestAnswer, type TestRequest } from '../http.ts';
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
    const answers = await Promise.all(cases.map((each) => answerTo(victim, each)));
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
const TOKEN = /ug[ta]_[0-9A-Za-z]{49}/;
const CHALLENGE = 'Token realm="user-group-service"';

/** The ways in which the answer is not the refusal that it should be. */
export function faultsOf(name: string, { status, code, pointer }: Refusal, answer: TestAnswer): string[] {
  const { headers, json = {}, text } = answer;
  const shown = {
    status: answer.status,
    type: headers['content-type']?.split(';')[0],
    caching: headers['cache-control'],
    challenge: headers['www-authenticate'],
    members: Object.keys(json),
    success: json.success,
    bodyStatus: json.status,
    code: json.code,
    reference: json.type,
    requestId: headers['x-request-id'],
    echoesToken: TOKEN.test(text),
    place: json.errors?.[0].pointer.startsWith(pointer ?? '') ? pointer : json.errors?.[0].pointer,
    isExplained: json.title?.length > 0 && json.detail?.length > 0,
  };
  const expected = {
    status,
    type: 'application/problem+json',
    caching: 'no-store',
    challenge: status === 401 ? CHALLENGE : undefined,
    members: pointer === undefined ? PROBLEM : [...PROBLEM, 'errors'],
    success: 0,
    bodyStatus: status,
    code,
    reference: `/errors#${code}`,
    requestId: json.request_id ?? 'one in the body',
    echoesToken: false,
    place: pointer,
    isExplained: true,
  };
  if (isDeepStrictEqual(shown, expected)) return [];
  return [
    `${name}: expected ${status} ${code} at ${pointer}, got ${answer.status} ${redact(text.slice(0, 300))}`,
  ];
}

const PROBLEM = ['success', 'type', 'title', 'status', 'detail', 'code', 'request_id'];
