// Contract: the values that each field accepts.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { describeOnEachDatabase, sqlite } from '../support/database.ts';
import { CALLS_WITH_BODY } from '../support/http.ts';
import { pointersOf } from '../support/problem.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const KIB = 1024;
/** One code point: two UTF-16 units, four bytes. */
const WIDE = '😀';

function entries(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
}

/** Returns `levels` nested objects. */
function nested(levels: number): string {
  return `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
}

/** Returns JSON of exactly this many bytes. */
function propertiesOf(bytes: number): string {
  return `{"a":"${'é'.repeat(100)}${'x'.repeat(bytes - 208)}"}`;
}

/** Value that is rejected because of the part at `pointer`. */
class At {
  readonly value: unknown;
  readonly pointer: string;

  constructor(value: unknown, pointer: string) {
    this.value = value;
    this.pointer = pointer;
  }
}

/** JSON text that is sent unchanged. */
class Raw {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const textOf = (value: unknown): string => (value instanceof Raw ? value.text : JSON.stringify(value));

interface FieldTable {
  accepted: Record<string, unknown>;
  rejected: Record<string, unknown>;
}

const tables: Record<'user_group_id' | 'name' | 'mapping' | 'properties', FieldTable> = {
  user_group_id: {
    accepted: {
      'one character': 'a',
      '255 characters': 'a'.repeat(255),
      '255 code points beyond the basic plane': WIDE.repeat(255),
      'any script': 'Ünïcode-日本語-עברית-👩‍👩‍👧',
      'slashes, dots and URL delimiters': '../a/b?c=d&e#f%2F+;',
      'white space within': 'a b\u00a0c',
      'quotes and a backslash': `'"\\; drop table user_groups --`,
      'invisible characters': 'a\u200b\u200d\u2060',
      'private and unassigned code points': '\ue000\uffff\u{10ffff}',
      'a replacement character': '\ufffd',
      'JavaScript property names': '__proto__',
      digits: '007',
      'the word null': 'null',
    },
    rejected: {
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
      'a leading space': ' a',
      'a trailing space': 'a ',
      'a leading no-break space': '\u00a0a',
      'a trailing ideographic space': 'a\u3000',
      'a trailing line separator': 'a\u2028',
      'a leading zero-width no-break space': '\ufeffa',
      'only a space': ' ',
    },
  },
  name: {
    accepted: {
      'one character': 'a',
      '255 characters': 'a'.repeat(255),
      '255 code points beyond the basic plane': WIDE.repeat(255),
      'leading and trailing white space': '  Acme\u00a0',
      'a leading line separator': '\u2028Acme',
      'a paragraph separator within': 'Acme\u2029Ltd',
      'a decomposed letter': 'e\u0301',
    },
    rejected: {
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
    rejected: {
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
      '2^53 + 1, which JavaScript rounds to 2^53': new At(new Raw('{"a":9007199254740993}'), '/mapping/a'),
      'a fraction that JavaScript rounds to an integer': new At(
        new Raw('{"a":1.00000000000000000001}'),
        '/mapping/a',
      ),
      'a fraction that JavaScript rounds to the largest safe integer': new At(
        new Raw('{"a":9007199254740991.4}'),
        '/mapping/a',
      ),
      'a number that JavaScript rounds to zero': new At(new Raw('{"a":1e-400}'), '/mapping/a'),
      'a key that a JSON pointer escapes': new At({ 'a/b~c': null }, '/mapping/a~1b~0c'),
    },
  },
  properties: {
    accepted: {
      'no keys': {},
      null: null,
      '100 keys': entries(100),
      '101 keys below the top level': { a: entries(101) },
      'a key of 255 code points': { [WIDE.repeat(255)]: 1 },
      'any key below the top level': { a: { '': 1, ['k'.repeat(256)]: 2 } },
      'any nested JSON': { a: [null, true, false, '', [], {}, -1.5e300, ['\u0000']] },
      '16 levels': new Raw(nested(16)),
      '16 levels of arrays and objects': new Raw(`{"a":${'['.repeat(15)}${']'.repeat(15)}}`),
      '64 KiB': new Raw(propertiesOf(64 * KIB)),
    },
    rejected: {
      'a text': '{}',
      'a number': 1,
      true: true,
      'an array': [],
      '101 keys': entries(101),
      'an empty key': new At({ '': 1 }, '/properties/'),
      'a key of 256 characters': new At({ ['k'.repeat(256)]: 1 }, `/properties/${'k'.repeat(256)}`),
      '64 KiB and one byte': new Raw(propertiesOf(64 * KIB + 1)),
    },
  },
};

