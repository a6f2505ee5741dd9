// Types of requests, derived by the compiler from the schemas of their bodies and parameters.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bodyType } from '../../../src/domain/request-body.ts';
import { queryType } from '../../../src/http/request/query.ts';

const fields = {
  text: { type: 'string' },
  count: { type: 'integer', default: 1 },
  choice: { type: 'string', enum: ['x', 'y'] },
  nullable: { type: ['string', 'null'] },
  list: { type: 'array', items: { type: 'integer' } },
} as const;

describe('The type of a request', () => {
  it('is that of the schema of its body, whose fields are optional unless they are required or have a default', () => {
    const body = bodyType({
      name: 'Test',
      fields,
      required: ['text', 'choice', 'list'],
      convert: ({ value }) => {
        const text: string = value.text;
        const choice: 'x' | 'y' = value.choice;
        const count: number = value.count;
        const nullable: string | null | undefined = value.nullable;
        const list: readonly number[] = value.list;
        // @ts-expect-error: may be absent
        const present: string | null = value.nullable;
        // @ts-expect-error: no text
        const wrong: string = value.list;
        // @ts-expect-error: in no schema
        const unknown = value.other;
        return { text, choice, count, nullable, list, present, wrong, unknown };
      },
    });
    const { text, choice, count, list } = body.read(Buffer.from('{"text":"a","choice":"y","list":[1]}'));
    assert.deepEqual({ text, choice, count, list }, { text: 'a', choice: 'y', count: 1, list: [1] });
  });

  it('is that of the schemas of its parameters, which are optional unless they have a default', () => {
    const query = queryType({
      parameters: { text: fields.text, count: fields.count, limit: { type: 'integer', default: 50 } },
      convert: (values) => {
        const count: number = values.count;
        const limit: number = values.limit;
        // @ts-expect-error: may be absent
        const text: string = values.text;
        return { count, text, limit };
      },
    });
    assert.deepEqual(query.read('/?count=2'), { count: 2, text: undefined, limit: 50 });
    assert.equal(query.read('/?limit=7').limit, 7);
  });

  it('can only require fields that it has', () => {
    const definition = { name: 'Test', fields, convert: () => null };
    // @ts-expect-error: not a field
    const body = bodyType({ ...definition, required: ['other'] });
    assert.throws(() => body.read(Buffer.from('{"text":"a"}')), /strict mode: required property "other"/);
  });
});
