// What every answer that is no success has to look like.

import assert from 'node:assert/strict';
import { type ProblemCode, problems } from '../src/problem.ts';
import type { TestAnswer } from './http.ts';

/** The whole answer, byte for byte; only the wording of the detail and the faults is left to other tests. */
export function assertProblem(answer: TestAnswer, code: ProblemCode): void {
  const { status, title } = problems[code];
  const { detail, request_id, errors } = answer.json;
  assert.equal(answer.json.code, code, answer.text);
  assert.equal(answer.status, status);
  assert.equal(answer.headers['content-type'], 'application/problem+json; charset=utf-8');
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.equal(answer.headers['x-request-id'], request_id);
  assert.match(request_id, /^[\w-]{8,}$/);
  assert.match(detail, /^\S.*\.$/s);
  const start = { success: 0, type: `/errors#${code}`, title, status, detail, code, request_id };
  assert.equal(answer.text, JSON.stringify(errors === undefined ? start : { ...start, errors }));
  const namesFaults = ['invalid_json', 'unknown_field'].includes(code);
  if (code !== 'invalid_request') assert.equal(errors !== undefined, namesFaults);
  for (const fault of errors ?? []) {
    assert.deepEqual(Object.keys(fault), ['pointer', 'detail']);
    assert.match(fault.pointer, /^(\/.*)?$/s);
  }
  assert.equal(answer.headers['retry-after'] !== undefined, status === 429 || status === 503);
  assert.equal(answer.headers['www-authenticate'] !== undefined, status === 401);
  assert.equal(answer.headers.allow !== undefined, status === 405);
}
