// Contract: requests beyond the queue limit are rejected immediately with Retry-After, and change nothing.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../../bench/median.ts';
import { describeOnEachDatabase, postgres } from '../support/database.ts';
import { FaultProxy } from '../support/faults/proxy.ts';
import type { TestResponse } from '../support/http.ts';
import { eventually, Folder, serve } from '../support/process.ts';
import { type LogEntry, TestService } from '../support/service.ts';
import { seenAgain } from '../support/tenant-activity.ts';

const CALLS = 400;

/**
 * Whether the call was rejected because of the queue. On a busy machine the database may also take too long for some of
 * many calls, which are `database_unavailable`: their changes may have been applied.
 */
const isRejected = ({ json }: TestResponse) => json.code === 'overloaded';
const isLate = ({ json }: TestResponse) => json.code === 'database_unavailable';

function assertMostlyRejected(responses: readonly TestResponse[]): void {
  const [rejected, late] = [isRejected, isLate].map((is) => responses.filter(is).length);
  assert.ok(rejected! > late!, `${rejected} rejected, ${late} late`);
}

describeOnEachDatabase('overload', (database) => {
  const service = TestService.of(database, { env: { UGS_QUEUE_LIMIT: '2' }, returnsOverloaded: true });

  it('serves requests up to the limit and rejects the rest with 503 and Retry-After', async () => {
    const ids = Array.from({ length: CALLS }, (_, index) => `group-${index}`);
    const responses = await Promise.all(ids.map((id) => service.get({ user_group_id: id, name: id })));
    const served = responses.filter(({ status }) => status === 200);
    const rejected = responses.filter(isRejected);
    assert.ok(served.length > 0);
    assertMostlyRejected(responses);
    assert.equal(served.length + rejected.length + responses.filter(isLate).length, CALLS);
    for (const { status, headers } of rejected) {
      assert.equal(status, 503);
      assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
    }
    for (const { json } of served) assert.equal(json.new_user_group, true);
  });

  it('executes no rejected request, and recovers', async () => {
    const body = { user_group_id: 'race', name: 'Race' };
    const responses = await Promise.all(Array.from({ length: CALLS }, () => service.get(body)));
    const created = responses.filter(({ json }) => json.new_user_group === true);
    assert.ok(created.length <= 1);
    assertMostlyRejected(responses);
    const again = await service.get(body);
    assert.equal(again.status, 200);
    if (!responses.some(isLate)) assert.equal(again.json.new_user_group, created.length === 0);
    for (let call = 0; call < 20; call++) assert.equal((await service.get(body)).status, 200);
  });

  it('delays rejections while several tenants are active: repeating them leaves time for others', async () => {
    seenAgain(service.app.context.activity);
    const call = async (id: string): Promise<{ status: number; tookMs: number }> => {
      const startedAt = performance.now();
      const { status } = await service.get({ user_group_id: id, name: id });
      return { status, tookMs: performance.now() - startedAt };
    };
    const calls = await Promise.all(Array.from({ length: CALLS }, (_, index) => call(`delayed-${index}`)));
    const rejected = calls.filter(({ status }) => status === 503);
    assert.ok(rejected.length > 0);
    for (const { tookMs } of rejected) assert.ok(tookMs >= 400, `${tookMs} ms`);
  });

  it('keeps a token unchanged if its rotation is rejected', async () => {
    const tokens: string[] = [];
    for (let index = 0; index < 100; index++) {
      const created = await service.get({ user_group_id: `rotated-${index}`, name: 'R' });
      tokens.push(created.json.user_group.token);
    }
    const responses = await Promise.all(tokens.map((token) => service.post({ current_token: token })));
    assertMostlyRejected(responses);
    for (const [index, token] of tokens.entries()) {
      if (isLate(responses[index]!)) continue;
      const { status } = await service.resolve(token);
      assert.equal(status, responses[index]?.status === 200 ? 404 : 200);
    }
  });

  it('is logged as a warning that names the request', async () => {
    // Earlier tests may have used up the log lines of the current second.
    await sleep(1_000);
    const ids = Array.from({ length: CALLS }, (_, index) => `logged-${index}`);
    const responses = await Promise.all(ids.map((id) => service.get({ user_group_id: id, name: id })));
    const { json } = responses.find(isRejected)!;
    const isRefusal = ({ requestId, code }: LogEntry) => requestId === json.request_id && code !== undefined;
    const entry = await service.logEntry('the refusal', isRefusal);
    assert.deepEqual([entry.level, entry.code], [40, 'overloaded']);
  });

  it('is logged in at most 100 lines per second, with the number of suppressed lines', async () => {
    const startedAt = performance.now();
    service.logLines.length = 0;
    let rejected = 0;
    const overload = async () => {
      const calls = Array.from({ length: CALLS }, () => service.get({ user_group_id: 'flood', name: 'F' }));
      rejected += (await Promise.all(calls)).filter(isRejected).length;
    };
    while (rejected < 3 * CALLS) await overload();
    // The first line of the next second has the count of this one.
    await sleep(1_000);
    const before = rejected;
    await overload();
    const lines = service.logLines.map((line) => JSON.parse(line)).filter(({ level }) => level === 40);
    const seconds = Math.ceil((performance.now() - startedAt) / 1_000) + 1;
    assert.ok(lines.length <= 100 * seconds, `${lines.length} lines in ${seconds} seconds`);
    const counted = lines.reduce((sum, { unlogged = 0 }) => sum + 1 + unlogged, 0);
    assert.ok(counted >= before, `${counted} of ${before}`);
  });
});

