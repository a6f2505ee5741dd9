// A connection that breaks at the worst moment: what was asked is done, and nobody has been told. Whoever asked
// cannot know, and asks again.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestAnswer } from '../http.ts';
import { run } from '../process.ts';
import { FAULT_MS, Installation, within } from './installation.ts';
import { completes, errorResponse, type ServerError } from './protocol.ts';
import type { Fate, FaultProxy } from './proxy.ts';

/** More than any answer to a statement that writes has; each of them breaks somewhere. */
const ANSWER_BYTES = 400;
/** In a longer run, at every byte. */
const STEP_BYTES = process.env.FAULT_SECONDS ? 1 : 37;
/** Of the requests to the database under load, one in so many is lost. */
const LOST_ONE_IN = 13;
/** On a machine that has much else to do. */
const BUSY_LIMIT_MS = 20_000;
/** How the coordinator of a cluster says that it has lost a node. */
const LOST_NODES: ServerError[] = [
  { code: '08006' },
  ...['MarkRemoteTransactionFailed', 'CheckRemoteTransactionsHealth', 'ReportResultError'].map((routine) => ({
    code: 'XX000',
    routine,
  })),
];

describe('A lost answer of the database', () => {
  let site: Installation;
  before(async () => {
    site = await Installation.start({ processes: 2 });
  });
  afterEach(() => {
    site.proxy.decide = () => 'pass';
  });
  after(() => site[Symbol.asyncDispose]());

  const eachCut = async (statement: string, test: (cut: number) => Promise<void>): Promise<void> => {
    for (let bytes = 0; bytes < ANSWER_BYTES; bytes += STEP_BYTES) {
      const lost = site.proxy.once(statement, { answerBytes: bytes });
      await test(bytes);
      await lost;
    }
  };

  it('to a create, at whatever byte, creates once and tells the caller that the group is new', () =>
    eachCut('create_user_groups', async (cut) => {
      const created = await site.get(`create-${cut}`, 'Lost');
      assert.equal(created.json.new_user_group, true);
      assertVersion(created, 1);
      const found = await site.get(`create-${cut}`, 'Lost');
      assert.equal(found.json.new_user_group, false);
      assert.deepEqual(found.json.user_group, created.json.user_group);
    }));

  for (const [where, lose] of [
    ['on its way', (proxy: FaultProxy) => proxy.once('create_user_groups', { answerBytes: 0 })],
    [
      'by a node of the database',
      (proxy: FaultProxy) => {
        loseNode(proxy, 'INSERT', LOST_NODES[0]!);
        return proxy.once('create_user_groups', 'pass');
      },
    ],
  ] as const) {
    it(`to a create, ${where}, does not bring back what was made, and deleted before that was noticed`, () =>
      assertNotBroughtBack(lose));
  }

  async function assertNotBroughtBack(lose: (proxy: FaultProxy) => Promise<void>): Promise<void> {
    await using slow = await Installation.start();
    const direct = await slow.serve({ DATABASE_URL: slow.database.url });
    // The lease of ids, which the next create would wait for.
    await slow.get('first', 'Lost');
    const path = '/v1/user-groups/deleted';
    const asked = lose(slow.proxy);
    const creating = slow.get('deleted', 'Lost');
    await asked;
    // The answer is on its way until the group is deleted.
    slow.proxy.silence('open');
    let read = await slow.callTo(direct, { path });
    await within(BUSY_LIMIT_MS, 'the group to be made', async () => {
      read = await slow.callTo(direct, { path });
      return read.status === 200;
    });
    const { token, team_id } = read.json.user_group;
    assert.equal((await slow.callTo(direct, { method: 'DELETE', path })).status, 204);
    slow.proxy.heal();
    const created = await creating;
    const body = { token };
    assert.equal((await slow.call({ method: 'POST', path: '/v1/resolve', body })).status, 404);
    // A machine that is too busy for it has no time left to try again.
    if (created.status === 503) return;
    assert.equal(created.json.new_user_group, true);
    assert.notEqual(created.json.user_group.team_id, team_id);
  }

  it('to a rotation, at whatever byte, rotates once and gives the caller the new token', async () => {
    let { token } = (await site.get('rotate', 'Lost')).json.user_group;
    let version = 1;
    await eachCut('rotate_tokens', async () => {
      const rotated = await site.rotate(token);
      assertVersion(rotated, ++version);
      assert.equal((await resolve(token)).status, 404);
      ({ token } = rotated.json.user_group);
      assert.equal((await resolve(token)).status, 200);
    });
  });

  it('to an update, at whatever byte, is a 503, after which the call can be repeated', async () => {
    await site.get('update', 'Lost');
    let version = 1;
    await eachCut('commit', async (cut) => {
      const name = `Lost ${cut}`;
      const first = await site.put('update', name);
      const second = first.status === 200 ? first : await site.put('update', name);
      assert.equal(second.json.user_group.name, name);
      assertVersion(second, ++version);
    });
  });

  for (const error of LOST_NODES) {
    const id = Object.values(error).join(' ');
    it(`to the COMMIT of an update, by a node of the database, is a 503: ${id}`, async () => {
      await site.get(id, 'Lost');
      loseNode(site.proxy, 'COMMIT', error);
      assert.equal((await site.put(id, 'Done')).status, 503);
      const found = await site.get(id);
      assert.equal(found.json.user_group.name, 'Done');
      assertVersion(found, 2);
    });
  }

  it('to a look-up, at whatever byte, is not noticed by anybody', async () => {
    await site.get('look-up', 'Lost');
    await eachCut('find_user_groups', async () => {
      assert.equal((await site.get('look-up')).status, 200);
    });
  });

  it('to a look-up is not noticed either where statements have little time', async () => {
    await using impatient = await Installation.start({ env: { UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '500' } });
    await impatient.get('look-up', 'Lost');
    const lost = impatient.proxy.once('find_user_groups', { answerBytes: 0 });
    assert.equal((await impatient.get('look-up')).status, 200);
    await lost;
  });

  it('to an update on a condition is a 503, after which the group tells whether it was done', async () => {
    const { headers } = await site.get('condition', 'Lost');
    const lost = site.proxy.once('commit', { answerBytes: 0 });
    const ifMatch = { 'if-match': headers.etag! };
    assert.equal((await site.put('condition', 'Done', ifMatch)).status, 503);
    await lost;
    assert.equal((await site.put('condition', 'Done', ifMatch)).status, 412);
    const found = await site.get('condition');
    assert.equal(found.json.user_group.name, 'Done');
    assertVersion(found, 2);
  });

  for (const [title, fate] of [
    ['that was done', { answerBytes: 0 }],
    ['that never arrived', 'cut'],
  ] as [string, Fate][]) {
    it(`to a COMMIT ${title} does everything in it once`, async () => {
      const id = `A group that ${title}`;
      const imported = randomBytes(32).toString('hex');
      await importGroup({ user_group_id: id, name: 'Lost', token: imported });
      const first = await site.rotate(imported);
      // It takes the imported token away too.
      const lost = site.proxy.once('commit', fate);
      const second = await site.rotate(first.json.user_group.token);
      await lost;
      assertVersion(second, 3);
      const found = await site.get(id);
      assertVersion(found, 3);
      assert.equal(found.json.user_group.token, second.json.user_group.token);
      assert.equal((await resolve(second.json.user_group.token)).status, 200);
      assert.equal((await resolve(imported)).status, 404);
    });
  }

  it('now and then, of any request at any byte, costs nothing acknowledged and does nothing twice', async (test) => {
    using callers = site.callers();
    let requests = 0;
    site.proxy.decide = () => {
      if (++requests % LOST_ONE_IN > 0) return 'pass';
      return requests % 2 === 0 ? 'cut' : { answerBytes: requests % ANSWER_BYTES };
    };
    await sleep(FAULT_MS);
    await within(BUSY_LIMIT_MS, 'ten requests to be lost', async () => requests > 10 * LOST_ONE_IN);
    site.proxy.decide = () => 'pass';
    await site.untilBack(test);
    await callers.stopAndCheck();
    test.diagnostic(callers.story);
  });

  async function importGroup(group: object): Promise<void> {
    writeFileSync(site.folder.join('group.ndjson'), JSON.stringify(group));
    const env = { ...site.env, DATABASE_URL: site.database.url };
    const { code } = await run(site.folder, ['import', 'group.ndjson', '--workspace', 'default'], { env });
    assert.equal(code, 0);
  }

  function resolve(token: string): Promise<TestAnswer> {
    return site.call({ method: 'POST', path: '/v1/resolve', body: { token } });
  }
});

/** The next command of the kind is done, and the database cannot tell. */
function loseNode(proxy: FaultProxy, command: string, error: ServerError): void {
  const { rewrite } = proxy;
  proxy.rewrite = (message) => {
    if (!completes(message, command)) return message;
    proxy.rewrite = rewrite;
    return errorResponse(error);
  };
}

/** Each change makes one version. */
function assertVersion(answer: TestAnswer, version: number): void {
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.etag, `"${answer.json.user_group.team_id}-${version}"`);
}
