// The requests of README.md, run as they stand there, and their answers compared with the ones that stand there.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { Folder, Program } from './process.ts';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const BLOCK = /```(sh|json)\n([\s\S]*?)```/g;
const SHOWN_TOKEN = /USER_GROUP_TOKEN=ugt_\w+/;

interface Example {
  request: string;
  answer: string;
}

/** Each request of the section on the calls, with the answer that stands below it. */
function examples(): { prelude: string; calls: Example[] } {
  const start = README.indexOf('## The three calls');
  const section = README.slice(start, README.indexOf('\n## ', start + 1));
  const blocks = [...section.matchAll(BLOCK)].map(([, kind, text]) => ({ kind, text: text! }));
  const calls = blocks.flatMap(({ kind, text }, index) =>
    kind === 'json' ? [{ request: blocks[index - 1]!.text, answer: text }] : [],
  );
  return { prelude: blocks[0]!.text, calls };
}

/** What differs from run to run is made the same. */
function withoutChance(json: string): unknown {
  return JSON.parse(json.replace(/ugt_\w+/g, 'ugt_…').replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"…"'));
}

it('README.md shows requests that work when they are pasted, and the answers that they get', async () => {
  using folder = new Folder();
  await using program = new Program(folder, ['start']);
  await program.says(/Ctrl-C ends it/);
  const url = /Address +(http:\S+)/.exec(program.stdout)?.[1] ?? '';
  const { prelude, calls } = examples();
  assert.equal(calls.length, 4);
  let token = '';
  for (const { request, answer } of calls) {
    const script = `${prelude}\n${request}`
      .replaceAll('http://127.0.0.1:8080', url)
      .replace(SHOWN_TOKEN, `USER_GROUP_TOKEN=${token}`);
    const env = { PATH: process.env.PATH ?? '', USER_GROUP_TOKEN: token };
    const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
    const output = execFileSync('sh', ['-c', script], { cwd: folder.path, env, stdio, encoding: 'utf8' });
    assert.deepEqual(withoutChance(output), withoutChance(answer), request);
    // Until it is rotated, the one of the first answer; the example of resolve shows a replaced token.
    token ||= JSON.parse(output).user_group.token;
  }
});