describeOnEachDatabase('Callers who list continuously', (database) => {
  const LISTERS = 8;
  const SECONDS = 1;
  const MAX_ATTEMPTS = 9;
  const service = TestService.of(database, { returnsOverloaded: true });
  before(async () => {
    for (let group = 0; group < 20; group++) {
      const properties = { text: 'x'.repeat(60_000) };
      await service.get({ user_group_id: `${group}`, name: 'Large', properties });
    }
  });

  it('complete fewer than half as many lists while other requests arrive', async () => {
    await countLists();
    const attempts: { alone: number; shared: number }[] = [];
    const shareOfLast = () => median(attempts.slice(-3).map(({ alone, shared }) => shared / alone));
    // On a busy machine, the lists wait for the processor and not for each other.
    while (attempts.length < 3 || (attempts.length < MAX_ATTEMPTS && shareOfLast() >= 1 / 2)) {
      // Lists are throttled for a second after the last other request.
      await sleep(1_500);
      const alone = await countLists();
      const end = performance.now() + SECONDS * 1_000;
      const [shared] = await Promise.all([countLists(), callUntil(end)]);
      attempts.push({ alone, shared });
    }
    assert.ok(shareOfLast() > 0 && shareOfLast() < 1 / 2, JSON.stringify(attempts));
  });

  async function countLists(): Promise<number> {
    let completed = 0;
    const end = performance.now() + SECONDS * 1_000;
    const list = async () => {
      while (performance.now() < end) {
        const { status } = await service.call('GET', '/v1/user-groups');
        if (status === 200) completed++;
        else await sleep(10);
      }
    };
    await Promise.all(Array.from({ length: LISTERS }, list));
    return completed;
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
  it('rejects requests immediately, but none that it has admitted', async (test) => {
    const database = await postgres.create();
    const proxy = await FaultProxy.start(database.url);
    // Without events, no process looks for webhooks to deliver, which would take a place in the queue.
    const env = { UGS_QUEUE_LIMIT: '1', UGS_EVENT_RETENTION_DAYS: '0' };
    const slow = { ...database, env: { ...database.env, DATABASE_URL: proxy.url } };
    const service = await TestService.start(postgres, { database: slow, env, returnsOverloaded: true });
    test.after(async () => {
      await service.end();
      await proxy[Symbol.asyncDispose]();
    });
    const body = { user_group_id: 'here', name: 'Here' };
    await service.get(body);
    proxy.delayMs = DELAY_MS;
    // Two batches are in flight, the third call fills the queue, and the fourth is rejected.
    const inTime = await eventually('four calls that arrive before the first response', async () => {
      const startedAt = performance.now();
      const answered: TestResponse[] = [];
      const calls: Promise<unknown>[] = [];
      for (let call = 0; call < 4; call++) {
        calls.push(service.get(body).then((response) => answered.push(response)));
        await sleep(DELAY_MS / 10);
      }
      await Promise.race(calls);
      const isInTime = performance.now() - startedAt < DELAY_MS;
      await Promise.all(calls);
      return isInTime && answered;
    });
    const [rejected, ...admitted] = inTime;
    assert.deepEqual([rejected!.status, rejected!.json.code], [503, 'overloaded']);
    assert.deepEqual(
      admitted.map(({ status }) => status),
      [200, 200, 200],
    );
  });
});

describe('A process that is stalled briefly', () => {
  const CONNECTIONS = 2_000;
  const skip = maxBacklog() < CONNECTIONS && 'the listen backlog of the system is smaller';
  it('still accepts connections into its backlog', { skip }, async () => {
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

  it('rejects no list because of the stall, not even one in flight', async (test) => {
    const database = await postgres.create();
    const proxy = await FaultProxy.start(database.url);
    const slow = { ...database, env: { ...database.env, DATABASE_URL: proxy.url } };
    const service = await TestService.start(postgres, { database: slow, returnsOverloaded: true });
    test.after(async () => {
      await service.end();
      await proxy[Symbol.asyncDispose]();
    });
    const list = () => service.call('GET', '/v1/user-groups');
    // Lists are throttled only if there are other requests.
    await service.get({ user_group_id: 'here', name: 'Here' });
    proxy.delayMs = 200;
    const interrupted = list();
    // Authentication takes the first round trip.
    await sleep(300);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    assert.equal((await interrupted).status, 200);
    proxy.delayMs = 0;
    assert.equal((await list()).status, 200);
  });
});

/** Returns the system's limit on the listen backlog. */
function maxBacklog(): number {
  const setting = '/proc/sys/net/core/somaxconn';
  return existsSync(setting) ? Number(readFileSync(setting, 'utf8')) : 0;
}
