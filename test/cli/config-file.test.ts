// Configuration files: YAML and JSON without loss, and limits on what a small file can expand to.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parse as parseYaml11 } from 'yaml';
import { readConfigFile, toYaml, yamlToJson } from '../../src/commands/config/config-file.ts';
import { escapeControls } from '../../src/commands/terminal/terminal-text.ts';
import { prettyJson } from '../../src/domain/json/pretty-json.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { Folder } from '../support/process.ts';

const ODD_TEXTS = [
  '',
  ' ',
  '~',
  'null',
  'Null',
  'true',
  'yes',
  'no',
  'on',
  'off',
  'y',
  '1',
  '1.50',
  '0x1F',
  '0o17',
  '010',
  '1_000',
  '1e3',
  '.5',
  '.inf',
  '.nan',
  '12:30:45',
  '2026-11-24',
  '=',
  '<<',
  '-',
  '- a',
  '? a',
  ': a',
  'a: b',
  'a #b',
  '# a',
  '&a',
  '*a',
  '!a',
  '|',
  '>',
  '%a',
  '@a',
  '`a',
  '"',
  "'",
  '{a',
  '[a',
  ',',
  '---',
  '...',
  'a\nb',
  '\n',
  '  \n',
  '\n \n',
  `${'a'.repeat(40)}\n \n `,
  'a\n',
  '\ta',
  'a\t',
  'a\r\nb',
  '\u0000',
  '\u0007',
  '\u001b[31m',
  '\u0085',
  '\u009b31m',
  '\u007f\n',
  '\u2028',
  'a\u2028b',
  '\ufeff',
  'a\u202eb',
  '\u2067',
  'a\tb',
  '\u0085'.repeat(200),
  '\u{1f600}',
  'é',
  '{{x}}',
  '${x',
];
const texts = fc.oneof(fc.constantFrom(...ODD_TEXTS), fc.string({ unit: 'binary' }), fc.string());
const numbers = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '9007199254740993',
    '1.50',
    '1e3',
    '1E-400',
    '1e400',
    '-1.0',
    '123456789012345678901234567890',
  ),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
);
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    texts.map((text) => JSON.stringify(text)),
    numbers,
    fc.constantFrom('true', 'false', 'null', '{}', '[]'),
    fc.array(tie('value'), { maxLength: 4 }).map((elements) => `[${elements.join(',')}]`),
    fc
      .uniqueArray(fc.tuple(texts, tie('value')), { maxLength: 4, selector: ([key]) => key })
      .map((members) => `{${members.map(([key, each]) => `${JSON.stringify(key)}:${each}`).join(',')}}`),
  ),
}));
const documents = fc
  .array(value, { maxLength: 4 })
  .map((elements) => `{"version":1,"list":[${elements.join(',')}]}`);

