// A shutdown while the database is slow or lost completes operations in flight, including those of
// disconnected clients, before it closes the database, and keeps within its limit.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Installation } from '../support/faults/installation.ts';
import { createApiToken } from '../support/process.ts';
import { Receiver } from '../support/webhooks/receiver.ts';

const DELAY_MS = 200;
const TIMEOUT_MS = 1_000;
/** Shorter than the time for which storing an outcome is otherwise retried. */
const STORING_MS = 4_000;
const WARNING = /"level":[456]0/;

describe('A shutdown while the database is slow', () => {
  let site: Installation;
  before(async () => {
    site = await Installation.start();
  });
  after(() => site[Symbol.asyncDispose]());

  it('finishes the operation of a disconnected client before it closes the database', async () => {
    const service = await site.serve();
    site.proxy.delayMs = DELAY_MS;
    const body = '{"user_group_id":"left","name":"Left"}';
    const { hostname, port } = new URL(service.url);
    const client = connect(Number(port), hostname);
    client.write(
      `POST /v1/user-groups HTTP/1.1\r\nHost: test\r\nAuthorization: Token ${site.token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await sleep(DELAY_MS / 2);
    client.resetAndDestroy();
    service.signal('SIGTERM');
    const { code, stdout } = await service.exit();
    site.services.pop();
    site.proxy.delayMs = 0;
    assert.equal(code, 0);
    assert.doesNotMatch(stdout.replaceAll(/^.*PostgreSQL runs with.*$/gm, ''), WARNING);
    assert.equal((await site.get('left')).json.user_group.name, 'Left');
  });

  it('does not wait for outcomes of webhooks that a lost database cannot store', async () => {
    await using receiver = await Receiver.start(
      (response) => void setTimeout(() => response.end(), TIMEOUT_MS),
    );
    const service = await site.serve({
      UGS_WEBHOOK_ALLOW_PRIVATE: 'on',
      UGS_SHUTDOWN_TIMEOUT_MS: String(TIMEOUT_MS),
    });
    const { token } = await createApiToken(site.folder, ['--permission', 'admin'], {
      env: site.database.env,
    });
    const endpoint = { url: receiver.url, event_types: ['*'] };
    const stored = await service.call(token, 'PUT', '/v1/webhook-endpoints/slow', endpoint);
    assert.equal(stored.status, 201, stored.text);
    await service.call(site.token, 'GET', '/api/user', { user_group_id: 'told', name: 'Told' });
    await receiver.waitFor(1);
    await site.proxy.refuse();
    const startedAt = performance.now();
    service.signal('SIGTERM');
    const { code } = await service.exit();
    site.services.pop();
    assert.equal(code, 0);
    const tookMs = performance.now() - startedAt;
    assert.ok(tookMs < TIMEOUT_MS + STORING_MS, `${tookMs} ms`);
  });
});
