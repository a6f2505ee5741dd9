// Violations of a request body, each with its pointer, in words for the caller.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/domain/field.ts';
import { bodyType, noBody, partCheck, refuseFields, valueCheck } from '../../src/domain/request-body.ts';
import {
  importedUserGroupBody,
  userGroupBody,
  userGroupFields,
} from '../../src/domain/user-group/user-group-body.ts';
import { problemOf } from '../support/domain/problem.ts';

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

const anyValue = {
  name: 'Test',
  fields: {
    text: { type: 'string', minLength: 2, maxLength: 3 },
    id: { type: 'string', minLength: 1, pattern: '^a', 'x-pattern-detail': 'must start with a' },
    plain: { type: 'string', pattern: '^a' },
    two: { type: 'string', enum: ['x', 'y'] },
    three: { type: 'string', enum: ['x', 'y', 'z'] },
    instant: { type: 'string', format: 'date-time' },
    number: { type: 'integer', minimum: 1, maximum: 5 },
    union: { type: ['string', 'null'] },
    flag: { type: 'boolean' },
    list: { type: 'array', minItems: 1, maxItems: 2, uniqueItems: true, items: { type: 'integer' } },
    object: { type: 'object', minProperties: 1, maxProperties: 2, additionalProperties: { type: 'integer' } },
    one: { type: 'object', maxProperties: 1 },
    closed: { type: 'object', properties: { a: {} }, additionalProperties: false },
    keys: { type: 'object', propertyNames: { type: 'string', minLength: 1 } },
    odd: { type: 'integer', multipleOf: 2 },
  },
  required: [],
  convert: () => 'converted',
};
const type = bodyType(anyValue);
const errorsOf = (value: unknown) =>
  problemOf(() => type.read(bytes(value))).errors.map(({ pointer, detail }) => `${pointer} ${detail}`);

describe('A violation of a field', () => {
  const details: [value: object, error: string][] = [
    [{ text: 'a' }, '/text must have at least 2 characters'],
    [{ text: 'abcd' }, '/text must have at most 3 characters'],
    [{ text: 5 }, '/text must be a string: send it in double quotes'],
    [{ text: null }, '/text must be a string'],
    [{ id: '' }, '/id must not be empty'],
    [{ plain: '' }, '/plain is not of the expected form'],
    [{ id: 'b' }, '/id must start with a'],
    [{ plain: 'b' }, '/plain is not of the expected form'],
    [{ two: 'z' }, '/two must be x or y'],
    [{ three: 'a' }, '/three must be one of x, y, z'],
    [{ instant: 'today' }, '/instant must be an RFC 3339 timestamp, such as 2026-03-05T16:04:12Z'],
    [{ number: 0 }, '/number must be at least 1'],
    [{ number: 6 }, '/number must be at most 5'],
    [{ number: 1.5 }, '/number must be an integer'],
    [{ number: '1' }, '/number must be an integer'],
    [{ union: 5 }, '/union must be a string or null: send it in double quotes'],
    [{ flag: 1 }, '/flag must be true or false'],
    [{ list: [] }, '/list must have at least 1 entry'],
    [{ list: [1, 2, 3] }, '/list must have at most 2 entries'],
    [{ list: [1, 1] }, '/list must not have duplicate entries'],
    [{ list: 1 }, '/list must be an array'],
    [{ list: [1, 'a'] }, '/list/1 must be an integer'],
    [{ object: {} }, '/object must have at least 1 entry'],
    [{ object: { a: 1, b: 2, c: 3 } }, '/object must have at most 2 entries'],
    [{ object: { 'a/b~': 'c' } }, '/object/a~1b~0 must be an integer'],
    [{ object: 1 }, '/object must be an object'],
    [{ one: { a: 1, b: 2 } }, '/one must have at most 1 entry'],
    [{ closed: { b: 1 } }, '/closed/b is not a known member'],
    [{ keys: { '': 1 } }, '/keys/ must be a key of 1 to 255 characters'],
    [{ odd: 3 }, '/odd must be multiple of 2'],
  ];
  for (const [value, error] of details) {
    it(`in ${JSON.stringify(value)}: ${error}`, () => {
      assert.deepEqual(errorsOf(value), error.split('|'));
    });
  }

  it('is reported with all others, at most 20, those of the body and unknown fields first', () => {
    const { message, code, errors } = problemOf(() => type.read(bytes({ text: 'a', number: 0, nam: 1 })));
    assert.equal(code, 'unknown_field');
    assert.deepEqual(
      errors.map(({ pointer }) => pointer),
      ['/nam', '/text', '/number'],
    );
    assert.match(message, /^nam is not a known field.*; text must have .*; number must be at least 1\.$/);
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`unknown${index}`, 1]));
    const problem = problemOf(() => type.read(bytes({ ...many, text: 'a', number: 0 })));
    assert.equal(problem.errors.length, 20);
    assert.match(problem.message, /; and 7 more\.$/);
    const twenty = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`unknown${index}`, 1]));
    assert.doesNotMatch(problemOf(() => type.read(bytes(twenty))).message, /more/);
  });

  it('of the body itself names the body', () => {
    for (const value of ['[]', '1', 'null', '"a"']) {
      const { message, errors, code } = problemOf(() => type.read(bytes(value)));
      assert.deepEqual(errors, [{ pointer: '', detail: 'must be an object' }]);
      assert.deepEqual([message, code], ['The body must be an object.', 'invalid_request']);
    }
    const { message, errors } = problemOf(() => userGroupBody.read(bytes({ nam: 1, name: '' })));
    assert.match(message, /^user_group_id is required; nam is not a known field/);
    assert.equal(errors[0]!.pointer, '/user_group_id');
    assert.match(problemOf(() => type.read(bytes({ '': 1 }))).message, /^"" is not a known field/);
  });
});

