// One server takes over from another, and the address leads to the new one. What was acknowledged is on both.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../process.ts';
import { Installation } from './installation.ts';
import { parameterStatus } from './protocol.ts';
import { OwnServer } from './server.ts';

for (const [title, endOld] of [
  ['ends in order', (_site: Installation, old: OwnServer) => old.stop('in order')],
  ['crashes', (_site: Installation, old: OwnServer) => old.stop('by a crash')],
  ['falls silent', async (site: Installation) => site.proxy.silence('open')],
] as const) {
  describe(`A failover from a server that ${title}`, () => {
    const pair = startPair();

    it('costs nothing acknowledged, shows nothing old, and the service is back soon after', async (test) => {
      const { site, primary, standby } = pair;
      using callers = site.callers();
      await sleep(500);
      await endOld(site, primary);
      // The address is often faster than the server that it leads to.
      site.proxy.target = new URL(standby.database.url);
      await sleep(1_000);
      await standby.promote();
      await site.untilBack(test);
      await sleep(300);
      await callers.stopAndCheck();
      test.diagnostic(callers.story);
    });
  });
}

describe('A failover to a standby that has lost what was acknowledged', () => {
  const pair = startPair();

  it('gives no two groups one team_id, whichever processes go on', async () => {
    const { site, primary, standby } = pair;
    await standby.stop('in order');
    await primary.run("alter system set synchronous_standby_names = ''");
    await primary.run('select pg_reload_conf()');
    // Ids that the standby knows nothing of.
    for (const service of site.services) await create(service, 'lost');
    await primary.stop('by a crash');
    await standby.start();
    await standby.promote();
    site.proxy.target = new URL(standby.database.url);
    await site.untilBack();
    await site.serve();
    const teamIds: number[] = [];
    for (let round = 0; round < 3; round++) {
      for (const service of site.services) teamIds.push(await create(service, `kept-${teamIds.length}`));
    }
    assert.equal(new Set(teamIds).size, teamIds.length, teamIds.join());
  });

  async function create(service: Service, id: string): Promise<number> {
    const body = { user_group_id: id, name: id };
    const { status, json } = await pair.site.callTo(service, { body });
    assert.equal(status, 200);
    return json.user_group.team_id;
  }
});

describe('A standby that commits wait for', () => {
  const pair = startPair();

  it('and that is gone is told to those who write, while those who read are served', async (test) => {
    const { site, standby } = pair;
    const { json } = await site.get('there', 'There');
    using callers = site.callers();
    await sleep(300);
    await standby.stop('in order');
    await site.untilNotReady();
    assert.equal((await site.get('new', 'New')).status, 503);
    assert.equal((await site.put('there', 'Other')).status, 503);
    assert.deepEqual((await site.get('there')).json.user_group, json.user_group);
    await standby.start();
    await site.untilBack(test);
    await callers.stopAndCheck();
    test.diagnostic(callers.story);
  });
});

describe('A standby to which the address leads', () => {
  const pair = startPair();

  it('is used for nothing, although it could be read, and is asked by few', async () => {
    const { site, primary, standby } = pair;
    const { json } = await site.get('there', 'There');
    await standby.pauseReplay();
    const rotated = await site.rotate(json.user_group.token);
    lead(standby);
    await site.untilNotReady();
    const { opened } = site.proxy;
    const startedAt = performance.now();
    while (performance.now() - startedAt < 1_000) {
      const stale = { method: 'POST', path: '/v1/resolve', body: { token: json.user_group.token } };
      const answers = await Promise.all([site.get('there'), site.call(stale)]);
      for (const { status } of answers) assert.equal(status, 503);
    }
    // A connection each tenth of a second, of each process.
    assert.ok(site.proxy.opened - opened <= 2 * 11, `${site.proxy.opened - opened} connections in a second`);
    lead(primary);
    await site.untilBack();
    assert.equal((await site.get('there')).json.user_group.token, rotated.json.user_group.token);
  });

  it('refuses a process that starts', async () => {
    const { site, primary, standby } = pair;
    lead(standby);
    const waiting = site.serve({ UGS_DATABASE_WAIT_MS: '0' });
    await assert.rejects(waiting, /the server is a standby/);
    lead(primary);
    await site.untilBack();
  });

  function lead(server: OwnServer): void {
    pair.site.proxy.target = new URL(server.database.url);
    pair.site.proxy.cut();
  }
});

describe('A server that a pooler still takes for a standby', () => {
  let site: Installation;
  before(async () => {
    site = await Installation.start();
  });
  after(() => site[Symbol.asyncDispose]());

  it('is asked itself, and used', async () => {
    const off = parameterStatus('in_hot_standby', 'off');
    let reports = 0;
    site.proxy.rewrite = (message) => {
      if (!message.equals(off)) return message;
      reports++;
      return parameterStatus('in_hot_standby', 'on');
    };
    site.proxy.cut();
    await site.untilBack();
    assert.ok(reports > 0);
  });
});

/** Before the tests of a suite: a server, its standby, which commits wait for, and two processes on the server. */
function startPair(): { primary: OwnServer; standby: OwnServer; site: Installation } {
  const pair = {} as ReturnType<typeof startPair>;
  before(async () => {
    pair.primary = await OwnServer.start();
    pair.site = await Installation.start({ processes: 2, database: pair.primary.database });
    pair.standby = await pair.primary.startStandby();
  });
  after(async () => {
    await pair.site[Symbol.asyncDispose]();
    // It may not have started.
    await pair.standby?.drop();
  });
  return pair;
}
