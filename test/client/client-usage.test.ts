// The client: usage, against the real service.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { UserGroupClient } from '../../client/src/index.ts';
import { adminClient } from '../support/client/admin.ts';
import { sqlite } from '../support/database.ts';
import { TestService } from '../support/service.ts';

describe('The client', () => {
  const service = TestService.of(sqlite);
  let client: UserGroupClient;
  before(async () => {
    client = await adminClient(service);
  });

  it('iterates over all pages of the usage', async () => {
    for (const [index, userGroupId] of ['a', 'b', 'c'].entries()) {
      const { user_group } = await client.getOrCreate({ user_group_id: userGroupId, name: 'N' });
      for (let times = 0; times <= index; times++) await client.resolve(user_group.token);
    }
    await service.writeUsage();
    // A service with several threads has restarted on another port.
    client = await adminClient(service);
    const found = await Array.fromAsync(client.usage({ limit: 1, groupBy: 'month' }));
    assert.deepEqual(
      found.map(({ user_group_id, resolves }) => [user_group_id, resolves]),
      [
        ['a', 1],
        ['b', 2],
        ['c', 3],
      ],
    );
    const date = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length);
    const [b, ...others] = await Array.fromAsync(client.usage({ userGroupId: 'b', from: date, to: date }));
    assert.deepEqual([b!.date, b!.resolves, b!.embed_tokens, others], [date, 2, {}, []]);
  });

  it('refuses a filter that is undefined, without which it would return the data of all user groups', async () => {
    const usage = client.usage.bind(client) as (query: object) => AsyncGenerator;
    const events = client.events.bind(client) as (query: object) => AsyncGenerator;
    await assert.rejects(async () => Array.fromAsync(usage({ userGroupId: undefined })), {
      name: 'TypeError',
      message: 'userGroupId must not be undefined: omit it if you want the data of all user groups.',
    });
    await assert.rejects(Array.fromAsync(events({ target: undefined })), {
      name: 'TypeError',
      message: /^target must not be undefined/,
    });
  });
});
