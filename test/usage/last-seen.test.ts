// Contract: last_seen_at of a group is the hour in which one of its tokens was last resolved. It is written
// in batches after the responses, and does not count as a change of the group.

import assert from 'node:assert/strict';
import { beforeEach, it } from 'node:test';
import { userGroupKey } from '../../src/domain/user-group/user-group.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { EmbedSite, integrations } from '../support/embed-token/site.ts';
import { served } from '../support/process.ts';
import { runSql } from '../support/sql.ts';

const HOUR_MS = 3_600_000;

describeOnEachDatabase('last_seen_at', (database) => {
  const site = EmbedSite.of(database);
  const { service } = site;
  beforeEach(() => {
    // Half past an hour, so that no test runs across a full hour.
    const now = Date.now();
    service.clockAheadMs = HOUR_MS - (now % HOUR_MS) + HOUR_MS / 2;
  });

  /** Creates a group, and returns its token. */
  async function create(id: string): Promise<string> {
    const { json } = await served(() => service.get({ user_group_id: id, name: 'Acme' }));
    return json.user_group.token;
  }

  async function lastSeen(id: string): Promise<string | null> {
    return (await service.read(id)).json.user_group.last_seen_at;
  }

  /** Writes what the service has collected, as it does within seconds. */
  function write(): Promise<void> {
    return service.writeUsage();
  }

  function currentHour(): string {
    const now = Date.now() + service.clockAheadMs;
    return new Date(now - (now % HOUR_MS)).toISOString();
  }

  it('is the hour of the last resolve, of the current and of the retiring token', async () => {
    const token = await create('current');
    assert.equal(await lastSeen('current'), null);
    assert.equal((await service.resolve(token)).status, 200);
    await write();
    assert.equal(await lastSeen('current'), currentHour());
    service.clockAheadMs += HOUR_MS;
    await service.post({ current_token: token, grace_period_seconds: 600 });
    await service.resolve(token);
    await write();
    assert.equal(await lastSeen('current'), currentHour());
  });

  it('is the hour in which an embed token was minted for the id, or resolved', async () => {
    await site.create('tool', { type: 'jwt', ttl_seconds: 3_600, settings: integrations.jwt.settings });
    await create('embedded');
    const token = await site.token('tool', { user_group_id: 'embedded' });
    await write();
    assert.equal(await lastSeen('embedded'), currentHour());
    service.clockAheadMs += HOUR_MS - 60_000;
    assert.equal((await service.resolve(token)).status, 200);
    await write();
    assert.equal(await lastSeen('embedded'), currentHour());
  });

  it('is written for every group of many resolves at once', async () => {
    const ids = Array.from({ length: 300 }, (_, index) => `many-${index}`);
    const tokens = await Promise.all(ids.map((id) => create(id)));
    const resolved = [...tokens, ...tokens.slice(0, 20)];
    await Promise.all(resolved.map((token) => served(() => service.resolve(token))));
    await write();
    const page = await service.call('GET', '/v1/user-groups?search=many-&limit=1000');
    const seen = page.json.user_groups.map((group: { last_seen_at: string | null }) => group.last_seen_at);
    assert.deepEqual(seen, new Array(ids.length).fill(currentHour()));
  });

  it('changes neither version, ETag nor updated_at', async () => {
    const token = await create('unchanged');
    const before = await service.read('unchanged');
    await service.resolve(token);
    await write();
    const seen = await service.read('unchanged');
    assert.equal(seen.headers.etag, before.headers.etag);
    assert.deepEqual(seen.json.user_group, { ...before.json.user_group, last_seen_at: currentHour() });
    const found = await service.get({ user_group_id: 'unchanged' });
    assert.equal(found.headers.etag, before.headers.etag);
  });

  it('is not changed by any other call, nor by a token that does not resolve', async () => {
    const token = await create('other-calls');
    await service.read('other-calls');
    await service.get({ user_group_id: 'other-calls', name: 'Acme' });
    await service.put({ user_group_id: 'other-calls', name: 'Acme 2' });
    await service.call('PATCH', '/v1/user-groups/other-calls', { name: 'Acme 3' });
    await service.call('GET', '/v1/user-groups?search=other-calls');
    const { json } = await service.post({ current_token: token });
    assert.equal((await service.resolve(token)).status, 404, 'replaced');
    const testing = await service.apiToken({ environment: 'Testing' });
    const current: string = json.user_group.token;
    assert.equal((await service.resolve(current, { token: testing.token })).status, 404, 'foreign');
    await service.call('POST', '/v1/user-groups/other-calls/suspend');
    assert.equal((await service.resolve(current)).status, 404, 'suspended');
    await write();
    assert.equal(await lastSeen('other-calls'), null);
  });

  it('never goes backwards', async () => {
    const token = await create('forwards');
    await service.resolve(token);
    await write();
    const seen = await lastSeen('forwards');
    service.clockAheadMs -= 5 * HOUR_MS;
    await service.resolve(token);
    await write();
    assert.equal(await lastSeen('forwards'), seen);
    // Simulates a write of another process that arrives late.
    const key = userGroupKey({ workspaceId: 1, environment: 'Customer' }, 'forwards');
    const { team_id: teamId } = (await service.read('forwards')).json.user_group;
    const { store } = service.app.context;
    await store.write({ kind: 'markSeen', userGroups: [{ key, teamId }], at: HOUR_MS });
    assert.equal(await lastSeen('forwards'), seen);
  });

  it('is not written again within the hour', async () => {
    const token = await create('hourly');
    await service.resolve(token);
    await write();
    // A second write would overwrite this.
    const marker = Date.parse(currentHour()) + 1;
    await runSql(
      service.database,
      `update user_groups set last_seen_at = ${marker} where provided_id = 'hourly'`,
    );
    for (let count = 0; count < 20; count++) await service.resolve(token);
    await write();
    assert.equal(await lastSeen('hourly'), new Date(marker).toISOString());
    service.clockAheadMs += HOUR_MS;
    await service.resolve(token);
    await write();
    assert.equal(await lastSeen('hourly'), currentHour());
  });

  it('is written as of the hour in which the token was resolved, even if the next hour has begun', async () => {
    const [first, second] = [await create('hour-1'), await create('hour-2')];
    const hour = currentHour();
    await service.resolve(first);
    service.clockAheadMs += HOUR_MS;
    await service.resolve(second);
    await write();
    assert.deepEqual([await lastSeen('hour-1'), await lastSeen('hour-2')], [hour, currentHour()]);
  });

  it('ignores a group that was deleted in the meantime', async () => {
    const [deleted, kept] = [await create('deleted'), await create('kept')];
    await service.resolve(deleted);
    await service.resolve(kept);
    await service.call('DELETE', '/v1/user-groups/deleted');
    await write();
    assert.equal((await service.read('deleted')).status, 404);
    assert.equal(await lastSeen('kept'), currentHour());
  });

  it('does not pass to a group that is created with the same id', async () => {
    const token = await create('recreated');
    await service.resolve(token);
    await service.call('DELETE', '/v1/user-groups/recreated');
    await create('recreated');
    await write();
    assert.equal(await lastSeen('recreated'), null);
  });

  it('is written when the service shuts down', async () => {
    const token = await create('shutdown');
    await service.resolve(token);
    const hour = currentHour();
    await service.restart();
    assert.equal(await lastSeen('shutdown'), hour);
  });
});