describe('A configuration file', () => {
  it('gives back exactly what was written, as YAML and as JSON', () => {
    fc.assert(
      fc.property(documents, (text) => {
        for (const printed of [toYaml(text as JsonText), prettyJson(text as JsonText)].map(escapeControls)) {
          assert.equal(yamlToJson(printed), text);
          assert.doesNotMatch(printed, /[^\P{Cc}\t\n]|[\p{Bidi_Control}\u2028\u2029\ufeff\ufffe\uffff]/u);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('means the same to parsers of YAML 1.1, for texts that are words or numbers there', () => {
    for (const text of ODD_TEXTS.filter((each) => /^[\w.:~-]+$/.test(each))) {
      const yaml = toYaml(JSON.stringify({ text }) as JsonText);
      assert.deepEqual(parseYaml11(yaml, { version: '1.1' }), { text }, yaml);
    }
  });

  it('quotes the texts that PyYAML and other parsers refuse or read differently without quotes', () => {
    for (const [text, quoted] of [
      ['=', '"="'],
      ['a\tb', String.raw`"a\tb"`],
      ['a\u0085b', String.raw`"a\u0085b"`],
      ['a\u2028b\u2029', String.raw`"a\u2028b\u2029"`],
      ['a\ufeffb\uffff', String.raw`"a\ufeffb\uffff"`],
    ] as const)
      assert.equal(toYaml(JSON.stringify({ [text]: [text] }) as JsonText), `${quoted}:\n  - ${quoted}\n`);
  });

  it('may have keys without quotes, comments, anchors and several notations', () => {
    const text = yamlToJson(
      'version: 1 # format\nschemas:\n  40: &a {name: Orders}\n  true: *a\nlong: >-\n  a\n  b\n',
    );
    assert.equal(
      text,
      '{"version":1,"schemas":{"40":{"name":"Orders"},"true":{"name":"Orders"}},"long":"a b"}',
    );
  });

  it('keeps every digit of a number in a notation that JSON does not have', () => {
    const numbers: Record<string, string> = {
      '+9007199254740993': '9007199254740993',
      '-0.10': '-0.10',
      '0': '0',
      '.12345678901234567890': '0.12345678901234567890',
      '5.': '5',
      '+5.e-400': '5e-400',
      '0xFFFFFFFFFFFFFFFFFF': '4722366482869645213695',
      '0o17': '15',
    };
    const text = `[${Object.keys(numbers).join(', ')}]`;
    assert.equal(yamlToJson(text), `[${Object.values(numbers).join(',')}]`);
  });

  it('is refused if it has a merge key, or a value that JSON does not have or parsers read differently', () => {
    const merged = 'version: 1\na: &a {b: 1}\nc: {<<: *a}';
    assert.throws(() => yamlToJson(merged), /Merge keys \(<<\) are not supported at line 3, column 5$/);
    assert.equal(yamlToJson('a: {"<<": 1}'), '{"a":{"<<":1}}');
    for (const value of ['!!binary aGk=', '!!set {a, b}', '!!timestamp 2026-11-28'])
      assert.throws(() => yamlToJson(`a: ${value}`), /Unresolved tag at line 1, column 4$/);
    assert.throws(() => yamlToJson('a: 1\nb: .inf'), /\.inf is not a number of JSON at line 2, column 4$/);
    for (const value of ['007', '-00.10', '+01e3'])
      assert.throws(
        () => yamlToJson(`a: ${value}`),
        /A number has leading zeros: quote it, or omit them at line 1, column 4$/,
      );
    assert.equal(yamlToJson('007: "007"'), '{"007":"007"}');
    assert.throws(() => yamlToJson('a: 1\n? [b]\n: c'), /A key is not a text at line 2, column 3$/);
  });

  it('is refused if two keys are the same name in JSON', () => {
    assert.throws(() => yamlToJson('a:\n  40: 1\n  "40": 2'), /Duplicate key at line 3, column 3$/);
  });

  const unquoted: Record<string, [text: string, refusal: RegExp]> = {
    'a tag': ['version: 1\nsecret: !hunter2 x', /: Unresolved tag at line 2, column 9$/],
    'a tag without a suffix': ['secret: !hunter2! x', /: Unresolved tag at line 1, column 9$/],
    'a block scalar': ['secret: |hunter2', /: Unexpected text at line 1, column 10$/],
    'a directive': ['%hunter2\n---\nversion: 1', /: Unknown directive at line 1, column 1$/],
    'an escape sequence': ['secret: "\\uhunter2"', /: Invalid escape sequence at line 1, column 10$/],
    'an alias': ['secret: *hunter2', /: Unresolved alias at line 1, column 9$/],
    'a text that does not end': ['secret: "hunter2', /: Missing closing "quote at line 1, column 17$/],
  };
  for (const [what, [text, refusal]] of Object.entries(unquoted)) {
    it(`with a secret that reads as ${what} is refused with its position, without its text`, () => {
      const refused = (error: Error) => refusal.test(error.message) && !error.message.includes('hunt');
      assert.throws(() => yamlToJson(text), refused);
    });
  }

  for (const [what, leaf] of [
    ['texts', `"${'x'.repeat(100)}"`],
    ['nodes without a text', '[]'],
  ])
    it(`that aliases would make huge with ${what} is refused, quickly`, () => {
      const levels = Array.from(
        { length: 30 },
        (_, index) => `l${index + 1}: &l${index + 1} [*l${index}, *l${index}]`,
      );
      const startedAt = performance.now();
      assert.throws(() => yamlToJson(`l0: &l0 ${leaf}\n${levels.join('\n')}`), /more than 16777216 bytes/);
      assert.ok(performance.now() - startedAt < 5_000);
    });

  it('has at most 16 MiB, counted in bytes', () => {
    using folder = new Folder();
    const path = folder.join('large.yaml');
    writeFileSync(path, 'a: '.padEnd(6_000_000, '€'));
    assert.throws(() => readConfigFile(path), /large\.yaml has more than 16777216 bytes/);
  });

  it('must be UTF-8: no character is replaced silently', () => {
    using folder = new Folder();
    const path = folder.join('latin1.yaml');
    writeFileSync(path, 'name: M\u00fcller', 'latin1');
    assert.throws(() => readConfigFile(path), /latin1\.yaml is not UTF-8/);
  });

  it('that is too deep, or has an alias of itself, is refused', () => {
    assert.throws(() => yamlToJson(`a: ${'['.repeat(100)}${']'.repeat(100)}`), /more than 64 levels/);
    assert.throws(() => yamlToJson('a: &a [*a]'), /levels|alias/i);
  });
});
