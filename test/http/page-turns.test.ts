// Pages that need no sign-in, requested at the same time, are sent in several turns of the event loop.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fastify from 'fastify';
import { pageLimiter } from '../../src/http/public-endpoint.ts';
import { CpuQueue } from '../../src/operations/machinery/cpu-queue.ts';
import { TenantActivity } from '../../src/scheduling/tenant-activity.ts';
import { openRounds, TurnCount } from '../support/turn-count.ts';

const CONNECTIONS = 100;

describe('Pages that are requested at the same time', () => {
  const app = fastify();
  let url = '';
  const sent = new TurnCount();
  before(async () => {
    const context = { cpu: CpuQueue.create(), activity: new TenantActivity() };
    app.addHook('onRequest', pageLimiter({ publicLimit: null, context }));
    app.get('/page', async () => {
      sent.add();
      return 'a page';
    });
    url = await app.listen({ port: 0, host: '127.0.0.1' });
  });
  after(() => app.close());

  it('are sent one per turn', async () => {
    using rounds = await openRounds(url, CONNECTIONS, '/page');
    // The event loop accepts one connection per turn; after this round, all connections are accepted.
    await rounds.send();
    await rounds.send();
    assert.equal(sent.most, 1);
  });
});