describe('A body', () => {
  it('is converted if it is valid', () => {
    assert.equal(type.read(bytes({ text: 'ab', instant: '2026-03-05T16:04:12Z' })), 'converted');
    assert.equal(type.isRequired, true);
  });

  it('may be empty, which is the same as an empty object, if its type says so', () => {
    const optional = bodyType({ ...anyValue, isOptional: true, convert: ({ value }) => value });
    assert.equal(optional.isRequired, false);
    for (const body of ['', '{}']) assert.deepEqual(optional.read(bytes(body)), {}, body);
    assert.equal(problemOf(() => type.read(Buffer.alloc(0))).code, 'invalid_json');
  });

  it('has an integer for every integer, and not for a number that only rounds to one', () => {
    assert.equal(type.read(bytes('{"number":5}')), 'converted');
    for (const number of ['1.00000000000000000001', '1.0', '1e0'])
      assert.equal(problemOf(() => type.read(bytes(`{"number":${number}}`))).code, 'invalid_request', number);
  });

  it('may have a hint for a known mistake instead of its violations', () => {
    const hinted = bodyType({
      ...anyValue,
      hint: (value) => ('schema' in value ? 'Send only the schema.' : undefined),
    });
    const known = problemOf(() => hinted.read(bytes({ schema: 1 })));
    assert.deepEqual(
      [known.message, known.code, known.errors.length],
      ['Send only the schema.', 'invalid_request', 1],
    );
    assert.equal(problemOf(() => hinted.read(bytes({ other: 1 }))).code, 'unknown_field');
    for (const value of ['null', '1'])
      assert.match(problemOf(() => hinted.read(bytes(value))).message, /must be an object/);
  });

  it('without fields is empty, or an empty object', () => {
    for (const text of ['', '{}', ' {} ', '\r\n\t{ \n}\t']) assert.equal(noBody.read(bytes(text)), null);
    for (const text of [' ', '[]', '{"a":1}', '{}{}', 'null', 'x{}', '{}x', '{x}'])
      assert.equal(problemOf(() => noBody.read(bytes(text))).code, 'invalid_request', text);
    assert.deepEqual([noBody.isRequired, noBody.schema], [false, null]);
  });
});

