// The service writes last_seen_at without waiting for another request.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeOnEachDatabase } from '../support/database.ts';
import { TestService } from '../support/service.ts';

const LIMIT_MS = 15_000;

describeOnEachDatabase('last_seen_at', (database) => {
  it('is written within seconds after a resolve, without another call', async () => {
    await using service = await TestService.start(database);
    const { json } = await service.get({ user_group_id: 'seen', name: 'Seen' });
    await service.resolve(json.user_group.token);
    const read = () => service.call('GET', '/v1/user-groups/seen');
    const deadline = performance.now() + LIMIT_MS;
    while ((await read()).json.user_group.last_seen_at === null) {
      assert.ok(performance.now() < deadline, `not written within ${LIMIT_MS} ms`);
      await sleep(100);
    }
  });
});
