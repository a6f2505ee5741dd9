// The strict parser against `JSON.parse`: it accepts the same documents but for those that can be read in two ways.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { type JsonText, pointerOf, sameJson } from '../../src/domain/strict-json.ts';
import { parse, parseByPlatform, parserProperties, refusalOf } from './strict-json-property.ts';

/** The pointer of the refusal; fails where the document is accepted. */
function pointerOfRefusal(source: string | Buffer): string {
  const problem = refusalOf(source);
  assert.ok(problem, 'the document is accepted');
  return problem.errors[0]!.pointer;
}

function text(...parts: (string | number[])[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

describe('the strict parser', () => {
  describe('refuses with the pointer of the innermost place that is at fault', () => {
    const tables: Record<string, Record<string, [source: string | Buffer, pointer: string]>> = {
      'a key that stands twice': {
        'at the top': ['{"a":1,"b":2,"a":1}', '/a'],
        'with the same value': ['{"a":1,"a":1}', '/a'],
        'spelt with an escape': ['{"a":1,"\\u0061":1}', '/a'],
        'both spelt with escapes': ['{"\\u0061":1,"\\u0061":1}', '/a'],
        'as an escaped pair and as it is': ['{"😀":1,"\\ud83d\\ude00":1}', '/😀'],
        'in an object of an object': ['{"a":{"b":{"c":1,"c":2}}}', '/a/b/c'],
        'in an object of an array': ['[0,[{"a":1,"a":2}]]', '/1/0/a'],
        'the empty key': ['{"":1,"":2}', '/'],
        'a key of digits': ['{"1":1,"1":2}', '/1'],
        'a key that a pointer escapes': ['{"~/":{"a/b":1,"a/b":2}}', '/~0~1/a~1b'],
        'behind values of every kind': ['{"x":[{},[],"",0,true,false,null],"x":0}', '/x'],
      },
      __proto__: {
        'at the top': ['{"__proto__":1}', '/__proto__'],
        'spelt with an escape': ['{"\\u005f\\u005fproto__":1}', '/__proto__'],
        'below the top': ['{"a":[{"__proto__":{}}]}', '/a/0/__proto__'],
      },
      'half a surrogate pair': {
        'the first half': ['{"a":"\\ud800"}', '/a'],
        'the second half': ['{"a":"\\udfff"}', '/a'],
        'the wrong way round': ['{"a":["\\ude00\\ud83d"]}', '/a/0'],
        'before a pair': ['{"a":"\\ud83d\\ud83d\\ude00"}', '/a'],
        'as a key': ['{"a":{"\\ud800":1}}', '/a'],
        'as the whole document': ['"\\ud800"', ''],
      },
      'a document of too many levels': {
        'of objects': ['{"a":{"b":{"c":{"d":{"e":{}}}}}}', '/a/b/c/d/e'],
        'of arrays': ['[[[[[[]]]]]]', '/0/0/0/0/0'],
        'of both': ['[0,{"a":[1,{"b":[2,[]]}]}]', '/1/a/1/b/1'],
      },
      'bytes that are not UTF-8': {
        'in a string': [text('{"a":"', [0xff], '"}'), '/a'],
        'in the second string': [text('{"a":"é","b":["x","', [0xc3], '"]}'), '/b/1'],
        'in a key': [text('{"a":{"', [0x80], '":1}}'), '/a'],
        'below a key beyond ASCII': [text('{"日本":"', [0xff], '"}'), '/日本'],
        'below an escaped key beyond ASCII': [text('{"\\u65e5":{"\\u00e9":"', [0xff], '"}}'), '/日/é'],
        'behind a replacement character, which is one': [text('{"a":"\ufffd","b":"', [0xff], '"}'), '/b'],
        'a slash in two bytes': [text('{"a":"', [0xc0, 0xaf], '"}'), '/a'],
        'a surrogate': [text('{"a":"', [0xed, 0xa0, 0x80], '"}'), '/a'],
        'beyond the last code point': [text('{"a":"', [0xf4, 0x90, 0x80, 0x80], '"}'), '/a'],
        'cut off': [text('{"a":"', [0xf0, 0x9f, 0x98], '"}'), '/a'],
        'where a value belongs': [text('{"a":', [0xff], '}'), '/a'],
        'behind the end': [text('{}', [0xff]), ''],
      },
      'what is no JSON': {
        nothing: ['', ''],
        'only white space': [' \t\r\n', ''],
        'a byte order mark': ['\ufeff{}', ''],
        'a byte order mark behind white space': [' \ufeff{}', ''],
        'text after the end': ['{"a":1} b', ''],
        'two documents': ['{}{}', ''],
        'a comma at the end of an object': ['{"a":1,}', ''],
        'a comma at the end of an array': ['{"a":[1,]}', '/a/1'],
        'a comma at the start': ['[,1]', '/0'],
        'no comma': ['{"a":1 "b":2}', ''],
        'no colon': ['{"a" 1}', '/a'],
        'no value': ['{"a":}', '/a'],
        'no closing brace': ['{"a":{"b":1}', ''],
        'no closing bracket': ['{"a":[1', '/a'],
        'a bracket that a brace closes': ['{"a":[1}', '/a'],
        'a key that is no string': ['{"a":{1:2}}', '/a'],
        'single quotes': ["{'a':1}", ''],
        'a comment': ['{"a":/**/1}', '/a'],
        'a zero in front': ['[01]', ''],
        'a plus sign': ['[+1]', '/0'],
        'no digit before the point': ['[.5]', '/0'],
        'no digit behind the point': ['[1.]', ''],
        'no exponent': ['[1e]', ''],
        'a minus sign alone': ['[-]', '/0'],
        hexadecimal: ['[0x1]', ''],
        NaN: ['[NaN]', '/0'],
        Infinity: ['[-Infinity]', '/0'],
        undefined: ['[undefined]', '/0'],
        'a word in capitals': ['[True]', '/0'],
        'a word cut short': ['[nul]', '/0'],
        'a word too long': ['[nulll]', ''],
        'a string without end': ['{"a":"b', '/a'],
        'a line break in a string': ['{"a":"\n"}', '/a'],
        'a null character in a string': ['{"a":"\0"}', '/a'],
        'an unknown escape': ['{"a":"\\x41"}', '/a'],
        'an escape cut short': ['{"a":"\\u00"}', '/a'],
        'a quote escaped at the end': ['{"a":"\\"}', '/a'],
        'white space that JSON has not': ['{"a":\u00a01}', '/a'],
        'a vertical tab': ['{\v"a":1}', ''],
      },
    };
    for (const [title, table] of Object.entries(tables)) {
      describe(title, () => {
        for (const [what, [source, pointer]] of Object.entries(table)) {
          it(what, () => assert.equal(pointerOfRefusal(source), pointer));
        }
      });
    }
  });

  it('says after how many characters it stopped', () => {
    assert.equal(
      refusalOf('{"é":01}')?.message,
      'The body must have a comma or a closing brace here (character 7).',
    );
    const bytes = text('{"é":"', [0xff], '"}');
    assert.equal(refusalOf(bytes)?.message, 'The body at /é must be UTF-8 (character 9).');
  });

  it('takes as many levels as it may', () => {
    for (const source of ['[[[[[]]]]]', '{"a":{"a":{"a":{"a":{"a":0}}}}}', '[[[[[0]]]],[[[[1]]]]]']) {
      assert.deepEqual(parse(source).value, JSON.parse(source));
    }
  });

  it('reads a key with an escape as it is, whatever was read before', () => {
    const expected = { name: 'A', user_group_id: 'a' };
    for (const other of ['\\\\', '\\"', '\\n', 'x', '\\u0065']) {
      const [known, asked] = [
        `{"name":"A","user_group_i${other}":"a"}`,
        '{"name":"A","user_group_i\\u0064":"a"}',
      ];
      JSON.parse(known);
      assert.equal(refusalOf(known), null);
      assert.deepEqual(parse(asked).value, expected, other);
    }
  });

  it('takes the same key in different objects', () => {
    assert.equal(refusalOf('{"a":{"a":[{"a":1},{"a":1}]},"A":1,"a ":1}'), null);
  });

  describe('keeps of each member the text, compact', () => {
    const table: Record<string, [sent: string, kept: string]> = {
      'digits of a large integer': ['9007199254740993', '9007199254740993'],
      'zeros and exponents': ['[1.10,-0,1e400,1E+05,0.0e-0]', '[1.10,-0,1e400,1E+05,0.0e-0]'],
      'the order of keys': ['{"b":1,"2":1,"a":1,"1":1}', '{"b":1,"2":1,"a":1,"1":1}'],
      'no white space between values': [' { "a" : [ 1 ,\t2 ]\r\n, "b":{ } } ', '{"a":[1,2],"b":{}}'],
      'white space in strings': ['[ " a  b " , "\\n\\t" ]', '[" a  b ","\\n\\t"]'],
      'strings in their shortest spelling': ['"\\u0061\\/\\u00e9\\uD83D\\uDE00\\u2028"', '"a/é😀\u2028"'],
      'escapes that are needed': ['"\\u0022\\u005c\\u0000\\u001F\\u000a"', '"\\"\\\\\\u0000\\u001f\\n"'],
      'quotes and backslashes before white space': ['["\\\\" , "\\"" , "," ]', '["\\\\","\\"",","]'],
      'escapes in keys': ['{"\\u0061":1, "\\"":2}', '{"a":1,"\\"":2}'],
    };
    for (const [what, [sent, kept]] of Object.entries(table)) {
      it(what, () => assert.equal(parse(`{"k":${sent}}`).members.get('k'), kept));
    }

    it('under its decoded key, in the order of the document', () => {
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

    it('and none where the document is no object', () => {
      for (const source of ['[{"a":1}]', '"a"', '1', 'null']) assert.equal(parse(source).members.size, 0);
    });
  });
});

describe('on any document the strict parser', () => {
  for (const [what, { property, runs }] of Object.entries(parserProperties))
    it(what, () => fc.assert(property, { numRuns: runs }));
});

describe('sameJson', () => {
  const member = (source: string): JsonText => parse(`{"k":${source}}`).members.get('k')!;

  it('sees no difference in the order of keys, at any depth, and in white space and escapes', () => {
    assert.ok(
      sameJson(member('{"a":[{"b":1,"c":2}],"d":"e"}'), member('{ "d":"\\u0065", "a":[{"c":2,"b":1}] }')),
    );
  });

  it('sees a difference in everything else', () => {
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

  it('takes nothing stored for nothing else', () => {
    assert.ok(sameJson(null, null));
    assert.ok(!sameJson(null, member('{}')));
    assert.ok(!sameJson(member('{}'), null));
  });

  it('agrees with the equality of values', () => {
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

describe('pointerOf', () => {
  it('writes pointers as RFC 6901 says', () => {
    const table: [(string | number)[], string][] = [
      [[], ''],
      [[''], '/'],
      [['a', 0, 'b'], '/a/0/b'],
      [['a/b'], '/a~1b'],
      [['m~n'], '/m~0n'],
      [['~1'], '/~01'],
      [['c%d', ' ', '"'], '/c%d/ /"'],
    ];
    for (const [path, pointer] of table) assert.equal(pointerOf(path), pointer);
  });
});
