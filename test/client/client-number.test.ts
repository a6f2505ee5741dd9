// The client: numbers that JavaScript cannot represent, and how to keep their digits.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { type Properties, UserGroupClient } from '../../client/src/index.ts';
import { json } from '../support/client/exact-json.ts';
import { sqlite } from '../support/database.ts';
import { TestService } from '../support/service.ts';

const exact = '{"id":9007199254740993,"price":1.10,"huge":1e400,"plain":[1,-2.5]}';

describe('A number that JavaScript cannot represent', () => {
  const service = TestService.of(sqlite);
  let client: UserGroupClient;
  before(async () => {
    client = new UserGroupClient({ url: service.url, apiToken: service.token });
    await service.get(`{"user_group_id":"exact","name":"Exact","properties":${exact}}`);
  });

  async function stored(): Promise<string> {
    const { text } = await service.get({ user_group_id: 'exact', properties: {} });
    return /"properties":(\{.*\})\}\}$/.exec(text)?.[1] ?? '';
  }

  it('is rounded to the nearest representable number', async () => {
    const { user_group } = await client.getOrCreate({ user_group_id: 'exact', properties: {} });
    assert.deepEqual(user_group.properties, {
      id: 9007199254740992,
      price: 1.1,
      huge: Number.POSITIVE_INFINITY,
      plain: [1, -2.5],
    });
  });

  it('is rejected if JSON cannot represent it, instead of being sent as null', async () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      const properties: Properties = { deep: [{ value }] };
      await assert.rejects(client.update({ user_group_id: 'exact', properties }), TypeError);
    }
    assert.equal(await stored(), exact);
  });

  it('keeps its digits with the codec of the README, when read and written', async () => {
    const exactly = new UserGroupClient({ url: service.url, apiToken: service.token, json });
    const { user_group } = await exactly.getOrCreate({ user_group_id: 'exact', properties: {} });
    assert.equal(typeof user_group.team_id, 'number');
    assert.deepEqual(user_group.properties?.plain, [1, -2.5]);
    const properties = { ...user_group.properties, more: true };
    await exactly.update({ user_group_id: 'exact', properties });
    assert.equal(await stored(), `${exact.slice(0, -1)},"more":true}`);
  });

  it('is preserved by the code in the README', () => {
    const [, code = ''] = read('../support/client/exact-json.ts').split(/^\/\/.*\n\n/);
    const published = code.replace('../../../client/src/index.ts', 'user-group-service-client');
    assert.ok(read('../../client/README.md').includes(`\`\`\`ts\n${published}\`\`\``));
  });
});

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}
