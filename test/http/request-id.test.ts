// X-Request-Id and traceparent: the ids of callers and proxies are adopted, in the response and in the log.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { parseTraceId } from '../../src/http/log/trace-context.ts';
import { sqlite } from '../support/database.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

describe("the caller's X-Request-Id", () => {
  const service = TestService.of(sqlite);

  const callWith = (id: string | string[], path = '/nothing') =>
    service.call('GET', path, undefined, { headers: { 'x-request-id': id } });

  for (const id of [
    'a',
    '0f8fad5b-d9cb-469f-a165-70867728950e',
    '0123456789abcdef0123456789abcdef',
    '7F000001:8296_7F00000A:1F90_4F7B0A69_0003:790E',
    '1-67891233-abcdef012345678912345678/2@b=c+d.e',
    'x'.repeat(128),
  ]) {
    it(`is in the response, in the error and in the log: ${id.slice(0, 40)}`, async () => {
      const { headers, json } = await callWith(id);
      assert.deepEqual([headers['x-request-id'], json.request_id], [id, id]);
      await eventually('the line of the request', () =>
        service.logEntries.some(({ requestId }) => requestId === id),
      );
    });
  }

  it('is replaced if it is not well-formed', async () => {
    for (const id of ['', 'x'.repeat(129), 'a b', 'a,b', 'ä', '"a"', '{a}', ['one', 'two']]) {
      const { headers, json } = await callWith(id);
      assert.match(String(headers['x-request-id']), /^[\w-]{8,}$/, String(id));
      assert.notEqual(headers['x-request-id'], String(id));
      assert.equal(json.request_id, headers['x-request-id']);
    }
  });

  it('is replaced by an id that reveals no number of requests', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () =>
        String((await service.call('GET', '/nothing')).headers['x-request-id']),
      ),
    );
    for (const part of [ids.map((id) => id.slice(8, 14)), ids.map((id) => id.slice(14))])
      assert.equal(new Set(part).size, ids.length);
  });

  it('is replaced if it looks like a token', async () => {
    const { token } = (await service.get({ user_group_id: 'a', name: 'A' })).json.user_group;
    const imported = randomBytes(32).toString('hex');
    for (const secret of [
      token,
      service.token,
      token.slice(0, -1),
      `x.${token}`,
      imported,
      `id=${imported}`,
    ]) {
      const { headers } = await callWith(secret);
      assert.match(String(headers['x-request-id']), /^[\w-]{8,20}$/);
    }
  });
});

describe('the log of a failed request', () => {
  it('has the trace of the caller', async () => {
    // Runs in one thread, which the test can break.
    await using service = await TestService.start(sqlite, { env: { UGS_THREADS: '1' } });
    service.app.context.clock = () => {
      throw new Error('a bug');
    };
    const traceparent = `00-${TRACE_ID}-00f067aa0ba902b7-00`;
    const { status } = await service.get({ user_group_id: 'a' }, { headers: { traceparent } });
    assert.equal(status, 500);
    const failure = service.logEntries.find(({ err }) => err !== undefined);
    assert.equal(failure.traceId, TRACE_ID);
  });
});

describe('The trace id of a traceparent', () => {
  const of = (traceparent?: string) => parseTraceId({ ...(traceparent !== undefined && { traceparent }) });

  it('is accepted in version 00, and in later versions with more fields', () => {
    assert.equal(of(`00-${TRACE_ID}-00f067aa0ba902b7-01`), TRACE_ID);
    assert.equal(of(`cc-${TRACE_ID}-00f067aa0ba902b7-01`), TRACE_ID);
    assert.equal(of(`01-${TRACE_ID}-00f067aa0ba902b7-01-more`), TRACE_ID);
  });

  it('is ignored if the header is not valid', () => {
    const zeros = '0'.repeat(32);
    for (const text of [
      undefined,
      '',
      TRACE_ID,
      `ff-${TRACE_ID}-00f067aa0ba902b7-01`,
      `00-${TRACE_ID}-00f067aa0ba902b7-01-more`,
      `00-${TRACE_ID}-00f067aa0ba902b7-01 `,
      `00-${TRACE_ID}-00f067aa0ba902b7-01.more`,
      `00-${TRACE_ID}-0000000000000000-01`,
      `00-${zeros}-00f067aa0ba902b7-01`,
      `00-${TRACE_ID.toUpperCase()}-00f067aa0ba902b7-01`,
      `00-${TRACE_ID.slice(1)}-00f067aa0ba902b7-01`,
      `00-${TRACE_ID}-00f067aa0ba902b7-01, 00-${TRACE_ID}-00f067aa0ba902b7-01`,
    ])
      assert.equal(of(text), undefined, String(text));
  });
});
