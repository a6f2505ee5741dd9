// A test that fails shows no token, though it compares some.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { Bucket } from '../src/domain/bucket.ts';
import { mintUserGroupToken } from '../src/domain/token.ts';
import { Folder, Program } from './process.ts';

const REPORTER = new URL('reporter.ts', import.meta.url).href;

describe('The report of a test that fails', () => {
  for (const FORCE_COLOR of ['0', '1']) {
    it(`shows no token, with FORCE_COLOR=${FORCE_COLOR}`, async () => {
      using folder = new Folder();
      const [one, other] = [0, 0].map((bucket) => mintUserGroupToken(bucket as Bucket).reveal());
      const file = folder.join('fails.test.mjs');
      writeFileSync(file, failing(JSON.stringify([one, other])));
      const args = ['--test', `--test-reporter=${REPORTER}`, '--test-reporter-destination=stdout', file];
      await using program = new Program(folder, args, { command: process.execPath, env: { FORCE_COLOR } });
      const { code, stdout, stderr } = await program.exit();
      assert.equal(code, 1);
      const printed = stripVTControlCharacters(stdout + stderr);
      assert.match(printed, /fail 4/);
      assert.match(printed, /token":"\[redacted\]"/);
      for (const token of [one!, other!])
        for (let at = 0; at + 12 < token.length; at++) assert.ok(!printed.includes(token.slice(at, at + 12)));
    });
  }
});

/** Compares the tokens in every way in which tests compare. */
function failing(tokens: string): string {
  return `
    import assert from 'node:assert/strict';
    import { it } from 'node:test';
    const [a, b] = ${tokens};
    const text = (token) => '{"success":1,"user_group":{"token":"' + token + '"}}';
    it('texts', () => assert.equal(text(a), text(b)));
    it('objects', () => assert.deepEqual(JSON.parse(text(a)), JSON.parse(text(b))));
    it('patterns', () => assert.match(text(a), /nothing/));
    it('messages', () => assert.ok(false, text(a)));
    console.log(text(a));
    console.error(text(b));
  `;
}
