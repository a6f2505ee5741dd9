// Failed authentications are counted per interval, in bounded memory.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import { AuthenticationFailureLog } from '../../src/http/log/authentication-failure-log.ts';

const INTERVAL_MS = 10_000;

it('The log of failed authentications has one line per interval with failures', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lines: Record<string, unknown>[] = [];
  const log = new AuthenticationFailureLog(
    pino({}, { write: (line: string) => lines.push(JSON.parse(line)) }),
  );
  for (let failure = 0; failure < 50; failure++) log.add('unknown', '203.0.113.9');
  t.mock.timers.tick(INTERVAL_MS - 1);
  assert.equal(lines.length, 0);
  t.mock.timers.tick(1);
  t.mock.timers.tick(INTERVAL_MS * 10);
  for (let host = 0; host < 5_000; host++) log.add('missing', `2001:db8::${host.toString(16)}`);
  t.mock.timers.tick(INTERVAL_MS);
  log.flush();
  assert.deepEqual(
    lines.map(({ failures, addresses, ofAddress }) => [failures, addresses, ofAddress]),
    [
      [50, 1, 50],
      [5_000, 1_000, 1],
    ],
  );
});
