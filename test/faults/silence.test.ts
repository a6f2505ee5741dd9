// A database that says nothing any more: a frozen machine, a firewall that forgets connections, a broken route. No
// error tells of it; only time does.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ANSWER_LIMIT_MS } from './callers.ts';
import { FAULT_MS, Installation } from './installation.ts';

/** As many as wait at once for a busy process. */
const CROWD = 1_200;
/** A connection that is not answered takes longer than this. */
const SOON_MS = 1_800;
const SHUTDOWN_LIMIT_MS = 5_000;

describe('A silent database', () => {
  let site: Installation;
  before(async () => {
    site = await Installation.start({ processes: 2 });
  });
  beforeEach(async () => {
    site.proxy.heal();
    await site.untilBack();
  });
  after(() => site[Symbol.asyncDispose]());

  it('is told to every caller in time, makes the service not ready, and costs nothing acknowledged', async (test) => {
    using callers = site.callers();
    await sleep(500);
    site.proxy.silence('all');
    await site.untilNotReady();
    await sleep(FAULT_MS);
    site.proxy.heal();
    await site.untilBack(test);
    await callers.stopAndCheck();
    test.diagnostic(callers.story);
    assert.ok(callers.unavailable > 0);
  });

  it('is told to all of a crowd as soon as to the first of them', async () => {
    site.proxy.silence('all');
    const { url } = site.services[0]!;
    const startedAt = performance.now();
    const crowd = Array.from({ length: CROWD }, async () => {
      // Not as the other tests call: each of these has a connection of its own.
      const answer = await fetch(`${url}/v1/resolve`, {
        method: 'POST',
        headers: { authorization: `Token ${site.token}` },
        body: '{"token":"unknown"}',
      });
      const { code } = (await answer.json()) as { code: string };
      assert.equal(answer.status, 503);
      return { code, at: performance.now() };
    });
    const answers = await Promise.all(crowd);
    for (const { at } of answers) assert.ok(at - startedAt < ANSWER_LIMIT_MS);
    // Those who find too many before them are turned away sooner.
    const answeredAt = answers.filter(({ code }) => code === 'database_unavailable').map(({ at }) => at);
    assert.ok(answeredAt.length > 0);
    const spreadMs = Math.max(...answeredAt) - Math.min(...answeredAt);
    assert.ok(spreadMs < SOON_MS, `the last was answered ${Math.round(spreadMs)} ms after the first`);
  });

  it('is told at once to those who come after the first has found out', async () => {
    site.proxy.silence('all');
    await site.get('first');
    const startedAt = performance.now();
    assert.equal((await site.get('second')).status, 503);
    assert.ok(performance.now() - startedAt < SOON_MS);
  });

  it('on open connections only is left for new ones, and everybody is served again', async (test) => {
    using callers = site.callers();
    await sleep(200);
    site.proxy.silence('open');
    await site.untilBack(test);
    await callers.stopAndCheck();
    test.diagnostic(callers.story);
  });

  it('on one connection costs only those whose request is on it', async () => {
    const lost = site.proxy.once('find_user_groups', 'silence');
    const first = site.get('one', 'One');
    await lost;
    assert.equal((await site.get('other', 'Other')).status, 200);
    assert.equal((await first).status, 503);
  });

  it('does no update that its caller has given up, over one that was acknowledged since', async () => {
    await site.get('late', 'Name');
    void site.proxy.once('update_user_groups', 'silence');
    assert.equal((await site.put('late', 'Given up')).status, 503);
    assert.equal((await site.put('late', 'Acknowledged')).status, 200);
    site.proxy.heal();
    await sleep(500);
    assert.equal((await site.get('late')).json.user_group.name, 'Acknowledged');
  });

  it('does not keep a process from ending in order', async () => {
    const service = await site.serve();
    site.proxy.silence('all');
    service.signal('SIGTERM');
    assert.equal((await service.exit(SHUTDOWN_LIMIT_MS)).code, 0);
    site.services.pop();
  });
});
