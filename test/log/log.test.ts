// Every line names the process. As the last line of defence, a token that reaches a line by mistake is
// redacted.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { it } from 'node:test';
import type { Bucket } from '../../src/domain/bucket.ts';
import { mintUserGroupToken } from '../../src/domain/token.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const LOG = new URL('../../src/log.ts', import.meta.url).href;

for (const logFormat of ['json', 'pretty'] as const) {
  it(`redacts tokens in the fields and the message of every line (${logFormat})`, () => {
    const token = mintUserGroupToken(7 as Bucket).reveal();
    const program = `
      const { createLog } = await import(${JSON.stringify(LOG)});
      const log = await createLog({ logLevel: 'info', logFormat: '${logFormat}' });
      const token = process.env.LOGGED_TOKEN;
      log.info({ name: token }, 'a field');
      log.error({ err: new Error('failed with ' + token) }, 'an error');
      log.warn('the message ' + token);
    `;
    const args = ['--input-type=module', '--eval', program];
    const output = execFileSync(process.execPath, args, {
      env: { ...process.env, LOGGED_TOKEN: token },
      encoding: 'utf8',
    });
    assert.ok(!output.includes(token), 'a line contains the token');
    for (const text of ['a field', 'an error', 'the message']) assert.ok(output.includes(text), text);
    assert.ok(output.split('[redacted]').length > 3);
  });
}

it('names the process, the host and the version in every line', () => {
  const program = `
    const { createLog } = await import(${JSON.stringify(LOG)});
    (await createLog({ logLevel: 'info', logFormat: 'json' })).info('a line');
  `;
  const { pid, stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program]);
  const { time: _, ...line } = JSON.parse(String(stdout));
  assert.deepEqual(line, { level: 30, pid, hostname: hostname(), version, msg: 'a line' });
});
