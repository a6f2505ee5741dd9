// The secret watch detects secrets: if it overlooked one, the tests that rely on it would prove nothing.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Bucket } from '../../src/domain/bucket.ts';
import { generateKeyLine } from '../../src/domain/key-ring.ts';
import { mintApiToken, mintUserGroupToken } from '../../src/domain/token.ts';
import { Watch } from '../support/exposure.ts';
import { Folder, Program } from '../support/process.ts';

const token = mintUserGroupToken(0 as Bucket).reveal();
const apiToken = mintApiToken().reveal();
const key = generateKeyLine().reveal();
const LINE = '{"level":20,"requestId":"RrS6u_4P-1y","method":"GET","path":"/v1/user-groups/:user_group_id"}';

/** Returns the exposures that a watch records during the work if it knows the token and the key. */
function exposures(work: (watch: Watch) => void): readonly string[] {
  const watch = new Watch();
  watch.learn(`${token} ${key}`);
  work(watch);
  return watch.exposures;
}

describe('The secret watch', () => {
  const printed: Record<string, string> = {
    'a token': token,
    'an unknown token': apiToken,
    'a token without its prefix': token.slice(4),
    'a token truncated at both ends': token.slice(8, 26),
    'a percent-encoded token': token.replace('_', '%5F'),
    'a token in the middle of other text': `x${token.slice(6)}-y`,
    'a key ring line': key,
    'a key without its id': key.slice(9),
  };
  for (const [what, text] of Object.entries(printed)) {
    it(`detects ${what} in output, and does not print it again`, () => {
      const [exposure, ...more] = exposures((watch) => watch.printed('the log', LINE.replace('1y', text)));
      assert.deepEqual(more, []);
      assert.match(exposure!, /^the log: \{"level":20,/);
      assert.equal(exposure!.includes(text.slice(-10)), false);
    });
  }

  it('detects a token split across two chunks', () => {
    const found = exposures((watch) => {
      const listener = watch.listener('the log');
      listener(LINE + token.slice(0, 15));
      listener(token.slice(15, 30));
    });
    assert.equal(found.length, 1);
  });

  it('detects a credential that is not a token', () => {
    const credential = 'not-a-token-but-what-was-sent';
    const found = exposures((watch) => {
      watch.sent([`Bearer ${credential}`]);
      watch.printed('the log', LINE.replace('1y', credential));
    });
    assert.equal(found.length, 1);
  });

  const response = (status: number, text: string, headers = {}) => ({
    status,
    text,
    headers,
    json: undefined,
  });
  it('detects a token in a response that must not contain one', () => {
    for (const invalid of [
      response(400, `{"detail":"${token} is wrong"}`),
      response(404, token.slice(4)),
      response(200, `{"token":"${apiToken}"}`),
      response(200, '{}', { location: `/${token}` }),
    ])
      assert.equal(exposures((watch) => watch.answered('GET /', invalid)).length, 1);
  });

  it('learns the tokens in requests and responses', () => {
    const other = mintUserGroupToken(0 as Bucket).reveal();
    const imported = randomBytes(32).toString('hex');
    const found = exposures((watch) => {
      watch.answered('GET /api/user', response(200, `{"user_group":{"token":"${other}"}}`));
      watch.answered('GET /api/user', response(200, `{"user_group":{"token":"${imported}"}}`));
      watch.sent([], Buffer.from(`{"token":"${apiToken}"}`));
      for (const each of [other, imported, apiToken])
        watch.printed('the log', LINE.replace('1y', each.slice(4)));
    });
    assert.equal(found.length, 3);
  });

  it('records nothing for output without secrets and for tokens in successful responses', () => {
    const found = exposures((watch) => {
      watch.printed('the log', LINE);
      watch.answered('POST /api/user', response(200, `{"token":"${token}"}`));
      watch.answered('GET /', response(404, '{"detail":"no such group","pointer":"/user_group_id"}'));
    });
    assert.deepEqual(found, []);
  });

  it('exits its process with 1 and reports where the secret was', async () => {
    using folder = new Folder();
    const file = new URL('../support/exposure.ts', import.meta.url);
    const script = `import { watch } from '${file}'; watch.printed('the log', 'ugt_' + 'x'.repeat(20));`;
    const args = ['--input-type=module', '--eval', script];
    await using program = new Program(folder, args, { command: process.execPath });
    const { code, stderr } = await program.exit();
    assert.deepEqual([code, stderr], [1, 'exposed secrets: 1\nthe log: […]\n']);
  });
});
