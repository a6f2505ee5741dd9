// The client: pages of events, and the feed.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { UserGroupClient } from '../../client/src/index.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';

describeOnEachDatabase('The client', (database) => {
  const service = TestService.of(database);
  let client: UserGroupClient;
  before(async () => {
    client = new UserGroupClient({ url: service.url, apiToken: service.token });
    for (const id of ['a', 'b', 'c']) await client.getOrCreate({ user_group_id: id, name: id });
    await client.update({ user_group_id: 'b', properties: { plan: 'gold' } });
  });

  it('iterates over events, the newest first, and filters them', async () => {
    const events = await Array.fromAsync(client.events({ limit: 2 }));
    assert.deepEqual(events.map(({ type, target }) => `${type} ${target.id}`).slice(0, 4), [
      'user_group.updated b',
      'user_group.created c',
      'user_group.created b',
      'user_group.created a',
    ]);
    assert.deepEqual(events[0]!.changes, { properties: { plan: { to: 'gold' } } });
    const request_id = events[0]!.request_id!;
    assert.deepEqual(await Array.fromAsync(client.events({ request_id })), [events[0]]);
    const target = { type: 'user_group', id: 'b' };
    // Other transactions on the server may delay the feed.
    const oldest = await eventually('the event', async () => {
      const page = await client.eventPage({ target, type: 'user_group.created', order: 'oldest' });
      return page.events.length > 0 && page.events;
    });
    assert.deepEqual(oldest, [events[2]]);
  });

  it('follows the feed, and continues from a cursor', { timeout: 20_000 }, async () => {
    const stop = new AbortController();
    const ids: string[] = [];
    let cursor: string | null | undefined;
    const follow = async (until: string): Promise<void> => {
      const options = { pollIntervalMs: 10, signal: stop.signal };
      for await (const { events, next_cursor } of client.eventFeed({ limit: 2, cursor }, options)) {
        ids.push(...events.map(({ target }) => target.id));
        cursor = next_cursor;
        if (ids.includes(until)) return;
      }
    };
    await follow('c');
    // A cursor that was never stored may be null.
    for await (const { events } of client.eventFeed({ limit: 1, cursor: null })) {
      assert.equal(events[0]!.target.id, ids[0]);
      break;
    }
    const following = follow('late');
    await client.getOrCreate({ user_group_id: 'late', name: 'Late' });
    await following;
    assert.deepEqual(ids.slice(1), ['a', 'b', 'c', 'b', 'late']);
    const endless = follow('never');
    stop.abort(new Error('stopped'));
    await assert.rejects(endless, /stopped/);
  });

  it('yields a cursor once an hour although nothing happens', async () => {
    let cursor: string | undefined;
    for (let count = 1; count > 0; ) {
      const page = await client.eventPage({ order: 'oldest', limit: 1_000, ...(cursor && { cursor }) });
      cursor = page.next_cursor!;
      count = page.events.length;
    }
    service.clockAheadMs = 3_600_000;
    for await (const { events, next_cursor } of client.eventFeed({ cursor })) {
      assert.deepEqual(events, []);
      assert.notEqual(next_cursor, cursor);
      break;
    }
    service.clockAheadMs = 0;
  });

  it('returns values that are too large for an event as truncated', async () => {
    await client.update({ user_group_id: 'a', properties: { plan: 'gold', text: 'x'.repeat(20_000) } });
    const { events } = await client.eventPage({ target: { type: 'user_group', id: 'a' }, limit: 1 });
    assert.deepEqual(events[0]!.changes, {
      properties: { plan: { to: 'gold' }, text: { truncated: true } },
    });
  });
});
