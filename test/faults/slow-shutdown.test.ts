// A shutdown while the database is slow: operations in flight are finished, also those of disconnected clients, before
// the database is closed.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Installation } from '../support/faults/installation.ts';

const DELAY_MS = 200;
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
});
