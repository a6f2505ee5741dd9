// A database that answers, and too late: a call takes several statements, each of them within its own limit, and the
// caller waits for their sum.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestAnswer } from '../http.ts';
import type { Call } from './callers.ts';
import { Installation } from './installation.ts';

/** Of each answer of the database. None is slower than a statement may be. */
const DELAYS_MS = [300, 700, 1_200, 1_900];
const PATCHES = 40;

describe('A slow database', () => {
  let site: Installation;
  before(async () => {
    site = await Installation.start();
  });
  afterEach(async () => {
    site.proxy.delayMs = 0;
    site.proxy.heal();
    await site.untilBack();
  });
  after(() => site[Symbol.asyncDispose]());

  for (const delayMs of DELAYS_MS) {
    it(`of ${delayMs} ms is told to everybody in time, whatever they ask for`, async () => {
      const id = `slow-${delayMs}`;
      const { token } = (await site.get(id, 'Slow')).json.user_group;
      const path = `/v1/user-groups/${id}`;
      const calls: Call[] = [
        { body: { user_group_id: id } },
        { body: { user_group_id: `${id}-new`, name: 'New' } },
        { method: 'PUT', body: { user_group_id: id, name: 'Other' } },
        { method: 'POST', body: { current_token: token } },
        { method: 'POST', path: '/v1/resolve', body: { token } },
        { path },
        { path: '/v1/user-groups?search=slow' },
        { method: 'PATCH', path, body: { properties: { a: 1 } } },
        { method: 'DELETE', path: `${path}-none` },
        { path: '/readyz' },
      ];
      site.proxy.delayMs = delayMs;
      // Those that come together are one batch, and wait for each other.
      const answers = await Promise.all([...calls, ...calls, ...calls].map((call) => site.call(call)));
      assertSome(answers, delayMs === DELAYS_MS[0] ? 200 : 503);
    });
  }

  it('is told in time to those whose patches of one group are in each other’s way', async () => {
    await site.get('patched', 'Patched');
    site.proxy.delayMs = 20;
    const patch = (key: string): Promise<TestAnswer> => {
      const path = '/v1/user-groups/patched';
      return site.call({ method: 'PATCH', path, body: { properties: { [key]: 1 } } });
    };
    const keys = Array.from({ length: PATCHES }, (_, index) => `key-${index}`);
    const answers = await Promise.all(keys.map(patch));
    assertSome(answers, 200);
    assertSome(answers, 503);
    site.proxy.delayMs = 0;
    const { json } = await site.call({ path: '/v1/user-groups/patched' });
    const acknowledged = keys.filter((_, index) => answers[index]!.status === 200);
    for (const key of acknowledged) assert.equal(json.user_group.properties[key], 1);
  });

  it('that has no id to give is told in time to those who create, also to those who wait for somebody else’s', async () => {
    const fresh = await site.serve();
    try {
      site.proxy.decide = (subject) => (subject === 'lease_ids' ? 'silence' : 'pass');
      const calls: Promise<TestAnswer>[] = [];
      for (let index = 0; index < 20; index++) {
        calls.push(site.callTo(fresh, { body: { user_group_id: `new-${index}`, name: 'New' } }));
        await sleep(100);
      }
      for (const { status } of await Promise.all(calls)) assert.equal(status, 503);
    } finally {
      site.proxy.heal();
      fresh.signal('SIGTERM');
      await fresh.exit();
      site.services.pop();
    }
  });

  function assertSome(answers: readonly TestAnswer[], status: number): void {
    assert.ok(
      answers.some((answer) => answer.status === status),
      `none of ${answers.length} was answered with ${status}`,
    );
  }
});
