// Contract: requests that are sent without waiting for the answers to those before them are done in their order, and
// hold up nobody else.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { describeOnEachDatabase, postgres, sqlite } from './database.ts';
import { FaultProxy } from './faults/proxy.ts';
import { eventually } from './process.ts';
import { RawConnection } from './raw-connection.ts';
import { TestService } from './service.ts';

describeOnEachDatabase('Requests that follow each other on a connection', (database) => {
  it('are done in their order', async (test) => {
    const service = await TestService.start(database);
    test.after(() => service.end());
    await service.get({ user_group_id: 'a', name: 'Old' });
    for (let round = 0; round < 20; round++) {
      const name = `Name ${round}`;
      const connection = await RawConnection.open(service.url);
      const head = `HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${service.token}\r\n`;
      const body = JSON.stringify({ user_group_id: 'a', name });
      connection.write(`PUT /api/user ${head}Content-Length: ${body.length}\r\n\r\n${body}`);
      connection.write(`GET /v1/user-groups/a ${head}Connection: close\r\n\r\n`);
      const { answers } = await connection.finish();
      assert.deepEqual(
        answers.map(({ json }) => json.user_group.name),
        [name, name],
      );
    }
  });
});

describe('A client that sends many requests at one time', () => {
  it('holds up nobody who sends one', async (test) => {
    const service = await TestService.start(sqlite);
    test.after(() => service.end());
    const requests = 1_000;
    const many = await RawConnection.open(service.url);
    const other = await RawConnection.open(service.url);
    many.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(requests));
    other.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually('the one answer', () => other.exchange.answers.length === 1);
    const before = many.exchange.answers.length;
    assert.ok(before < requests / 2, `${before} answers before it`);
    await eventually('the others', () => many.exchange.answers.length === requests);
    many.leave();
    other.leave();
  });

  it('is not refused one after the other, but loses its connection', async (test) => {
    const database = await postgres.create();
    const proxy = await FaultProxy.start(database.url);
    const slow = { ...database, env: { ...database.env, DATABASE_URL: proxy.url } };
    const service = await TestService.start(postgres, { database: slow, env: { UGS_QUEUE_LIMIT: '1' } });
    test.after(async () => {
      await service.end();
      await proxy[Symbol.asyncDispose]();
    });
    proxy.delayMs = 400;
    const calls = Array.from({ length: 10 }, () => service.get({ user_group_id: 'a', name: 'A' }));
    const refused = await RawConnection.open(service.url);
    const request = `GET /v1/user-groups/a HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${service.token}\r\n\r\n`;
    refused.write(request.repeat(100));
    const { answers, isEnded } = await refused.finish();
    await Promise.all(calls);
    assert.ok(isEnded);
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.connection]),
      [
        [503, 'keep-alive'],
        [503, 'close'],
      ],
    );
  });

  it('loses its connection where more wait than a process keeps, and others do not', async (test) => {
    const service = await TestService.start(sqlite);
    test.after(() => service.end());
    // None takes the answers, so none has its next turn.
    const requests = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_400);
    const clients = await Promise.all(
      Array.from({ length: 40 }, () => sendAndTakeNothing(service.url, requests)),
    );
    const cut = () => clients.filter((client) => client.destroyed).length;
    await eventually('some to be cut off', () => {
      // Who does not read learns of the end by writing.
      for (const client of clients) client.write('\r\n');
      return cut() > 0;
    });
    assert.ok(cut() < clients.length, 'those before stay');
    for (const client of clients) client.destroy();
    await eventually('room for others', async () => {
      const connection = await RawConnection.open(service.url);
      connection.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2));
      await eventually('an answer', () => connection.exchange.answers.length > 0);
      return (await connection.finish(100)).answers.length === 2;
    });
  });
});

async function sendAndTakeNothing(url: string, requests: string): Promise<Socket> {
  const client = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  await once(client, 'connect');
  client.pause().write(requests);
  return client;
}
