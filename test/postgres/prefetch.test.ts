// Queries of one request are sent together, to save round trips. For this, the caller of a request is
// predicted, and a wrong prediction must not reveal data of another caller.

import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RawConnection } from '../support/connection/raw-connection.ts';
import { postgres, type TestDatabase } from '../support/database.ts';
import { FaultProxy } from '../support/faults/proxy.ts';
import { TestService } from '../support/service.ts';
import { SqlConnection } from '../support/sql.ts';
import { suiteStack } from '../support/suite.ts';

/** Message that ends a pipeline. */
const SYNC = 'S\0\0\0\x04';
/** Message that executes a statement. */
const EXECUTE = 'E\0\0\0\x09\0\0\0\0\0';
/**
 * Query for webhooks that are due, which the dispatcher sends at its own times, alone or in the pipeline of a
 * request.
 */
const BACKGROUND = 'find_next_pending_endpoint';

describe('the requests of a known caller', () => {
  const stack = suiteStack();
  let database: TestDatabase;
  let proxy: FaultProxy;
  let service: TestService;
  let client: SqlConnection;
  let sent = '';
  before(async () => {
    database = stack.use(await postgres.create());
    proxy = stack.use(await FaultProxy.start(database.url));
    proxy.onClientData = (bytes) => {
      sent += bytes.toString('latin1');
    };
    const env = { ...database.env, DATABASE_URL: proxy.url };
    service = await TestService.start(postgres, { database: { ...database, env } });
    stack.defer(() => service.stop());
    client = stack.use(await SqlConnection.open(database.url));
  });
  beforeEach(async () => {
    await service.get({ user_group_id: 'known', name: 'Known' });
    await service.get({ user_group_id: 'known' });
    sent = '';
  });

  /** Returns how often requests have waited for a response of the database. */
  function roundTrips(): number {
    const pipelines = sent.split(SYNC).slice(0, -1);
    const isOfRequest = (pipeline: string): boolean =>
      !pipeline.includes(BACKGROUND) || pipeline.split(EXECUTE).length > 2;
    return pipelines.filter(isOfRequest).length;
  }

  it('look up the API token and the group in one round trip', async () => {
    const { json } = await service.get({ user_group_id: 'known' });
    assert.equal(json.new_user_group, false);
    assert.equal(roundTrips(), 1);
    assert.equal((await service.resolve(json.user_group.token)).status, 200);
    assert.equal((await service.call('GET', '/v1/user-groups/known')).status, 200);
    assert.equal(roundTrips(), 3);
  });

  it('create a group in two round trips', async () => {
    assert.equal((await service.get({ user_group_id: 'new', name: 'New' })).json.new_user_group, true);
    assert.equal(roundTrips(), 2);
  });

  it('look up the group only once if the body arrives after the token lookup', async () => {
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

  it('are rejected immediately after the token is revoked, and then look up only the token', async () => {
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

  it('look up only the token if it lacks the permission', async () => {
    const { token } = await service.apiToken({ permission: 'resolve' });
    const ask = () => service.get({ user_group_id: 'known' }, { token });
    assert.equal((await service.resolve('unknown', { token })).status, 404);
    assert.equal((await ask()).status, 403);
    sent = '';
    assert.equal((await ask()).status, 403);
    assert.match(sent, /find_api_tokens/);
    assert.doesNotMatch(sent, /find_user_groups/);
  });

  it('look up only the token if it has exceeded its rate limit', async () => {
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

  it('use the workspace from the database if the token belonged to another one before', async () => {
    const { id, token } = await service.apiToken();
    const ask = () => service.get({ user_group_id: 'known' }, { token });
    assert.equal((await ask()).status, 200);
    await client.query('update api_tokens set workspace_id = 4711 where api_token_id = $1', [id]);
    assert.equal((await ask()).json.code, 'user_group_not_found');
  });

  it('are rejected because of their token before their body is validated', async () => {
    const { id, token } = await service.apiToken();
    const ask = (body: object) => service.get(body, { token });
    assert.equal((await ask({ user_group_id: 'known' })).status, 200);
    assert.equal((await ask({ user_group_id: 7 })).status, 400);
    await client.query('update api_tokens set revoked_at = 0 where api_token_id = $1', [id]);
    assert.equal((await ask({ user_group_id: 7 })).status, 401);
  });
});
