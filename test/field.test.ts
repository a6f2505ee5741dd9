// Contract: which values each field may have.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeOnEachDatabase } from './database.ts';
import type { TestAnswer } from './http.ts';
import { TestService } from './service.ts';

const KIB = 1024;
/** One code point, two UTF-16 units, four bytes. */
const WIDE = '😀';

function entries(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
}

/** Objects in objects, `levels` of them. */
function nested(levels: number): string {
  return `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
}

/** JSON of just so many bytes. */
function propertiesOf(bytes: number): string {
  return `{"a":"${'é'.repeat(100)}${'x'.repeat(bytes - 208)}"}`;
}

function pointersOf({ json }: TestAnswer): string[] {
  return [...new Set<string>(json.errors.map(({ pointer }: { pointer: string }) => pointer))];
}

/** A value that is refused for what stands at `pointer`, not for all of it. */
class At {
  readonly value: unknown;
  readonly pointer: string;

  constructor(value: unknown, pointer: string) {
    this.value = value;
    this.pointer = pointer;
  }
}

/** JSON that is sent as it is written. */
class Raw {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const textOf = (value: unknown): string => (value instanceof Raw ? value.text : JSON.stringify(value));

interface FieldTable {
  accepted: Record<string, unknown>;
  refused: Record<string, unknown>;
}

const tables: Record<'user_group_id' | 'name' | 'mapping' | 'properties', FieldTable> = {
  user_group_id: {
    accepted: {
      'one character': 'a',
      '255 characters': 'a'.repeat(255),
      '255 code points beyond the basic plane': WIDE.repeat(255),
      'any script': 'Ünïcode-日本語-עברית-👩‍👩‍👧',
      'slashes, dots and signs of URLs': '../a/b?c=d&e#f%2F+;',
      'white space within': 'a b\u00a0c',
      'quotes and a backslash': `'"\\; drop table user_groups --`,
      'invisible characters': 'a\u200b\u200d\u2060',
      'private and unassigned code points': '\ue000\uffff\u{10ffff}',
      'a replacement character': '\ufffd',
      'names of JavaScript': '__proto__',
      digits: '007',
      'the word null': 'null',
    },
    refused: {
      'a number': 42,
      null: null,
      true: true,
      'an array': ['a'],
      'an object': {},
      'an empty text': '',
      '256 characters': 'a'.repeat(256),
      '256 code points beyond the basic plane': WIDE.repeat(256),
      'a line break': 'a\nb',
      'a tab': 'a\tb',
      'a null character': 'a\u0000b',
      'a delete character': 'a\u007fb',
      'a control character of Latin-1': 'a\u0085b',
      'a space before': ' a',
      'a space after': 'a ',
      'a no-break space before': '\u00a0a',
      'an ideographic space after': 'a\u3000',
      'a line separator after': 'a\u2028',
      'a zero-width no-break space before': '\ufeffa',
      'only a space': ' ',
    },
  },
  name: {
    accepted: {
      'one character': 'a',
      '255 characters': 'a'.repeat(255),
      '255 code points beyond the basic plane': WIDE.repeat(255),
      'white space around it, which is kept': '  Acme\u00a0',
      'a line separator before it': '\u2028Acme',
      'a paragraph separator within': 'Acme\u2029Ltd',
      'a decomposed letter': 'e\u0301',
    },
    refused: {
      'a number': 42,
      null: null,
      true: true,
      'an array': ['a'],
      'an object': {},
      'an empty text': '',
      'only spaces': '   ',
      'only other white space': '\u00a0\u2028\u3000\ufeff',
      '256 characters': 'a'.repeat(256),
      '256 code points beyond the basic plane': WIDE.repeat(256),
      'a line break': 'a\nb',
      'a null character': '\u0000',
      'an escape character': 'a\u001b[31m',
      'a delete character': 'a\u007f',
      'a control character of Latin-1': '\u009f',
    },
  },
  mapping: {
    accepted: {
      'no entries': {},
      null: null,
      '100 entries': entries(100),
      'a key of 255 code points': { [WIDE.repeat(255)]: 'a' },
      'a value of 255 code points': { a: WIDE.repeat(255) },
      'a value of one space': { a: ' ' },
      'the largest safe integer': { a: Number.MAX_SAFE_INTEGER },
      'the smallest safe integer': { a: Number.MIN_SAFE_INTEGER },
      zero: { a: 0 },
    },
    refused: {
      'a text': 'a',
      'a number': 1,
      true: true,
      'an array': [],
      '101 entries': entries(101),
      'an empty key': new At({ '': 'a' }, '/mapping/'),
      'a key of 256 characters': new At({ ['k'.repeat(256)]: 'a' }, `/mapping/${'k'.repeat(256)}`),
      'an empty value': new At({ a: '' }, '/mapping/a'),
      'a value of 256 characters': new At({ a: 'v'.repeat(256) }, '/mapping/a'),
      'a null value': new At({ a: null }, '/mapping/a'),
      'a boolean value': new At({ a: true }, '/mapping/a'),
      'an array value': new At({ a: ['b'] }, '/mapping/a'),
      'an object value': new At({ a: { b: 1 } }, '/mapping/a'),
      'a fraction': new At({ a: 1.5 }, '/mapping/a'),
      '2^53': new At({ a: 2 ** 53 }, '/mapping/a'),
      '-2^53': new At({ a: -(2 ** 53) }, '/mapping/a'),
      '2^53 + 1, which JavaScript cannot tell from 2^53': new At(
        new Raw('{"a":9007199254740993}'),
        '/mapping/a',
      ),
      'a fraction that JavaScript takes for an integer': new At(
        new Raw('{"a":1.00000000000000000001}'),
        '/mapping/a',
      ),
      'a fraction that JavaScript takes for the largest safe integer': new At(
        new Raw('{"a":9007199254740991.4}'),
        '/mapping/a',
      ),
      'a number that JavaScript takes for zero': new At(new Raw('{"a":1e-400}'), '/mapping/a'),
      'a key that a pointer has to escape': new At({ 'a/b~c': null }, '/mapping/a~1b~0c'),
    },
  },
  properties: {
    accepted: {
      'no keys': {},
      null: null,
      '100 keys': entries(100),
      '101 keys below the top': { a: entries(101) },
      'a key of 255 code points': { [WIDE.repeat(255)]: 1 },
      'any key below the top': { a: { '': 1, ['k'.repeat(256)]: 2 } },
      'any JSON inside': { a: [null, true, false, '', [], {}, -1.5e300, ['\u0000']] },
      '16 levels': new Raw(nested(16)),
      '16 levels of arrays and objects': new Raw(`{"a":${'['.repeat(15)}${']'.repeat(15)}}`),
      '64 KiB': new Raw(propertiesOf(64 * KIB)),
    },
    refused: {
      'a text': '{}',
      'a number': 1,
      true: true,
      'an array': [],
      '101 keys': entries(101),
      'an empty key': new At({ '': 1 }, '/properties/'),
      'a key of 256 characters': new At({ ['k'.repeat(256)]: 1 }, `/properties/${'k'.repeat(256)}`),
      'one byte more than 64 KiB': new Raw(propertiesOf(64 * KIB + 1)),
    },
  },
};

