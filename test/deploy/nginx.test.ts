// The recommended nginx configuration, run by a real nginx. reliability/test/rolling-restart.test.ts restarts
// the processes behind it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { UserGroupClient } from '../../client/src/index.ts';
import type { Target } from '../../reliability/rolling-restart/caller.ts';
import { isNginxInstalled, type Nginx, startNginx } from '../../reliability/rolling-restart/nginx.ts';
import { settings } from '../../src/config.ts';
import { problems } from '../../src/http/response/problem.ts';
import { type Fault, FaultyProxy } from '../support/client/faulty-proxy.ts';
import { assertLimitedByClient, LIMITED } from '../support/client-limit.ts';
import { sqlite } from '../support/database.ts';
import { send } from '../support/http.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';

const configuration = readFileSync(new URL('../../deploy/nginx.conf', import.meta.url), 'utf8');
const skip = !isNginxInstalled && 'nginx is not installed (apt-get install nginx-light)';

const serverAt = (url: string): Target => ({ url, state: 'running' });

describe('deploy/nginx.conf', () => {
  it('is on a machine that the systemd unit trusts', () => {
    const unit = readFileSync(
      new URL('../../deploy/systemd/user-group-service@.service', import.meta.url),
      'utf8',
    );
    assert.match(configuration, /^ +server 127\.0\.0\.1:8081 /m);
    assert.match(unit, /^Environment=UGS_TRUSTED_PROXIES=127\.0\.0\.1$/m);
  });

  it('closes an idle connection before the service does', () => {
    const [, seconds] = /^ +keepalive_timeout (\d+)s;$/m.exec(configuration) ?? [];
    assert.ok(Number(seconds) * 1_000 < Number(settings.keepAliveTimeoutMs.fallback));
  });
});

describe('nginx with deploy/nginx.conf', { skip }, () => {
  const stack = suiteStack();
  let service: TestService;
  let proxy: FaultyProxy;
  let nginx: Nginx;
  let client: UserGroupClient;

  before(async () => {
    const env = { ...LIMITED, UGS_TRUSTED_PROXIES: '127.0.0.1' };
    service = stack.use(await TestService.start(sqlite, { env }));
    proxy = stack.use(await FaultyProxy.start(service.url));
    nginx = stack.use(await startNginx('recommended', [serverAt(proxy.url), serverAt(proxy.url)]));
    client = new UserGroupClient({ url: nginx.url, apiToken: service.token, maxRetries: 0 });
  });

  const failedOnce: [string, Fault][] = [
    ['never arrives', 'lose request'],
    ['loses its response', 'lose response'],
    ['is refused with 503', { status: 503, body: '{"success":0,"code":"shutting_down"}' }],
  ];
  for (const [what, fault] of failedOnce) {
    it(`retries a request that ${what} on the other server, including POST and PATCH`, async () => {
      const id = `request that ${what}`;
      const failing = async <Result>(call: Promise<Result>): Promise<Result> => {
        proxy.faults = [fault];
        return await call;
      };
      const { user_group: group } = await failing(client.getOrCreate({ user_group_id: id, name: 'A' }));
      await failing(client.update({ user_group_id: id, name: 'B' }));
      await failing(client.patch(id, { properties: { seats: 1 } }));
      const { user_group: rotated } = await failing(client.rotate({ current_token: group.token }));
      const { user_group: seen } = await failing(client.resolve(rotated.token));
      assert.deepEqual([seen.provided_id, seen.name, seen.properties], [id, 'B', { seats: 1 }]);
    });
  }

  it('reports a deletion and a change with If-Match as failed if they succeeded and the response is lost', async () => {
    const { etag } = await client.getOrCreate({ user_group_id: 'done', name: 'A' });
    proxy.faults = ['lose response'];
    const change = client.update({ user_group_id: 'done', name: 'B' }, { ifMatch: etag });
    await assert.rejects(change, { code: 'version_mismatch' });
    assert.equal((await client.read('done')).user_group.name, 'B');
    proxy.faults = ['lose response'];
    await assert.rejects(client.delete('done'), { code: 'user_group_not_found' });
  });

  it('reports the address of the client, so that the failures of one do not limit another', async () => {
    await assertLimitedByClient(nginx.url);
  });

  it('responds in the format of the service if no server is reachable', async () => {
    await using unreachable = await startNginx('recommended', [
      serverAt('http://127.0.0.1:1'),
      serverAt('http://127.0.0.1:2'),
    ]);
    const response = await send(unreachable.url, {
      method: 'POST',
      path: '/v1/resolve',
      body: { token: 'x' },
    });
    const { detail, request_id: id, ...rest } = response.json;
    const { status, title } = problems.database_unavailable;
    assert.deepEqual(rest, {
      success: 0,
      type: '/errors#database_unavailable',
      title,
      status,
      code: 'database_unavailable',
    });
    assert.equal(response.status, status);
    assert.match(detail, /repeat/);
    assert.equal(response.headers['content-type'], 'application/problem+json');
    assert.equal(response.headers['retry-after'], '1');
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.equal(response.headers['x-request-id'], id);
  });
});
