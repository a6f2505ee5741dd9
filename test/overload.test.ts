// Contract: more work than can wait is refused at once, told when to come back, and leaves no trace.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeOnEachDatabase, postgres } from './database.ts';
import { FaultProxy } from './faults/proxy.ts';
import { Folder, serve } from './process.ts';
import { TestService } from './service.ts';

const CALLS = 400;

describeOnEachDatabase('overload', (database) => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(database, { env: { UGS_QUEUE_LIMIT: '2' } });
  });
  after(() => service.end());

  it('answers what it can and refuses the rest with 503 and Retry-After', async () => {
    const ids = Array.from({ length: CALLS }, (_, index) => `group-${index}`);
    const answers = await Promise.all(ids.map((id) => service.get({ user_group_id: id, name: id })));
    const served = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    assert.ok(served.length > 0);
    assert.ok(refused.length > 0);
    for (const { status, json, headers } of refused) {
      assert.deepEqual([status, json.code], [503, 'overloaded']);
      assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
    }
    for (const { json } of served) assert.equal(json.new_user_group, true);
  });

  it('has done nothing of what it refused, and recovers', async () => {
    const body = { user_group_id: 'race', name: 'Race' };
    const answers = await Promise.all(Array.from({ length: CALLS }, () => service.get(body)));
    const created = answers.filter(({ json }) => json.new_user_group === true);
    assert.ok(created.length <= 1);
    const again = await service.get(body);
    assert.equal(again.status, 200);
    assert.equal(again.json.new_user_group, created.length === 0);
    for (let call = 0; call < 20; call++) assert.equal((await service.get(body)).status, 200);
  });

  it('leaves a token as it was where it refused to rotate it', async () => {
    const tokens: string[] = [];
    for (let index = 0; index < 100; index++) {
      const created = await service.get({ user_group_id: `rotated-${index}`, name: 'R' });
      tokens.push(created.json.user_group.token);
    }
    const answers = await Promise.all(tokens.map((token) => service.post({ current_token: token })));
    assert.ok(answers.some(({ status }) => status === 503));
    for (const [index, token] of tokens.entries()) {
      const { status } = await service.resolve(token);
      assert.equal(status, answers[index]?.status === 200 ? 404 : 200);
    }
  });

  it('is logged as a warning that names the request', async () => {
    // The lines of the second in which the calls before were refused may be used up.
    await sleep(1_000);
    const ids = Array.from({ length: CALLS }, (_, index) => `logged-${index}`);
    const answers = await Promise.all(ids.map((id) => service.get({ user_group_id: id, name: id })));
    const { json } = answers.find(({ status }) => status === 503)!;
    const entry = service.logLines
      .map((line) => JSON.parse(line))
      .find(({ requestId, code }) => requestId === json.request_id && code !== undefined);
    assert.deepEqual([entry.level, entry.code], [40, 'overloaded']);
  });

  it('is logged in no more than a hundred lines a second, which count the others', async () => {
    const startedAt = performance.now();
    service.logLines.length = 0;
    let refused = 0;
    const overload = async () => {
      const calls = Array.from({ length: CALLS }, () => service.get({ user_group_id: 'flood', name: 'F' }));
      refused += (await Promise.all(calls)).filter(({ status }) => status === 503).length;
    };
    while (refused < 3 * CALLS) await overload();
    // A line of the next second tells of the one before.
    await sleep(1_000);
    const before = refused;
    await overload();
    const lines = service.logLines.map((line) => JSON.parse(line)).filter(({ level }) => level === 40);
    const seconds = Math.ceil((performance.now() - startedAt) / 1_000) + 1;
    assert.ok(lines.length <= 100 * seconds, `${lines.length} lines in ${seconds} seconds`);
    const counted = lines.reduce((sum, { unlogged = 0 }) => sum + 1 + unlogged, 0);
    assert.ok(counted >= before, `${counted} of ${before}`);
  });
});