describeOnEachDatabase('fields', (database) => {
  const service = TestService.of(database);
  let groups = 0;
  before(async () => {
    await service.get({ user_group_id: 'there', name: 'There' });
  });

  /** Returns a body that creates a group, with one field set to the value, and the id of that group. */
  function bodyWith(field: string, value: unknown): { text: string; id: string } {
    const id = `group-${++groups}`;
    const fields: Record<string, unknown> = { user_group_id: id, name: 'Acme', [field]: value };
    const members = Object.entries(fields).map(([key, member]) => `"${key}":${textOf(member)}`);
    return { text: `{${members.join(',')}}`, id: field === 'user_group_id' ? String(value) : id };
  }

  for (const [field, { accepted, rejected }] of Object.entries(tables)) {
    describe(field, () => {
      for (const [what, value] of Object.entries(accepted)) {
        it(`accepts and returns unchanged: ${what}`, async () => {
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

      // Values are rejected before any query.
      if (database !== sqlite) return;

      for (const [what, entry] of Object.entries(rejected)) {
        const { value, pointer } = entry instanceof At ? entry : new At(entry, `/${field}`);
        it(`rejects: ${what}`, async () => {
          const { text, id } = bodyWith(field, value);
          for (const [method, path] of [
            ['GET', '/api/user'],
            ['PUT', '/api/user'],
            ['POST', '/v1/user-groups'],
          ] as const) {
            const response = await service.call(method, path, text);
            assert.deepEqual(
              [response.status, response.json.code],
              [400, 'invalid_request'],
              response.text.slice(0, 500),
            );
            assert.deepEqual(pointersOf(response), [pointer]);
          }
          if (field === 'user_group_id') return;
          assert.equal((await service.get({ user_group_id: id })).status, 404);
        });
      }
    });
  }

  it('reject a numeric user_group_id with a hint to send a string', async () => {
    const { json } = await service.get({ user_group_id: 42, name: 'Number' });
    assert.match(json.errors[0].detail, /must be a string: send it in double quotes/);
  });

  it('are all named in the error if several are invalid', async () => {
    const body = { user_group_id: 42, name: '', mapping: { a: null, b: 'x', c: [] }, properties: [] };
    const response = await service.get(body);
    assert.deepEqual(pointersOf(response).sort(), [
      '/mapping/a',
      '/mapping/c',
      '/name',
      '/properties',
      '/user_group_id',
    ]);
  });

  it('reject properties of more than 16 levels, with a pointer to the first excess level', async () => {
    const body = `{"user_group_id":"deep","name":"Deep","properties":${nested(17)}}`;
    for (const response of [await service.get(body), await service.put(body)]) {
      assert.deepEqual([response.status, response.json.code], [400, 'invalid_json']);
      assert.deepEqual(pointersOf(response), [`/properties${'/a'.repeat(16)}`]);
      // The body itself counts as one more level.
      assert.match(response.json.detail, / must not be deeper than 17 levels, including the outermost /);
    }
  });

  it('reject a body of nothing but nesting', async () => {
    for (const opening of ['[', '{"a":']) {
      const response = await service.get(opening.repeat(Math.floor((256 * KIB) / opening.length)));
      assert.deepEqual([response.status, response.json.code], [400, 'invalid_json']);
    }
  });

  it('compare ids byte for byte, without case folding, trimming or normalization', async () => {
    const lookalikes = [
      ...['b', 'B', 'ｂ'],
      ...['\u00e9', 'e\u0301'],
      ...['\u00df', 'ss'],
      ...['\ufb01', 'fi'],
      ...['1', '01', '1.0'],
      ...['x', 'x\u200b', 'x\u200d'],
      ...['i', '\u0131', '\u0130', 'I'],
      ...['K', '\u212a', 'k'],
    ];
    const created = await Promise.all(
      lookalikes.map((id) => served(() => service.get({ user_group_id: id, name: 'Alike' }))),
    );
    assert.deepEqual(
      created.map(({ json }) => [json.user_group.provided_id, json.new_user_group]),
      lookalikes.map((id) => [id, true]),
    );
    assert.equal(new Set(created.map(({ json }) => json.user_group.token)).size, lookalikes.length);
  });

  it('allow two groups with the same name', async () => {
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
        /did you mean grace_period_seconds\?/,
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
      it(`is rejected, with the closest known field in the error: ${method} ${path} ${field}`, async () => {
        const response = await service.call(method, path, body);
        assert.deepEqual([response.status, response.json.code], [400, 'unknown_field']);
        assert.deepEqual(pointersOf(response), [`/${field}`]);
        assert.ok(response.json.detail.startsWith(`${field} is not a known field`));
        assert.match(response.json.detail, near);
      });
    }

    it('for the environment is rejected with the reason that the API token decides it', async () => {
      const group = { user_group_id: 'u', name: 'U' };
      const calls: [method: string, path: string, body?: object][] = [
        ['GET', '/api/user', group],
        ['PUT', '/api/user', { user_group_id: 'there' }],
        ['POST', '/api/user', { current_token: 'x' }],
        ['POST', '/v1/user-groups', group],
        ['PATCH', '/v1/user-groups/there', {}],
        ['POST', '/v1/resolve', { token: 'x' }],
      ];
      for (const field of ['api_environment_tag', 'environment']) {
        const responses = await Promise.all([
          ...calls.map(([method, path, body]) => service.call(method, path, { ...body, [field]: 'Testing' })),
          service.call('GET', `/v1/user-groups?${field}=Testing`),
        ]);
        for (const { status, json } of responses) {
          assert.equal(status, 400);
          assert.match(json.detail, /the API token determines the environment/);
          assert.doesNotMatch(json.detail, /nearest|did you mean/);
        }
      }
    });

    it('changes nothing', async () => {
      assert.equal((await service.get({ user_group_id: 'u' })).status, 404);
      assert.equal((await service.get({ user_group_id: 'there' })).json.user_group.name, 'There');
    });
  });

  it('are rejected in the query string instead of being ignored', async () => {
    for (const query of ['name=Acme', 'x', 'name=Acme?', 'a&b=?']) {
      for (const [method, path] of CALLS_WITH_BODY) {
        const response = await service.call(method, `${path}?${query}`, { user_group_id: 'there' });
        assert.deepEqual(
          [response.status, response.json.code],
          [400, 'invalid_request'],
          `${method} ${path}?${query}`,
        );
        assert.match(response.json.detail, /query/);
      }
    }
  });
});