describe('The body of a user group', () => {
  it('has the exact text of the mapping and the properties', () => {
    const body = '{"name":"A","user_group_id":"a","mapping":{"b":1,"1":2},"properties":{"n": 1.10}}';
    assert.deepEqual(userGroupBody.read(bytes(body)), {
      userGroupId: 'a',
      name: 'A',
      mapping: '{"b":1,"1":2}',
      properties: '{"n":1.10}',
    });
    assert.deepEqual(userGroupBody.read(bytes('{"user_group_id":"a","mapping":null}')), {
      userGroupId: 'a',
      mapping: null,
    });
  });

  it('has at most 64 KiB of properties', () => {
    const body = (size: number) =>
      bytes({ user_group_id: 'é', properties: { a: 'x'.repeat(size - '{"a":""}'.length) } });
    assert.equal(userGroupBody.read(body(limits.propertiesBytes)).properties?.length, limits.propertiesBytes);
    const { errors } = problemOf(() => userGroupBody.read(body(limits.propertiesBytes + 1)));
    assert.deepEqual(errors, [
      { pointer: '/properties', detail: 'must be at most 65536 bytes of JSON and has 65537' },
    ]);
    assert.deepEqual(userGroupFields({ value: {}, members: new Map() }), {});
  });

  it('has at most 16 levels of properties', () => {
    const nested = (levels: number) =>
      `{"user_group_id":"a","properties":{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}}`;
    assert.ok(userGroupBody.read(bytes(nested(16))).properties);
    assert.equal(problemOf(() => userGroupBody.read(bytes(nested(17)))).code, 'invalid_json');
  });

  it('of an import has a name, and may have a token', () => {
    const line = { user_group_id: 'a', name: 'A' };
    assert.equal(importedUserGroupBody.read(bytes(line)).token, null);
    const token = 'an-existing-token';
    assert.equal(importedUserGroupBody.read(bytes({ ...line, token })).token?.reveal(), token);
    assert.equal(
      problemOf(() => importedUserGroupBody.read(bytes({ user_group_id: 'a' }))).errors[0]!.pointer,
      '/name',
    );
    const environment = problemOf(() => importedUserGroupBody.read(bytes({ ...line, environment: 'x' })));
    assert.match(environment.message, /--environment determines the environment/);
    const sent = problemOf(() => userGroupBody.read(bytes({ user_group_id: 'a', environment: 'x' })));
    assert.match(sent.message, /the API token determines the environment/);
  });
});

describe('A check', () => {
  it('of a single value returns what is wrong with it', () => {
    const check = valueCheck({ type: 'integer', minimum: 1 });
    assert.deepEqual([check(1), check(0), check('a')], [null, 'must be at least 1', 'must be an integer']);
    const keys = valueCheck({ type: 'object', propertyNames: { type: 'string', maxLength: 1 } });
    assert.equal(keys({ ab: 1 }), 'must be a key of 1 to 255 characters');
  });

  it('of a part of a body returns at most 20 violations, below its path', () => {
    const check = partCheck({ type: 'array', items: { type: 'integer' } });
    assert.deepEqual(check([1], ['a']), []);
    assert.deepEqual(check(['x'], ['a', 'b/c']), [{ pointer: '/a/b~1c/0', detail: 'must be an integer' }]);
    assert.equal(check(Array(21).fill('x'), ['a']).length, 20);
    const keys = partCheck({ type: 'object', propertyNames: { type: 'string', maxLength: 1 } });
    assert.equal(keys({ ab: 1 }, ['a']).length, 1);
  });

  it('finds duplicates in any order of keys, in linear time', () => {
    const check = valueCheck({ type: 'array', uniqueItems: true, items: { type: 'object' } });
    const duplicate = 'must not have duplicate entries';
    assert.equal(
      check([
        { a: 1, b: { c: 1, d: 2 } },
        { b: { d: 2, c: 1 }, a: 1 },
      ]),
      duplicate,
    );
    assert.equal(check([{ a: [1, 2] }, { a: [2, 1] }, {}]), null);
    // Comparing each item with all others would take seconds.
    const items = Array.from({ length: 20_000 }, (_, index) => ({ index }));
    const start = process.threadCpuUsage();
    assert.equal(check(items), null);
    const { user } = process.threadCpuUsage(start);
    assert.ok(user / 1_000 < 1_000, `${user / 1_000} ms`);
  });

  it('refuses a list of violations, and shows 20 of them', () => {
    refuseFields([]);
    const errors = Array.from({ length: 21 }, (_, index) => ({ pointer: `/${index}`, detail: 'is wrong' }));
    assert.deepEqual(problemOf(() => refuseFields(errors)).errors, errors.slice(0, 20));
    assert.match(problemOf(() => refuseFields(errors)).message, /; and 1 more\.$/);
    assert.equal(problemOf(() => refuseFields(errors.slice(0, 1))).message, '0 is wrong.');
  });
});
