// Requests that arrive at the same time on many connections start in several turns of the event loop.

import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fastify from 'fastify';
import { ArrivalLimit, MAX_PER_TURN } from '../../src/http/arrival-limit.ts';
import { eventually } from '../support/process.ts';
import { RawConnection } from '../support/raw-connection.ts';

const CONNECTIONS = 400;
const REQUEST = 'GET / HTTP/1.1\r\nHost: test\r\n\r\n';

describe('Requests that arrive at the same time', () => {
  const app = fastify();
  let url = '';
  let startedInTurn = 0;
  let mostInTurn = 0;
  before(async () => {
    const limit = new ArrivalLimit();
    app.addHook('onRequest', ({ raw }, _reply, done) => limit.admit(raw, done));
    app.get('/', async () => {
      if (startedInTurn === 0)
        setImmediate(() => {
          startedInTurn = 0;
        });
      mostInTurn = Math.max(mostInTurn, ++startedInTurn);
      return '';
    });
    url = await app.listen({ port: 0, host: '127.0.0.1' });
  });
  after(() => app.close());

  it('start in several turns', async () => {
    const opening = Array.from({ length: CONNECTIONS }, () => RawConnection.open(url));
    const connections = await Promise.all(opening);
    const round = async (number: number): Promise<void> => {
      for (const connection of connections) connection.write(REQUEST);
      await eventually('all responses', () =>
        connections.every(({ exchange }) => exchange.answers.length === number),
      );
    };
    // Only then are all connections accepted.
    await round(1);
    mostInTurn = 0;
    await round(2);
    await round(3);
    assert.ok(mostInTurn <= MAX_PER_TURN, `${mostInTurn} in a turn`);
    for (const connection of connections) connection.leave();
  });

  it('start in turns of their tenants', async () => {
    const order: number[] = [];
    const tenantOf = new Map<IncomingMessage, number>();
    const limit = new ArrivalLimit((message) => tenantOf.get(message)!);
    const arrive = (tenant: number): void => {
      const message = new IncomingMessage(new Socket());
      tenantOf.set(message, tenant);
      limit.admit(message, () => order.push(tenant));
    };
    for (let request = 0; request < 10 * MAX_PER_TURN; request++) arrive(1);
    arrive(2);
    await nextTurn();
    await nextTurn();
    assert.ok(order.length <= 3 * MAX_PER_TURN, `${order.length} started`);
    assert.ok(order.includes(2), 'the request of the other tenant has started');
  });
});
