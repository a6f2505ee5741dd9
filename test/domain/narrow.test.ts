// A narrowed user group contains only part of what is stored, whatever the caller requests.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { narrowed, withNarrowed } from '../../src/domain/embed-token/narrow.ts';
import { jsonText, parseTree, sameJson } from '../../src/domain/json/json-tree.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import type { UserGroup } from '../../src/domain/user-group/user-group.ts';
import { Problem } from '../../src/problem.ts';

const NAMES = ['regions', 'plan', 'nested', 'other', '__proto__', 'toString'];

const groupWith = (properties: JsonText | null) => ({ providedId: 'acme', properties }) as UserGroup;

const leaf = fc.oneof(
  fc.constantFrom('EMEA', 'APAC', '', 1, 1.5, -0, true, false, null),
  fc.string({ maxLength: 3 }),
);
const value = fc.oneof(
  leaf,
  fc.array(leaf, { maxLength: 4 }),
  fc.array(fc.record({ a: leaf, b: leaf }, { requiredKeys: [] }), { maxLength: 3 }),
  fc.record({ a: leaf, b: leaf }, { requiredKeys: [] }),
);
const object = fc.dictionary(fc.constantFrom('regions', 'plan', 'nested', 'other'), value);

describe('A narrowed user group', () => {
  const stored = groupWith(
    '{"regions":["EMEA","APAC",{"a":1,"b":2}],"plan":"gold","seats":1.10,"nothing":null,"o":{"a":null}}' as JsonText,
  );
  const narrow = (text: string, listed = ['regions', 'plan', 'seats', 'nothing', 'o']) => {
    try {
      return narrowed(stored, text as JsonText, listed).properties;
    } catch (error) {
      if (error instanceof Problem) return error.errors;
      throw error;
    }
  };

  it('has some elements of a list, and every other value as it is stored', () => {
    assert.equal(
      narrow('{"regions":["APAC"]}'),
      '{"regions":["APAC"],"plan":"gold","seats":1.10,"nothing":null,"o":{"a":null}}',
    );
    assert.equal(
      narrow('{"plan":"gold","seats":1.10,"o":{"a":null},"regions":[{"b":2,"a":1},"EMEA"]}'),
      '{"regions":[{"b":2,"a":1},"EMEA"],"plan":"gold","seats":1.10,"nothing":null,"o":{"a":null}}',
    );
    assert.equal(narrow('{}'), stored.properties);
  });

  it('has no value that is not stored, or not listed by the integration', () => {
    const refused: Record<string, RegExp> = {
      '{"regions":[]}': /must be a list of some of the stored elements/,
      '{"regions":"EMEA"}': /must be a list of some/,
      '{"regions":["LATAM"]}': /has an element that is not stored/,
      '{"regions":["EMEA","LATAM"]}': /not stored/,
      '{"regions":[{"a":1}]}': /not stored/,
      '{"regions":[["EMEA"]]}': /not stored/,
      '{"plan":["gold"]}': /is not equal to the stored value/,
      '{"plan":"silver"}': /is not equal/,
      '{"plan":null}': /is not equal/,
      '{"seats":1.1}': /is not equal/,
      '{"o":{}}': /is not equal/,
      '{"nothing":null}': /is not a property of the user group/,
    };
    for (const [text, detail] of Object.entries(refused)) {
      const errors = narrow(text);
      assert.ok(Array.isArray(errors), text);
      assert.equal(errors.length, 1);
      assert.match(errors[0]!.detail, detail, text);
    }
    const errors = narrow('{"plan":"gold","regions":["EMEA"]}', ['regions']);
    assert.deepEqual(errors, [
      {
        pointer: '/narrow/plan',
        detail: 'is not a property in tokens of the integration, so it would not restrict the viewer',
      },
    ]);
    for (const name of NAMES.slice(4)) assert.ok(Array.isArray(narrow(`{"${name}":[]}`, [name])), name);
  });

  it('is always a part of the stored one', () => {
    let accepted = 0;
    fc.assert(
      fc.property(object, object, (properties, wanted) => {
        const group = groupWith(jsonText(properties));
        let result: Record<string, unknown>;
        try {
          result = JSON.parse(narrowed(group, jsonText(wanted), NAMES).properties!);
        } catch (error) {
          assert.ok(error instanceof Problem);
          return;
        }
        accepted++;
        assert.deepEqual(Object.keys(result).sort(), Object.keys(properties).sort());
        for (const [name, before] of Object.entries(properties)) assertPart(result[name], before);
      }),
      { numRuns: 4_000 },
    );
    assert.ok(accepted > 200, String(accepted));
  });

  it('takes linear time', () => {
    const elements = Array.from({ length: 15_000 }, (_, index) => ({ a: index }));
    const list = jsonText({ regions: elements });
    const start = process.threadCpuUsage();
    narrowed(groupWith(list), list, ['regions']);
    const { user } = process.threadCpuUsage(start);
    assert.ok(user / 1_000 < 500, `${user / 1_000} ms`);
  });

  it('is the same if it is narrowed again from the token', () => {
    const text = '{"regions":["APAC"]}' as JsonText;
    const once = narrowed(stored, text, ['regions']);
    assert.ok(sameJson(withNarrowed(stored, text).properties, once.properties));
    assert.ok(parseTree(once.properties!));
  });
});

function assertPart(after: unknown, before: unknown): void {
  const texts = Array.isArray(before) ? before.map(sorted) : null;
  if (texts !== null && Array.isArray(after) && after.length > 0)
    for (const element of after) assert.ok(texts.includes(sorted(element)));
  else assert.equal(sorted(after), sorted(before));
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort())
      : each,
  );
}
