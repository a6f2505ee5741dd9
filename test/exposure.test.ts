// The watch on secrets finds what it looks for: one that overlooks a token would prove nothing.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Bucket } from '../src/domain/bucket.ts';
import { generateKeyLine } from '../src/domain/key-ring.ts';
import { mintApiToken, mintUserGroupToken } from '../src/domain/token.ts';
import { Watch } from './exposure.ts';
import { Folder, Program } from './process.ts';

const token = mintUserGroupToken(0 as Bucket).reveal();
const apiToken = mintApiToken().reveal();
const key = generateKeyLine().reveal();
const LINE = '{"level":20,"requestId":"RrS6u_4P-1y","method":"GET","path":"/v1/user-groups/:user_group_id"}';

/** What is noted after the work, by a watch that knows the token and the key. */
function exposures(work: (watch: Watch) => void): readonly string[] {
  const watch = new Watch();
  watch.learn(`${token} ${key}`);
  work(watch);
  return watch.exposures;
}

describe('The watch on secrets', () => {
  const printed: Record<string, string> = {
    'a token': token,
    'a token that it has never seen': apiToken,
    'a token without its prefix': token.slice(4),
    'a token that is cut off at both ends': token.slice(8, 26),
    'a token that is percent-encoded': token.replace('_', '%5F'),
    'a token in the middle of other text': `x${token.slice(6)}-y`,
    'a line of a key ring': key,
    'a key without its id': key.slice(9),
  };
  for (const [what, text] of Object.entries(printed)) {
    it(`finds ${what} that is printed, and does not print it again`, () => {
      const [exposure, ...more] = exposures((watch) => watch.printed('the log', LINE.replace('1y', text)));
      assert.deepEqual(more, []);
      assert.match(exposure!, /^the log: \{"level":20,/);
      assert.equal(exposure!.includes(text.slice(-10)), false);
    });
  }

  it('finds one that is printed in two pieces', () => {
    const found = exposures((watch) => {
      const hear = watch.listener('the log');
      hear(LINE + token.slice(0, 15));
      hear(token.slice(15, 30));
    });
    assert.equal(found.length, 1);
  });

  it('finds what was sent to authenticate, and is no token', () => {
    const credential = 'not-a-token-but-what-was-sent';
    const found = exposures((watch) => {
      watch.sent([`Bearer ${credential}`]);
      watch.printed('the log', LINE.replace('1y', credential));
    });
    assert.equal(found.length, 1);
  });

  const answer = (status: number, text: string, headers = {}) => ({ status, text, headers, json: undefined });
  it('finds a token in an answer that must not have one', () => {
    for (const wrong of [
      answer(400, `{"detail":"${token} is wrong"}`),
      answer(404, token.slice(4)),
      answer(200, `{"token":"${apiToken}"}`),
      answer(200, '{}', { location: `/${token}` }),
    ])
      assert.equal(exposures((watch) => watch.answered('GET /', wrong)).length, 1);
  });

  it('learns the tokens of requests and answers', () => {
    const other = mintUserGroupToken(0 as Bucket).reveal();
    const imported = randomBytes(32).toString('hex');
    const found = exposures((watch) => {
      watch.answered('GET /api/user', answer(200, `{"user_group":{"token":"${other}"}}`));
      watch.answered('GET /api/user', answer(200, `{"user_group":{"token":"${imported}"}}`));
      watch.sent([], Buffer.from(`{"token":"${apiToken}"}`));
      for (const each of [other, imported, apiToken])
        watch.printed('the log', LINE.replace('1y', each.slice(4)));
    });
    assert.equal(found.length, 3);
  });

  it('is content with what may be seen', () => {
    const found = exposures((watch) => {
      watch.printed('the log', LINE);
      watch.answered('POST /api/user', answer(200, `{"token":"${token}"}`));
      watch.answered('GET /', answer(404, '{"detail":"no such group","pointer":"/user_group_id"}'));
    });
    assert.deepEqual(found, []);
  });

  it('ends its process with 1, and says where it was', async () => {
    using folder = new Folder();
    const file = new URL('exposure.ts', import.meta.url);
    const script = `import { watch } from '${file}'; watch.printed('the log', 'ugt_' + 'x'.repeat(20));`;
    const args = ['--input-type=module', '--eval', script];
    await using program = new Program(folder, args, { command: process.execPath });
    const { code, stderr } = await program.exit();
    assert.deepEqual([code, stderr], [1, '1 secrets came out:\nthe log: […]\n']);
  });
});
