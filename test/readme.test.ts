// Runs the requests of README.md verbatim and compares their responses with the documented ones.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { codeBlocks, pageText } from './support/page.ts';
import { Folder, Program } from './support/process.ts';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const BLOCK = /```(sh|json)\n([\s\S]*?)```/g;
const SHOWN_TOKEN = /USER_GROUP_TOKEN=ugt_\w+/;

interface Example {
  request: string;
  response: string;
}

/** Returns each request in the section on the three calls, with the documented response. */
function examples(): { prelude: string; calls: Example[] } {
  const start = README.indexOf('## The three calls');
  const section = README.slice(start, README.indexOf('\n## ', start + 1));
  const blocks = [...section.matchAll(BLOCK)].map(([, kind, text]) => ({ kind, text: text! }));
  const calls = blocks.flatMap(({ kind, text }, index) =>
    kind === 'json' ? [{ request: blocks[index - 1]!.text, response: text }] : [],
  );
  return { prelude: blocks[0]!.text, calls };
}

/** Replaces values that differ between runs. */
function normalize(json: string): unknown {
  return JSON.parse(json.replace(/ugt_\w+/g, 'ugt_…').replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"…"'));
}

it('No example replaces the dependencies of the clone, from which the service may be running', () => {
  const pages = globSync(['examples/*/README.md', 'client/README.md']);
  assert.ok(pages.length > 1);
  for (const page of pages)
    for (const block of codeBlocks(pageText(page), 'sh')) assert.doesNotMatch(block, /npm ci/, page);
});

it('README.md shows a recording of its commands, without a whole token', () => {
  const [, path = ''] = /\]\((docs\/images\/[\w-]+\.svg)\)/.exec(README) ?? [];
  const svg = pageText(path);
  assert.ok(svg.length < 100 * 1024);
  assert.doesNotMatch(svg, /ug[at]_\w{7}/);
  for (const command of ['npm start', 'curl -X GET http://127.0.0.1:8080/api/user'])
    assert.ok(README.includes(command) && svg.includes(`$ ${command}`), command);
  for (const rule of ['prefers-color-scheme: dark', 'prefers-reduced-motion: reduce'])
    assert.ok(svg.includes(rule), rule);
});

it('README.md shows requests that work when pasted, and their responses', async () => {
  using folder = new Folder();
  await using program = new Program(folder, ['start']);
  await program.says(/Press Ctrl-C to stop/);
  const url = /Address +(http:\S+)/.exec(program.stdout)?.[1] ?? '';
  const { prelude, calls } = examples();
  assert.equal(calls.length, 4);
  let token = '';
  for (const { request, response } of calls) {
    const script = `${prelude}\n${request}`
      .replaceAll('http://127.0.0.1:8080', url)
      .replace(SHOWN_TOKEN, `USER_GROUP_TOKEN=${token}`);
    const env = { PATH: process.env.PATH ?? '', USER_GROUP_TOKEN: token };
    const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
    const output = execFileSync('sh', ['-c', script], { cwd: folder.path, env, stdio, encoding: 'utf8' });
    assert.deepEqual(normalize(output), normalize(response), request);
    // Uses the token of the first response until it is rotated; the example of resolve shows a replaced
    // token.
    token ||= JSON.parse(output).user_group.token;
  }
});
