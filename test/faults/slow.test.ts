// A slow database: a call needs several statements, each within the statement timeout, and its latency is
// their sum.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProblemCode } from '../../src/problem.ts';
import { type Call, callOnce } from '../support/faults/callers.ts';
import { Installation } from '../support/faults/installation.ts';
import type { TestResponse } from '../support/http.ts';

/** Delays of each response of the database, below the statement timeout. */
const DELAYS_MS = [300, 700, 1_200, 1_900];
/** Time from the arrival of a request until its last step has ended. */
const LAST_STEP_MS = 4_000;
const PATCHES = 40;
const LIST = '/v1/user-groups?search=slow';

describe('A slow database', () => {
  let site: Installation;
  before(async () => {
    site = await Installation.start();
  });
  afterEach(async () => {
    site.proxy.delayMs = 0;
    site.proxy.heal();
    await site.waitForRecovery();
  });
  after(() => site[Symbol.asyncDispose]());

  /** Sends a call; a list or patch that waits too long for the others is refused as overloaded. */
  function callOnSlow(call: Call): ReturnType<typeof callOnce> {
    const refusals: ProblemCode[] = ['database_unavailable'];
    if (call.path === LIST || call.method === 'PATCH') refusals.push('overloaded');
    return callOnce(site.services[0]!, site.token, call, refusals);
  }

  for (const delayMs of DELAYS_MS) {
    it(`with a delay of ${delayMs} ms causes responses within the limit for every operation`, async () => {
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
        { path: LIST },
        { method: 'PATCH', path, body: { properties: { a: 1 } } },
        { method: 'DELETE', path: `${path}-none` },
        { path: '/readyz' },
      ];
      site.proxy.delayMs = delayMs;
      // Concurrent calls form one batch and wait for each other.
      const responses = await Promise.all([...calls, ...calls, ...calls].map((call) => callOnSlow(call)));
      assertSome(responses, delayMs === DELAYS_MS[0] ? 200 : 503);
    });
  }

  it('responds within the limit to a page of the console', async () => {
    const [service] = site.services;
    await site.get('shown', 'Shown');
    const signedIn = await service!.send({
      method: 'POST',
      path: '/console/sign-in',
      token: null,
      body: `api_token=${site.token}`,
      headers: { origin: service!.url, 'content-type': 'application/x-www-form-urlencoded' },
    });
    const [cookie] = signedIn.headers['set-cookie']![0]!.split(';', 1);
    const open = () =>
      service!.send({ path: '/console/user-groups/shown', token: null, headers: { cookie: cookie! } });
    assert.equal((await open()).status, 200);
    site.proxy.delayMs = 1_400;
    const startedAt = performance.now();
    await open();
    const tookMs = performance.now() - startedAt;
    assert.ok(tookMs < LAST_STEP_MS, `${tookMs} ms`);
  });

  it('lists the events before an earlier time, although it has no time to search for them', async () => {
    await site.get('listed', 'Listed');
    site.proxy.delayMs = 200;
    const { status } = await site.call({ path: '/v1/events?until=2026-01-01T00:00:00Z' });
    assert.equal(status, 200);
  });

  it('lists a part of a long history, although it has no time to read all of it', async () => {
    await site.get('renamed-0', 'Renamed');
    for (let index = 0; index < 40; index++) {
      const body = { user_group_id: `renamed-${index + 1}` };
      const path = `/v1/user-groups/renamed-${index}/rename`;
      assert.equal((await site.call({ method: 'POST', path, body })).status, 200);
    }
    site.proxy.delayMs = 50;
    for (const order of ['newest', 'oldest']) {
      const path = `/v1/user-groups/renamed-40/events?order=${order}`;
      const { status, text, json } = await site.call({ path });
      assert.equal(status, 200, `${order}: ${text}`);
      const next = await site.call({ path: `${path}&cursor=${json.next_cursor}` });
      assert.equal(next.status, 200, `${order}: ${next.text}`);
      assert.notEqual(next.json.next_cursor, json.next_cursor);
    }
  });

  it('responds within the limit to conflicting patches of one group', async () => {
    await site.get('patched', 'Patched');
    site.proxy.delayMs = 20;
    const patch = (key: string): Promise<TestResponse> => {
      const path = '/v1/user-groups/patched';
      return callOnSlow({ method: 'PATCH', path, body: { properties: { [key]: 1 } } });
    };
    const keys = Array.from({ length: PATCHES }, (_, index) => `key-${index}`);
    const responses = await Promise.all(keys.map(patch));
    assertSome(responses, 200);
    assertSome(responses, 503);
    site.proxy.delayMs = 0;
    const { json } = await site.call({ path: '/v1/user-groups/patched' });
    const acknowledged = keys.filter((_, index) => responses[index]!.status === 200);
    for (const key of acknowledged) assert.equal(json.user_group.properties[key], 1);
  });

  it('that cannot lease ids causes a 503 within the limit for creates, including those that wait for the lease of another', async () => {
    const fresh = await site.serve();
    try {
      site.proxy.decide = (subject) => (subject === 'lease_ids' ? 'silence' : 'pass');
      const calls: Promise<TestResponse>[] = [];
      for (let index = 0; index < 20; index++) {
        calls.push(site.callTo(fresh, { body: { user_group_id: `new-${index}`, name: 'New' } }));
        await sleep(100);
      }
      for (const { status } of await Promise.all(calls)) assert.equal(status, 503);
    } finally {
      site.proxy.heal();
      await site.stopLast();
    }
  });

  function assertSome(responses: readonly TestResponse[], status: number): void {
    assert.ok(
      responses.some((response) => response.status === status),
      `none of ${responses.length} responses has the status ${status}`,
    );
  }
});
