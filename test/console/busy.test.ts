// Contract: while the service is too busy for lists, a page that has other content is shown, and says what it
// leaves out.

import assert from 'node:assert/strict';
import { before, beforeEach, describe, it, type TestContext } from 'node:test';
import { overloaded } from '../../src/operations/refusals.ts';
import { BatchingStore } from '../../src/store/batching-store.ts';
import type { Query } from '../../src/store/port.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { textOf } from '../support/console-page.ts';
import { sqlite } from '../support/database.ts';
import { send } from '../support/http.ts';
import { admitted } from '../support/process.ts';
import { TestService } from '../support/service.ts';

describe('A page of a busy service', () => {
  // Another thread would not be busy.
  const service = TestService.of(sqlite, { env: { UGS_THREADS: '1' } });
  let browser: ConsoleBrowser;
  before(async () => {
    const { token } = await service.apiToken({ permission: 'admin' });
    browser = await ConsoleBrowser.signIn(service, token);
    const endpoint = { url: 'https://crm.example.com/webhooks', event_types: ['*'], enabled: false };
    const { status } = await service.call('PUT', '/v1/webhook-endpoints/crm', endpoint, { token });
    assert.equal(status, 201);
  });
  beforeEach((t) => {
    const { read } = BatchingStore.prototype;
    (t as TestContext).mock.method(
      BatchingStore.prototype,
      'read',
      function (this: BatchingStore, query: Query) {
        return query.kind === 'listEvents' ? Promise.reject(overloaded) : read.call(this, query);
      },
    );
  });

  for (const [path, text] of [
    ['/console', /Needs attention The service is too busy to check webhook endpoints and API tokens now\./],
    ['/console/webhooks', /disabled The service is too busy to look up why\./],
    ['/console/webhooks/crm', /Status disabled The service is too busy to look up why\./],
    ['/console/user-groups?search=gone', /too busy to look for a deleted user group with this id\./],
    ['/console/user-groups/gone', /Last events The service is too busy to list them now\./],
  ] as const)
    it(`says what it leaves out: ${path}`, async () => {
      // The browser would repeat the request until the service is not busy.
      const page = await admitted(() => send(service.url, { path, headers: { cookie: browser.cookie } }));
      assert.equal(page.status, path.endsWith('/gone') ? 404 : 200);
      assert.match(textOf(page), text);
    });
});
