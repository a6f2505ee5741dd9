// Pages that need no sign-in, requested at the same time, are sent in several turns of the event loop.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fastify from 'fastify';
import { pageLimiter } from '../../src/http/public-endpoint.ts';
import { CpuQueue } from '../../src/operations/machinery/cpu-queue.ts';
import { TenantActivity } from '../../src/scheduling/tenant-activity.ts';
import { eventually } from '../support/process.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { TurnCount } from '../support/turn-count.ts';

const CONNECTIONS = 100;
const REQUEST = 'GET /page HTTP/1.1\r\nHost: test\r\n\r\n';

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
    const opening = Array.from({ length: CONNECTIONS }, () => RawConnection.open(url));
    const connections = await Promise.all(opening);
    const round = async (number: number): Promise<void> => {
      for (const connection of connections) connection.write(REQUEST);
      await eventually('all responses', () =>
        connections.every(({ exchange }) => exchange.answers.length === number),
      );
    };
    // The event loop accepts one connection per turn; after this round, all connections are accepted.
    await round(1);
    await round(2);
    assert.equal(sent.most, 1);
    for (const connection of connections) connection.leave();
  });
});
