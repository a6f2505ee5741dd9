// Contract: whatever happens to the database or on the way to it, each caller gets an answer within five seconds,
// nothing acknowledged is lost, nothing is done twice, and the service is back soon after the database.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { postgres, type TestDatabase } from '../database.ts';
import type { TestAnswer } from '../http.ts';
import { TestService } from '../service.ts';
import { TcpProxy } from './tcp-proxy.ts';

const ANSWER_LIMIT_MS = 5_000;

describe('a PostgreSQL that', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let service: TestService;
  let admin: pg.Client;

  before(async () => {
    database = await postgres.create();
    proxy = await TcpProxy.start(database.url);
    const env = { ...database.env, DATABASE_URL: proxy.url };
    service = await TestService.start(postgres, { database: { ...database, env } });
    admin = new pg.Client(database.url);
    await admin.connect();
  });
  afterEach(async () => {
    proxy.pass();
    await eventuallyServes();
  });
  after(async () => {
    await service.stop();
    await admin.end();
    await proxy[Symbol.asyncDispose]();
    await database.drop();
  });

  async function eventuallyServes(): Promise<void> {
    const deadline = performance.now() + ANSWER_LIMIT_MS;
    while ((await service.get({ user_group_id: 'serves', name: 'S' })).status !== 200) {
      assert.ok(performance.now() < deadline, 'the service is not back within five seconds of the database');
      await sleep(20);
    }
  }

  async function inTime(call: Promise<TestAnswer>): Promise<TestAnswer> {
    const startedAt = performance.now();
    const answer = await call;
    const tookMs = performance.now() - startedAt;
    assert.ok(tookMs < ANSWER_LIMIT_MS, `answered ${answer.status} after ${tookMs} ms`);
    return answer;
  }

  function assertUnavailable(answer: TestAnswer): void {
    assert.deepEqual([answer.status, answer.json.code], [503, 'database_unavailable']);
    assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/);
  }

  describe('has done what it was asked, and whose answer is lost,', () => {
    it('creates a group once, and tells the caller that it is new', async () => {
      proxy.loseAnswerTo('create_user_groups');
      const created = await service.get({ user_group_id: 'lost-create', name: 'Lost' });
      assert.equal(created.json.new_user_group, true);
      const found = await service.get({ user_group_id: 'lost-create', name: 'Lost' });
      assert.equal(found.json.new_user_group, false);
      assert.deepEqual(found.json.user_group, created.json.user_group);
      assert.match(found.headers.etag!, /-1"$/);
    });

    it('rotates a token once, and the caller gets the new one', async () => {
      const { json } = await service.get({ user_group_id: 'lost-rotate', name: 'Lost' });
      proxy.loseAnswerTo('rotate_tokens');
      const rotated = await service.post({ current_token: json.user_group.token });
      assert.equal(rotated.status, 200);
      assert.notEqual(rotated.json.user_group.token, json.user_group.token);
      assert.match(rotated.headers.etag!, /-2"$/);
      assert.equal((await service.resolve(json.user_group.token)).status, 404);
      assert.equal((await service.resolve(rotated.json.user_group.token)).status, 200);
    });

    it('is not asked again for an update, which could undo one that came between', async () => {
      await service.get({ user_group_id: 'lost-update', name: 'Before' });
      proxy.loseAnswerTo('update_user_groups');
      assertUnavailable(await inTime(service.put({ user_group_id: 'lost-update', name: 'After' })));
      const found = await service.get({ user_group_id: 'lost-update' });
      assert.equal(found.json.user_group.name, 'After');
      assert.match(found.headers.etag!, /-2"$/);
    });

    it('is asked again for a look-up', async () => {
      await service.get({ user_group_id: 'lost-get', name: 'Lost' });
      proxy.loseAnswerTo('find_user_groups');
      assert.equal((await service.get({ user_group_id: 'lost-get' })).status, 200);
    });
  });

  it('ends all connections while they are idle is not noticed', async () => {
    for (let time = 0; time < 5; time++) {
      await terminateConnections();
      assert.equal((await service.get({ user_group_id: 'serves' })).status, 200);
    }
  });

  it('ends all connections again and again makes no group twice and forgets none', async () => {
    const ending = (async () => {
      for (let time = 0; time < 20; time++) {
        await terminateConnections();
        await sleep(50);
      }
    })();
    const acknowledged = new Map<string, string>();
    let news = 0;
    for (let round = 0; round < 20; round++) {
      const ids = Array.from({ length: 20 }, (_, index) => `ended-${round}-${index}`);
      const answers = await Promise.all(
        [...ids, ...ids].map((id) => inTime(service.get({ user_group_id: id, name: id }))),
      );
      for (const [index, answer] of answers.entries()) {
        if (answer.status !== 200) {
          assertUnavailable(answer);
          continue;
        }
        const id = ids[index % ids.length]!;
        const { token } = answer.json.user_group;
        assert.equal(acknowledged.get(id) ?? token, token);
        acknowledged.set(id, token);
        if (answer.json.new_user_group) news++;
      }
    }
    await ending;
    await eventuallyServes();
    assert.ok(news <= acknowledged.size);
    assert.ok(acknowledged.size > 300);
    for (const [id, token] of acknowledged) {
      assert.equal((await service.get({ user_group_id: id })).json.user_group.token, token);
    }
  });

  it('goes away is told to callers at once, and used again when it is back', async () => {
    proxy.refuse();
    for (let time = 0; time < 3; time++) {
      assertUnavailable(await inTime(service.get({ user_group_id: 'serves' })));
    }
    assert.equal((await service.call('GET', '/readyz')).status, 503);
    assert.equal((await service.call('GET', '/healthz')).status, 200);
    proxy.pass();
    await eventuallyServes();
    assert.equal((await service.call('GET', '/readyz')).status, 200);
  });

  it('falls silent is told to every caller within five seconds, also to those that wait for the first', async () => {
    // All connections are open when it happens, and look as good as ever.
    await Promise.all(Array.from({ length: 100 }, () => service.get({ user_group_id: 'serves' })));
    proxy.silence();
    const calls: Promise<TestAnswer>[] = [];
    for (let time = 0; time < 30; time++) {
      calls.push(inTime(service.get({ user_group_id: 'serves' })));
      await sleep(100);
    }
    for (const answer of await Promise.all(calls)) assertUnavailable(answer);
    proxy.pass();
    await eventuallyServes();
  });

  it('is a replica all of a sudden is left, connection by connection', async () => {
    await admin.query(`alter database ${admin.database} set default_transaction_read_only = on`);
    await terminateConnections();
    assert.equal((await service.get({ user_group_id: 'serves' })).status, 200);
    assertUnavailable(await inTime(service.get({ user_group_id: 'replica', name: 'R' })));
    // What the name leads to now takes writes; the connections that are open still do not.
    await admin.query(`alter database ${admin.database} reset default_transaction_read_only`);
    const answer = await service.get({ user_group_id: 'replica', name: 'R' });
    assert.equal(answer.json.new_user_group, true);
  });

  it('holds a row for somebody else lets the caller go in time, and everybody else is served', async () => {
    await service.get({ user_group_id: 'held', name: 'Held' });
    await admin.query('begin');
    await admin.query("update user_groups set name = name where provided_id = 'held'");
    const held = inTime(service.put({ user_group_id: 'held', name: 'Later' }));
    await sleep(100);
    assert.equal((await service.put({ user_group_id: 'serves', name: 'Served' })).status, 200);
    assertUnavailable(await held);
    await admin.query('rollback');
    assert.equal((await service.put({ user_group_id: 'held', name: 'Later' })).status, 200);
  });

  for (const [name, code] of Object.entries({ 'a conflict': '40001', 'a deadlock': '40P01' })) {
    it(`undoes a statement for ${name} is asked again, and the caller does not notice`, async () => {
      await raiseOnUpdates(code, 3);
      await service.get({ user_group_id: code, name: 'Before' });
      const updated = await service.put({ user_group_id: code, name: 'After' });
      assert.equal(updated.status, 200);
      assert.match(updated.headers.etag!, /-2"$/);
      await raiseOnUpdates(code, 1_000);
      assertUnavailable(await inTime(service.put({ user_group_id: code, name: 'Never' })));
      await admin.query('drop trigger raise on user_groups; drop function raise(); drop sequence raised');
      assert.equal((await service.get({ user_group_id: code })).json.user_group.name, 'After');
    });
  }

  /** The next so many updates of a row fail. A sequence counts on where a transaction is undone. */
  async function raiseOnUpdates(code: string, times: number): Promise<void> {
    await admin.query(`
      drop trigger if exists raise on user_groups;
      drop sequence if exists raised;
      create sequence raised;
      create or replace function raise() returns trigger language plpgsql as $$ begin
        if nextval('raised') <= ${times} then raise exception using errcode = '${code}'; end if;
        return new;
      end $$;
      create trigger raise before update on user_groups for each row execute function raise()`);
  }

  async function terminateConnections(): Promise<void> {
    await admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'user-group-service' and datname = current_database()",
    );
  }
});