describeOnEachDatabase('Callers who list all the time', (database) => {
  const LISTERS = 8;
  const SECONDS = 1;
  let service: TestService;
  before(async () => {
    service = await TestService.start(database);
    for (let group = 0; group < 20; group++) {
      const properties = { text: 'x'.repeat(60_000) };
      await service.get({ user_group_id: `${group}`, name: 'Large', properties });
    }
  });
  after(() => service.end());

  it('have less than half of the lists while others call', async () => {
    // It rests for as long as others have called.
    await sleep(2_000);
    const alone = await listsMade();
    const end = performance.now() + SECONDS * 1_000;
    const [beside] = await Promise.all([listsMade(), callUntil(end)]);
    assert.ok(beside > 0 && beside < alone / 2, `${alone} lists alone and ${beside} beside others`);
  });

  async function listsMade(): Promise<number> {
    let made = 0;
    const end = performance.now() + SECONDS * 1_000;
    const list = async () => {
      while (performance.now() < end) {
        const { status } = await service.call('GET', '/v1/user-groups');
        if (status === 200) made++;
        else await sleep(10);
      }
    };
    await Promise.all(Array.from({ length: LISTERS }, list));
    return made;
  }

  async function callUntil(end: number): Promise<void> {
    while (performance.now() < end) {
      assert.equal((await service.get({ user_group_id: '0' })).status, 200);
      await sleep(10);
    }
  }
});

describe('A service whose database is slow', () => {
  const DELAY_MS = 400;
  it('refuses at once, and not what it has let in', async (test) => {
    const database = await postgres.create();
    const proxy = await FaultProxy.start(database.url);
    const env = { UGS_QUEUE_LIMIT: '1' };
    const slow = { ...database, env: { ...database.env, DATABASE_URL: proxy.url } };
    const service = await TestService.start(postgres, { database: slow, env });
    test.after(async () => {
      await service.end();
      await proxy[Symbol.asyncDispose]();
    });
    const body = { user_group_id: 'here', name: 'Here' };
    await service.get(body);
    proxy.delayMs = DELAY_MS;
    const letIn = [];
    // Two batches are under way, and a third call is the queue.
    for (let call = 0; call < 3; call++) {
      letIn.push(service.get(body));
      await sleep(DELAY_MS / 10);
    }
    const refused = await service.get(body);
    const isAnyAnswered = await Promise.race([Promise.any(letIn), sleep(0)]);
    assert.deepEqual([refused.status, refused.json.code], [503, 'overloaded']);
    assert.equal(isAnyAnswered, undefined);
    const statuses = (await Promise.all(letIn)).map(({ status }) => status);
    assert.deepEqual(statuses, [200, 200, 200]);
  });
});

describe('A process that has no time for a moment', () => {
  const CONNECTIONS = 2_000;
  const skip = mostPending() < CONNECTIONS && 'the system lets fewer connections wait';
  it('keeps nobody from connecting meanwhile', { skip }, async () => {
    using folder = new Folder();
    await using service = await serve(folder);
    const port = Number(new URL(service.url).port);
    service.signal('SIGSTOP');
    const sockets = Array.from({ length: CONNECTIONS }, () => connect(port, '127.0.0.1'));
    let connected = 0;
    const all = Promise.all(sockets.map((socket) => once(socket, 'connect').then(() => connected++)));
    await Promise.race([all, sleep(5_000)]);
    service.signal('SIGCONT');
    for (const socket of sockets) socket.destroy();
    assert.equal(connected, CONNECTIONS);
  });

  it('turns no list away because of it, also where it was in the middle of one', async (test) => {
    const database = await postgres.create();
    const proxy = await FaultProxy.start(database.url);
    const slow = { ...database, env: { ...database.env, DATABASE_URL: proxy.url } };
    const service = await TestService.start(postgres, { database: slow });
    test.after(async () => {
      await service.end();
      await proxy[Symbol.asyncDispose]();
    });
    const list = () => service.call('GET', '/v1/user-groups');
    // Others call too.
    await service.get({ user_group_id: 'here', name: 'Here' });
    proxy.delayMs = 200;
    const cutShort = list();
    // Its API token is asked for first.
    await sleep(300);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    assert.equal((await cutShort).status, 200);
    proxy.delayMs = 0;
    assert.equal((await list()).status, 200);
  });
});

/** What the system allows. */
function mostPending(): number {
  const setting = '/proc/sys/net/core/somaxconn';
  return existsSync(setting) ? Number(readFileSync(setting, 'utf8')) : 0;
}
