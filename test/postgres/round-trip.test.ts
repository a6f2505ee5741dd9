// Speed that rests on round trips: what is asked at one time travels together. And its price: whoever sends a request
// is guessed, and a wrong guess must show nothing of anybody.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { postgres, type TestDatabase } from '../database.ts';
import { FaultProxy } from '../faults/proxy.ts';
import { RawConnection } from '../raw-connection.ts';
import { TestService } from '../service.ts';

/** The message that ends what is sent in one go. */
const SYNC = 'S\0\0\0\x04';

describe('the requests of a caller who has asked before', () => {
  let database: TestDatabase;
  let proxy: FaultProxy;
  let service: TestService;
  let client: pg.Client;
  let sent = '';
  before(async () => {
    database = await postgres.create();
    proxy = await FaultProxy.start(database.url);
    proxy.listen = (bytes) => {
      sent += bytes.toString('latin1');
    };
    const env = { ...database.env, DATABASE_URL: proxy.url };
    service = await TestService.start(postgres, { database: { ...database, env } });
    client = new pg.Client(database.url);
    await client.connect();
  });
  beforeEach(async () => {
    await service.get({ user_group_id: 'known', name: 'Known' });
    await service.get({ user_group_id: 'known' });
    sent = '';
  });
  after(async () => {
    await client.end();
    await service.stop();
    await proxy[Symbol.asyncDispose]();
    await database.drop();
  });

  /** Times that the service has waited for an answer of the database. */
  function roundTrips(): number {
    return sent.split(SYNC).length - 1;
  }

  it('look up the API token and the group in one round trip', async () => {
    const { json } = await service.get({ user_group_id: 'known' });
    assert.equal(json.new_user_group, false);
    assert.equal(roundTrips(), 1);
    assert.equal((await service.resolve(json.user_group.token)).status, 200);
    assert.equal((await service.call('GET', '/v1/user-groups/known')).status, 200);
    assert.equal(roundTrips(), 3);
  });

  it('create in two', async () => {
    assert.equal((await service.get({ user_group_id: 'new', name: 'New' })).json.new_user_group, true);
    assert.equal(roundTrips(), 2);
  });

  it('look up the group once, also where the body comes when the token is known', async () => {
    const body = JSON.stringify({ user_group_id: 'known' });
    const head = [
      `Authorization: Token ${service.token}`,
      `Content-Length: ${body.length}`,
      'Connection: close',
    ];
    const connection = await RawConnection.open(service.url);
    connection.write(`GET /api/user HTTP/1.1\r\nHost: test\r\n${head.join('\r\n')}\r\n\r\n`);
    while (roundTrips() === 0) await sleep(1);
    await sleep(50);
    connection.write(body);
    assert.equal((await connection.finish()).answers[0]?.status, 200);
    assert.equal(sent.split('{"known"').length - 1, 1);
    assert.doesNotMatch(sent, /"known","known"/);
  });

  it('are refused at once where the token has been revoked, and then ask for the token only', async () => {
    const { id, token } = await service.apiToken();
    const ask = () => service.get({ user_group_id: 'known' }, { token });
    assert.equal((await ask()).status, 200);
    await client.query('update api_tokens set revoked_at = 0 where api_token_id = $1', [id]);
    assert.equal((await ask()).status, 401);
    sent = '';
    assert.equal((await ask()).status, 401);
    assert.match(sent, /find_api_tokens/);
    assert.doesNotMatch(sent, /find_user_groups/);
  });

  it('ask for the token only where it may not do what they want', async () => {
    const { token } = await service.apiToken({ permission: 'resolve' });
    const ask = () => service.get({ user_group_id: 'known' }, { token });
    assert.equal((await service.resolve('unknown', { token })).status, 404);
    assert.equal((await ask()).status, 403);
    sent = '';
    assert.equal((await ask()).status, 403);
    assert.match(sent, /find_api_tokens/);
    assert.doesNotMatch(sent, /find_user_groups/);
  });

  it('ask for the token only where it has made too many', async () => {
    const limited = await TestService.start(postgres, {
      database: { ...database, env: { ...database.env, DATABASE_URL: proxy.url } },
      env: { UGS_RATE_LIMIT_PER_MINUTE: '1' },
    });
    try {
      const ask = () => limited.get({ user_group_id: 'known' });
      assert.deepEqual([(await ask()).status, (await ask()).status], [200, 429]);
      sent = '';
      assert.equal((await ask()).status, 429);
      assert.match(sent, /find_api_tokens/);
      assert.doesNotMatch(sent, /find_user_groups/);
    } finally {
      await limited.stop();
    }
  });

  it('are of whom the database says, also where the token was of another workspace the last time', async () => {
    const { id, token } = await service.apiToken();
    const ask = () => service.get({ user_group_id: 'known' }, { token });
    assert.equal((await ask()).status, 200);
    await client.query('update api_tokens set workspace_id = 4711 where api_token_id = $1', [id]);
    assert.equal((await ask()).json.code, 'user_group_not_found');
  });

  it('are refused for their token before anything in their body', async () => {
    const { id, token } = await service.apiToken();
    const ask = (body: object) => service.get(body, { token });
    assert.equal((await ask({ user_group_id: 'known' })).status, 200);
    assert.equal((await ask({ user_group_id: 7 })).status, 400);
    await client.query('update api_tokens set revoked_at = 0 where api_token_id = $1', [id]);
    assert.equal((await ask({ user_group_id: 7 })).status, 401);
  });
});
