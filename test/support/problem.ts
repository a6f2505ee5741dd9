// Checks the format of every error response.

import assert from 'node:assert/strict';
import { problems } from '../../src/http/response/problem.ts';
import type { ProblemCode } from '../../src/problem.ts';
import type { TestResponse } from './http.ts';

/** Checks the entire response byte for byte, except the wording of the detail and the errors. */
export function assertProblem(response: TestResponse, code: ProblemCode): void {
  const { status, title } = problems[code];
  const { detail, request_id, errors } = response.json;
  assert.equal(response.json.code, code, response.text);
  assert.equal(response.status, status);
  assert.equal(response.headers['content-type'], 'application/problem+json; charset=utf-8');
  assert.equal(response.headers['cache-control'], 'no-store');
  assert.equal(response.headers['x-request-id'], request_id);
  assert.ok(response.headers.date);
  assert.match(request_id, /^[\w-]{8,}$/);
  assert.match(detail, /^\S.*\.$/s);
  const start = { success: 0, type: `/errors#${code}`, title, status, detail, code, request_id };
  assert.equal(response.text, JSON.stringify(errors === undefined ? start : { ...start, errors }));
  const hasErrors = [
    ...['invalid_json', 'unknown_field', 'claim_missing', 'claim_invalid'],
    ...['mapping_invalid', 'properties_invalid'],
  ].includes(code);
  if (code !== 'invalid_request') assert.equal(errors !== undefined, hasErrors);
  assert.ok(errors === undefined || errors.length <= 20);
  for (const error of errors ?? []) {
    assert.deepEqual(Object.keys(error), ['pointer', 'detail']);
    assert.match(error.pointer, /^(\/.*)?$/s);
  }
  assert.equal(response.headers['retry-after'] !== undefined, status === 429 || status === 503);
  assert.equal(response.headers['www-authenticate'] !== undefined, status === 401);
  assert.equal(response.headers.allow !== undefined, status === 405);
}

/** Returns the pointers of the errors, each once. */
export function pointersOf({ json }: TestResponse): string[] {
  return [...new Set<string>(json.errors.map(({ pointer }: { pointer: string }) => pointer))];
}
