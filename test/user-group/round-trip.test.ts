// Contract: values round-trip unchanged: numbers keep their digits, keys their order, strings their code
// points.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { extremeProperties, oddNumbers } from '../support/bad-input/odd-value.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { codePoint } from '../support/domain/code-point.ts';
import { TestService } from '../support/service.ts';

const KIB = 1024;

describeOnEachDatabase('values that round-trip unchanged', (database) => {
  const service = TestService.of(database);
  let groups = 0;

  /** Returns the JSON texts of properties and mapping in the responses of every call that returns them. */
  async function roundTrip(
    properties: string,
    mapping = 'null',
  ): Promise<{ properties: string[]; mapping: string }> {
    const id = `round-trip-${++groups}`;
    const body = `{"user_group_id":"${id}","name":"R","mapping":${mapping},"properties":${properties}}`;
    const created = await service.get(body);
    assert.equal(created.status, 200, created.text);
    const { token } = created.json.user_group;
    const found = await service.get({ user_group_id: id, properties: null });
    await service.put({ user_group_id: id, mapping: {}, properties: {} });
    const updated = await service.put(body);
    const resolved = (await service.resolve(token)).text;
    const between = (text: string, from: string, to: string) =>
      text.slice(text.indexOf(from) + from.length, text.lastIndexOf(to));
    return {
      properties: [
        between(created.text, '"properties":', '}}'),
        between(found.text, '"properties":', '}}'),
        between(updated.text, '"properties":', ',"api_environment_tag"'),
        between(resolved, '"properties":', ',"mapping"'),
      ],
      mapping: between(resolved, ',"mapping":', ',"api_environment_tag"'),
    };
  }

  const same: Record<string, string> = {
    ...extremeProperties,
    'numbers that JavaScript writes differently': `{"n":[${oddNumbers}]}`,
    'the code points of strings':
      '{"s":["é","e\u0301","😀","\u2028\u2029","\u007f\u0085","\ufffd\uffff\ufeff"]}',
    'control characters': '{"s":"\\u0000\\u0001\\b\\t\\n\\f\\r\\u001f\\"\\\\"}',
    'keys with quotes, backslashes and null characters': '{"\\"\\\\\\u0000":{"\\u0000":1}}',
    'text that looks like markup or SQL': '{"s":["</script>","\'; drop table x; --","$1 ? :a %s"]}',
  };
  for (const [what, text] of Object.entries(same)) {
    it(what, async () => {
      assert.deepEqual((await roundTrip(text)).properties, [text, text, text, text]);
    });
  }

  it('except unnecessary escapes, which are decoded, and white space between values, which is removed', async () => {
    const sent = '{ "\\u0061" :\t"\\u00e9\\/\\ud83d\\ude00\\u0041" ,\r\n"b":[ 1.0 , { } ]\n}';
    const text = '{"a":"é/😀A","b":[1.0,{}]}';
    assert.deepEqual((await roundTrip(sent)).properties, [text, text, text, text]);
  });

  it('mapping: the order of its keys and its values', async () => {
    const text = '{"b":"213","10":9007199254740991,"9":-7,"\\u0000":" \u00e9\\n"}';
    assert.equal((await roundTrip('{}', text)).mapping, text);
  });

  it('the name and the id', async () => {
    const body = '{"user_group_id":"\\u0022\\\\/é\\ud83d\\ude00","name":" \\u0022\\\\\\/e\\u0301 "}';
    const { text } = await service.get(body);
    assert.ok(text.includes('"name":" \\"\\\\/e\u0301 ","provided_id":"\\"\\\\/é😀"'), text);
  });

  it('properties of any shape', async () => {
    const key = fc.string({ unit: codePoint, minLength: 1, maxLength: 20 });
    const value = fc.jsonValue({ maxDepth: 6, stringUnit: codePoint });
    const properties = fc
      .dictionary(key, value, { maxKeys: 20 })
      .map((each) => JSON.stringify(each))
      .filter((text) => !text.includes('__proto__') && text.length < 16 * KIB);
    // Concurrently, because each call alone would be a transaction of its own.
    const several = fc.array(properties, { minLength: 25, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(several, async (texts) => {
        const found = await Promise.all(texts.map((text) => roundTrip(text)));
        assert.deepEqual(
          found.map((each) => each.properties),
          texts.map((text) => [text, text, text, text]),
        );
      }),
      // Shrinking would repeat a hundred requests for hours.
      { numRuns: 4, endOnFailure: true },
    );
  });
});