describeOnEachDatabase('fields', (database) => {
  let service: TestService;
  let groups = 0;
  before(async () => {
    service = await TestService.start(database);
    await service.get({ user_group_id: 'there', name: 'There' });
  });
  after(() => service.end());

  /** A body that creates a group, with one field as given. */
  function bodyWith(field: string, value: unknown): { text: string; id: string } {
    const id = `group-${++groups}`;
    const fields: Record<string, unknown> = { user_group_id: id, name: 'Acme', [field]: value };
    const members = Object.entries(fields).map(([key, member]) => `"${key}":${textOf(member)}`);
    return { text: `{${members.join(',')}}`, id: field === 'user_group_id' ? String(value) : id };
  }

  for (const [field, { accepted, refused }] of Object.entries(tables)) {
    describe(field, () => {
      for (const [what, value] of Object.entries(accepted)) {
        it(`may be: ${what}; it comes back the same`, async () => {
          const { text, id } = bodyWith(field, value);
          const created = await service.get(text);
          assert.equal(created.status, 200, created.text);
          assert.equal(created.json.new_user_group, true);
          const updated = await service.put(text);
          assert.equal(updated.status, 200);
          assert.equal(updated.headers.etag, created.headers.etag);
          const { user_group } = (await service.resolve(created.json.user_group.token)).json;
          const expected = JSON.parse(textOf(value));
          const key = field === 'user_group_id' ? 'provided_id' : field;
          assert.deepEqual(user_group[key], expected);
          assert.equal((await service.get({ user_group_id: id })).json.user_group.provided_id, id);
        });
      }

      for (const [what, entry] of Object.entries(refused)) {
        const { value, pointer } = entry instanceof At ? entry : new At(entry, `/${field}`);
        it(`must not be: ${what}`, async () => {
          const { text, id } = bodyWith(field, value);
          for (const [method, path] of [
            ['GET', '/api/user'],
            ['PUT', '/api/user'],
            ['POST', '/v1/user-groups'],
          ] as const) {
            const answer = await service.call(method, path, text);
            assert.deepEqual(
              [answer.status, answer.json.code],
              [400, 'invalid_request'],
              answer.text.slice(0, 500),
            );
            assert.deepEqual(pointersOf(answer), [pointer]);
          }
          if (field === 'user_group_id') return;
          assert.equal((await service.get({ user_group_id: id })).status, 404);
        });
      }
    });
  }

  it('tells who sends a number as user_group_id to send a string', async () => {
    const { json } = await service.get({ user_group_id: 42, name: 'Number' });
    assert.match(json.errors[0].detail, /must be a string: send it in double quotes/);
  });

  it('names every field that is at fault', async () => {
    const body = { user_group_id: 42, name: '', mapping: { a: null, b: 'x', c: [] }, properties: [] };
    const answer = await service.get(body);
    assert.deepEqual(pointersOf(answer).sort(), [
      '/mapping/a',
      '/mapping/c',
      '/name',
      '/properties',
      '/user_group_id',
    ]);
  });

  it('refuses properties of more than 16 levels, and points at the level that is too much', async () => {
    const body = `{"user_group_id":"deep","name":"Deep","properties":${nested(17)}}`;
    for (const answer of [await service.get(body), await service.put(body)]) {
      assert.deepEqual([answer.status, answer.json.code], [400, 'invalid_json']);
      assert.deepEqual(pointersOf(answer), [`/properties${'/a'.repeat(16)}`]);
      // The body is a level above the properties.
      assert.match(answer.json.detail, / must not be deeper than 17 levels, the outermost included /);
    }
  });

  it('survives a body that is nothing but nesting', async () => {
    for (const opening of ['[', '{"a":']) {
      const answer = await service.get(opening.repeat(Math.floor((256 * KIB) / opening.length)));
      assert.deepEqual([answer.status, answer.json.code], [400, 'invalid_json']);
    }
  });

  it('compares ids byte for byte: no folding, trimming or normalisation', async () => {
    const alike = [
      ...['b', 'B', 'ｂ'],
      ...['\u00e9', 'e\u0301'],
      ...['\u00df', 'ss'],
      ...['\ufb01', 'fi'],
      ...['1', '01', '1.0'],
      ...['x', 'x\u200b', 'x\u200d'],
      ...['i', '\u0131', '\u0130', 'I'],
      ...['K', '\u212a', 'k'],
    ];
    const created = await Promise.all(alike.map((id) => service.get({ user_group_id: id, name: 'Alike' })));
    assert.deepEqual(
      created.map(({ json }) => [json.user_group.provided_id, json.new_user_group]),
      alike.map((id) => [id, true]),
    );
    assert.equal(new Set(created.map(({ json }) => json.user_group.token)).size, alike.length);
  });

  it('lets two groups have one name', async () => {
    const first = await service.get({ user_group_id: 'twin-1', name: 'Twin' });
    const second = await service.get({ user_group_id: 'twin-2', name: 'Twin' });
    assert.deepEqual([first.json.new_user_group, second.json.new_user_group], [true, true]);
  });

  describe('an unknown field', () => {
    const cases: [method: string, path: string, body: object, field: string, near: RegExp][] = [
      ['GET', '/api/user', { user_group_id: 'u', name: 'U', nmae: 'U' }, 'nmae', /did you mean name\?/],
      [
        'GET',
        '/api/user',
        { user_group_id: 'u', name: 'U', team_id: 1 },
        'team_id',
        /name, user_group_id, mapping, properties/,
      ],
      ['PUT', '/api/user', { user_group_id: 'there', property: {} }, 'property', /did you mean properties\?/],
      ['PUT', '/api/user', { user_group_id: 'there', Name: 'N' }, 'Name', /did you mean name\?/],
      [
        'POST',
        '/api/user',
        { current_token: 'x', grace_period: 1 },
        'grace_period',
        /current_token, grace_period_seconds/,
      ],
      [
        'POST',
        '/v1/user-groups',
        { user_group_id: 'u', name: 'U', maping: {} },
        'maping',
        /did you mean mapping\?/,
      ],
      ['POST', '/v1/resolve', { token: 'x', user_group_id: 'u' }, 'user_group_id', /token/],
    ];
    for (const [method, path, body, field, near] of cases) {
      it(`is refused and named with the nearest known one: ${method} ${path} ${field}`, async () => {
        const answer = await service.call(method, path, body);
        assert.deepEqual([answer.status, answer.json.code], [400, 'unknown_field']);
        assert.deepEqual(pointersOf(answer), [`/${field}`]);
        assert.ok(answer.json.detail.startsWith(`${field} is not a known field`));
        assert.match(answer.json.detail, near);
      });
    }

    it('leaves everything as it was', async () => {
      assert.equal((await service.get({ user_group_id: 'u' })).status, 404);
      assert.equal((await service.get({ user_group_id: 'there' })).json.user_group.name, 'There');
    });
  });

  it('refuses fields in the query of the URL, which would be dropped in silence', async () => {
    for (const query of ['name=Acme', 'x', 'name=Acme?', 'a&b=?']) {
      for (const [method, path] of [
        ['GET', '/api/user'],
        ['PUT', '/api/user'],
        ['POST', '/api/user'],
        ['POST', '/v1/user-groups'],
        ['POST', '/v1/resolve'],
      ] as const) {
        const answer = await service.call(method, `${path}?${query}`, { user_group_id: 'there' });
        assert.deepEqual(
          [answer.status, answer.json.code],
          [400, 'invalid_request'],
          `${method} ${path}?${query}`,
        );
        assert.match(answer.json.detail, /query/);
      }
    }
  });
});
