// The strict parser accepts the same documents as `JSON.parse`, except ambiguous ones.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { sameJson } from '../../../src/domain/json/json-tree.ts';
import {
  type JsonText,
  jsonPointer,
  MAX_ELEMENTS,
  MAX_MEMBERS,
} from '../../../src/domain/json/strict-json.ts';
import {
  errorOf,
  parse,
  parseByPlatform,
  parserProperties,
} from '../../support/domain/strict-json-property.ts';

/** Returns the pointer of the error; fails if the document is accepted. */
function pointerOfError(source: string | Buffer): string {
  const problem = errorOf(source);
  assert.ok(problem, 'the document is accepted');
  return problem.errors[0]!.pointer;
}

function text(...parts: (string | number[])[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

function keys(count: number): string {
  return Array.from({ length: count }, (_, index) => `"${index}":1`).join(',');
}

function elements(count: number): string {
  return Array.from({ length: count }, () => '1').join(',');
}

describe('the strict parser', () => {
  describe('rejects, with a pointer to the innermost invalid value,', () => {
    const tables: Record<string, Record<string, [source: string | Buffer, pointer: string]>> = {
      'a duplicate key': {
        'at the top level': ['{"a":1,"b":2,"a":1}', '/a'],
        'with the same value': ['{"a":1,"a":1}', '/a'],
        'escaped once': ['{"a":1,"\\u0061":1}', '/a'],
        'escaped twice': ['{"\\u0061":1,"\\u0061":1}', '/a'],
        'as an escaped surrogate pair and plain': ['{"😀":1,"\\ud83d\\ude00":1}', '/😀'],
        'in an object of an object': ['{"a":{"b":{"c":1,"c":2}}}', '/a/b/c'],
        'in an object of an array': ['[0,[{"a":1,"a":2}]]', '/1/0/a'],
        'the empty key': ['{"":1,"":2}', '/'],
        'a numeric key': ['{"1":1,"1":2}', '/1'],
        'a key that a JSON pointer escapes': ['{"~/":{"a/b":1,"a/b":2}}', '/~0~1/a~1b'],
        'after values of every kind': ['{"x":[{},[],"",0,true,false,null],"x":0}', '/x'],
      },
      __proto__: {
        'at the top level': ['{"__proto__":1}', '/__proto__'],
        escaped: ['{"\\u005f\\u005fproto__":1}', '/__proto__'],
        nested: ['{"a":[{"__proto__":{}}]}', '/a/0/__proto__'],
      },
      'a lone surrogate': {
        'a high surrogate': ['{"a":"\\ud800"}', '/a'],
        'a low surrogate': ['{"a":"\\udfff"}', '/a'],
        'a reversed pair': ['{"a":["\\ude00\\ud83d"]}', '/a/0'],
        'before a pair': ['{"a":"\\ud83d\\ud83d\\ude00"}', '/a'],
        'as a key': ['{"a":{"\\ud800":1}}', '/a'],
        'as the whole document': ['"\\ud800"', ''],
      },
      'a document with too many levels': {
        'of objects': ['{"a":{"b":{"c":{"d":{"e":{}}}}}}', '/a/b/c/d/e'],
        'of arrays': ['[[[[[[]]]]]]', '/0/0/0/0/0'],
        'of both': ['[0,{"a":[1,{"b":[2,[]]}]}]', '/1/a/1/b/1'],
      },
      'a document with too many values': {
        'in one object': [`{${keys(MAX_MEMBERS + 1)}}`, `/${MAX_MEMBERS}`],
        'in all objects together': [`[{${keys(MAX_MEMBERS)}},{"last":1}]`, '/1/last'],
        'in one array': [`[${elements(MAX_ELEMENTS + 1)}]`, `/${MAX_ELEMENTS}`],
        'in all arrays together': [`{"a":[${elements(MAX_ELEMENTS)}],"b":[1]}`, '/b/0'],
      },
      'invalid UTF-8': {
        'in a string': [text('{"a":"', [0xff], '"}'), '/a'],
        'in the second string': [text('{"a":"é","b":["x","', [0xc3], '"]}'), '/b/1'],
        'in a key': [text('{"a":{"', [0x80], '":1}}'), '/a'],
        'under a non-ASCII key': [text('{"日本":"', [0xff], '"}'), '/日本'],
        'under an escaped non-ASCII key': [text('{"\\u65e5":{"\\u00e9":"', [0xff], '"}}'), '/日/é'],
        'after a valid replacement character': [text('{"a":"\ufffd","b":"', [0xff], '"}'), '/b'],
        'an overlong slash': [text('{"a":"', [0xc0, 0xaf], '"}'), '/a'],
        'a surrogate': [text('{"a":"', [0xed, 0xa0, 0x80], '"}'), '/a'],
        'beyond the last code point': [text('{"a":"', [0xf4, 0x90, 0x80, 0x80], '"}'), '/a'],
        truncated: [text('{"a":"', [0xf0, 0x9f, 0x98], '"}'), '/a'],
        'instead of a value': [text('{"a":', [0xff], '}'), '/a'],
        'after the end': [text('{}', [0xff]), ''],
      },
      'invalid JSON': {
        'an empty text': ['', ''],
        'only white space': [' \t\r\n', ''],
        'a byte order mark': ['\ufeff{}', ''],
        'a byte order mark after white space': [' \ufeff{}', ''],
        'trailing text': ['{"a":1} b', ''],
        'two documents': ['{}{}', ''],
        'a trailing comma in an object': ['{"a":1,}', ''],
        'a trailing comma in an array': ['{"a":[1,]}', '/a/1'],
        'a leading comma': ['[,1]', '/0'],
        'a missing comma': ['{"a":1 "b":2}', ''],
        'a missing colon': ['{"a" 1}', '/a'],
        'a missing value': ['{"a":}', '/a'],
        'a missing closing brace': ['{"a":{"b":1}', ''],
        'a missing closing bracket': ['{"a":[1', '/a'],
        'a bracket closed by a brace': ['{"a":[1}', '/a'],
        'a key that is not a string': ['{"a":{1:2}}', '/a'],
        'single quotes': ["{'a':1}", ''],
        'a comment': ['{"a":/**/1}', '/a'],
        'a leading zero': ['[01]', ''],
        'a plus sign': ['[+1]', '/0'],
        'no digit before the decimal point': ['[.5]', '/0'],
        'no digit after the decimal point': ['[1.]', ''],
        'a missing exponent': ['[1e]', ''],
        'a lone minus sign': ['[-]', '/0'],
        hexadecimal: ['[0x1]', ''],
        NaN: ['[NaN]', '/0'],
        Infinity: ['[-Infinity]', '/0'],
        undefined: ['[undefined]', '/0'],
        'a capitalized literal': ['[True]', '/0'],
        'a truncated literal': ['[nul]', '/0'],
        'a literal that is too long': ['[nulll]', ''],
        'an unterminated string': ['{"a":"b', '/a'],
        'a line break in a string': ['{"a":"\n"}', '/a'],
        'a null character in a string': ['{"a":"\0"}', '/a'],
        'an unknown escape': ['{"a":"\\x41"}', '/a'],
        'a truncated escape': ['{"a":"\\u00"}', '/a'],
        'an escaped closing quote': ['{"a":"\\"}', '/a'],
        'white space that JSON does not allow': ['{"a":\u00a01}', '/a'],
        'a vertical tab': ['{\v"a":1}', ''],
      },
    };
    for (const [title, table] of Object.entries(tables)) {
      describe(title, () => {
        for (const [what, [source, pointer]] of Object.entries(table)) {
          it(what, () => assert.equal(pointerOfError(source), pointer));
        }
      });
    }
  });

  it('reports the number of characters before the error', () => {
    assert.equal(
      errorOf('{"é":01}')?.message,
      'The body must have a comma or a closing brace here (character 7).',
    );
    const bytes = text('{"é":"', [0xff], '"}');
    assert.equal(errorOf(bytes)?.message, 'The body at /é must be UTF-8 (character 9).');
  });

  it('says what is missing', () => {
    const details: Record<string, string> = {
      '': 'must not be empty (character 1)',
      ' ': 'must not be empty (character 2)',
      '{a:1}': 'must have a key in double quotes (character 2)',
      '{"a":1,}': 'must have a key in double quotes (character 8)',
      '[1,]': 'at /1 must have a value here (character 4)',
    };
    for (const [source, detail] of Object.entries(details))
      assert.equal(errorOf(source)?.message, `The body ${detail}.`, source);
  });

  it('accepts text up to the first byte that is not UTF-8', () => {
    assert.equal(
      errorOf(text('{"é":"a"', [0xff], '}'))?.message,
      'The body must have a comma or a closing brace here (character 9).',
    );
  });

  it('takes only the three bytes of a byte order mark for one', () => {
    for (const character of ['\ufefe', '\uff3f', '\ueeff', '\uf000'])
      assert.match(errorOf(`${character}{}`)!.message, /must have a value here/);
  });

  it('names a byte order mark, which editors hide', () => {
    assert.equal(errorOf('\ufeff{}')?.message, 'The body must not start with a byte order mark.');
  });

  it('accepts the maximum number of levels', () => {
    for (const source of ['[[[[[]]]]]', '{"a":{"a":{"a":{"a":{"a":0}}}}}', '[[[[[0]]]],[[[[1]]]]]']) {
      assert.deepEqual(parse(source).value, JSON.parse(source));
    }
  });

  it('parses an escaped key correctly, whatever was parsed before', () => {
    const expected = { name: 'A', user_group_id: 'a' };
    for (const other of ['\\\\', '\\"', '\\n', 'x', '\\u0065']) {
      const [earlier, source] = [
        `{"name":"A","user_group_i${other}":"a"}`,
        '{"name":"A","user_group_i\\u0064":"a"}',
      ];
      JSON.parse(earlier);
      assert.equal(errorOf(earlier), null);
      assert.deepEqual(parse(source).value, expected, other);
    }
  });

  it('accepts the same key in different objects', () => {
    assert.equal(errorOf('{"a":{"a":[{"a":1},{"a":1}]},"A":1,"a ":1}'), null);
  });

  describe('keeps the compact text of each member:', () => {
    const table: Record<string, [sent: string, kept: string]> = {
      'the digits of a large integer': ['9007199254740993', '9007199254740993'],
      'zeros and exponents': ['[1.10,-0,1e400,1E+05,0.0e-0]', '[1.10,-0,1e400,1E+05,0.0e-0]'],
      'the order of keys': ['{"b":1,"2":1,"a":1,"1":1}', '{"b":1,"2":1,"a":1,"1":1}'],
      'no white space between values': [' { "a" : [ 1 ,\t2 ]\r\n, "b":{ } } ', '{"a":[1,2],"b":{}}'],
      'white space in strings': ['[ " a  b " , "\\n\\t" ]', '[" a  b ","\\n\\t"]'],
      'strings in their shortest form': ['"\\u0061\\/\\u00e9\\uD83D\\uDE00\\u2028"', '"a/é😀\u2028"'],
      'necessary escapes': ['"\\u0022\\u005c\\u0000\\u001F\\u000a"', '"\\"\\\\\\u0000\\u001f\\n"'],
      'quotes and backslashes before white space': ['["\\\\" , "\\"" , "," ]', '["\\\\","\\"",","]'],
      'escapes in keys': ['{"\\u0061":1, "\\"":2}', '{"a":1,"\\"":2}'],
    };
    for (const [what, [sent, kept]] of Object.entries(table)) {
      it(what, () => assert.equal(parse(`{"k":${sent}}`).members.get('k'), kept));
    }

    it('with its decoded key, in the order of the document', () => {
      const { members } = parse('{"b":{"x":1},"\\u0031":[2],"0":null,"":"e"}');
      assert.deepEqual(
        [...members],
        [
          ['b', '{"x":1}'],
          ['1', '[2]'],
          ['0', 'null'],
          ['', '"e"'],
        ],
      );
    });

    it('none if the document is not an object', () => {
      for (const source of ['[{"a":1}]', '"a"', '1', 'null']) assert.equal(parse(source).members.size, 0);
    });
  });
});

describe('for any document, the strict parser', () => {
  const { FUZZ_DOCUMENTS } = process.env;
  for (const [what, { property, runs }] of Object.entries(parserProperties))
    it(what, () => fc.assert(property, { numRuns: Number(FUZZ_DOCUMENTS ?? runs) }));
});

describe('sameJson', () => {
  const member = (source: string): JsonText => parse(`{"k":${source}}`).members.get('k')!;

  it('ignores the order of keys at any depth, white space and escapes', () => {
    assert.ok(
      sameJson(member('{"a":[{"b":1,"c":2}],"d":"e"}'), member('{ "d":"\\u0065", "a":[{"c":2,"b":1}] }')),
    );
  });

  it('detects every other difference', () => {
    const values = [
      '1',
      '1.0',
      '1e0',
      '"1"',
      '"#1"',
      '-0',
      '0',
      '[]',
      '{}',
      '""',
      'null',
      '"null"',
      'true',
      '[1,2]',
      '[2,1]',
      '{"a":1,"b":2}',
      '{"a":2,"b":1}',
      '{"a":{"b":2}}',
      '[["a",1]]',
      '{"members":[["a",1]]}',
      '{"members":[]}',
      '9007199254740992',
      '9007199254740993',
    ];
    for (const a of values) {
      for (const b of values) assert.equal(sameJson(member(a), member(b)), a === b, `${a} and ${b}`);
    }
  });

  it('distinguishes null from stored values', () => {
    assert.ok(sameJson(null, null));
    assert.ok(!sameJson(null, member('{}')));
    assert.ok(!sameJson(member('{}'), null));
  });

  it('agrees with deep equality of the values', () => {
    const value = fc.jsonValue({ maxDepth: 3, stringUnit: fc.constantFrom('a', 'b', '"', '#') });
    const reversed = (item: unknown): unknown => {
      if (Array.isArray(item)) return item.map(reversed);
      if (item === null || typeof item !== 'object') return item;
      return Object.fromEntries(
        Object.entries(item)
          .reverse()
          .map(([key, each]) => [key, reversed(each)]),
      );
    };
    fc.assert(
      fc.property(value, value, (a, b) => {
        const [textOfA, textOfB] = [JSON.stringify(a), JSON.stringify(b)] as [JsonText, JsonText];
        assert.equal(
          sameJson(textOfA, textOfB),
          isDeepStrictEqual(parseByPlatform(textOfA), parseByPlatform(textOfB)),
        );
        assert.ok(sameJson(textOfA, JSON.stringify(reversed(a)) as JsonText));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('jsonPointer', () => {
  it('encodes pointers according to RFC 6901', () => {
    const table: [(string | number)[], string][] = [
      [[], ''],
      [[''], '/'],
      [['a', 0, 'b'], '/a/0/b'],
      [['a/b'], '/a~1b'],
      [['m~n'], '/m~0n'],
      [['~1'], '/~01'],
      [['c%d', ' ', '"'], '/c%d/ /"'],
    ];
    for (const [path, pointer] of table) assert.equal(jsonPointer(path), pointer);
  });
});
