// Contract: pipelined requests are executed in order, and do not delay other clients.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { RequestPipelining } from '../../src/http/limits/request-pipelining.ts';
import { LoopbackServer } from '../support/connection/loopback-server.ts';
import { RawConnection } from '../support/connection/raw-connection.ts';
import { describeOnEachDatabase, postgres, sqlite } from '../support/database.ts';
import { FaultProxy } from '../support/faults/proxy.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const GET = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

describeOnEachDatabase('Pipelined requests', (database) => {
  it('are executed in order', async (test) => {
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

describe('A client that pipelines many requests', () => {
  it('does not delay a client that sends one', async (test) => {
    const service = await TestService.start(sqlite);
    test.after(() => service.end());
    const requests = 1_000;
    const many = await RawConnection.open(service.url);
    const other = await RawConnection.open(service.url);
    many.write(GET.repeat(requests));
    other.write(GET);
    await eventually('the single response', () => other.exchange.answers.length === 1);
    const before = many.exchange.answers.length;
    assert.ok(before < requests / 2, `${before} responses before it`);
    await eventually('the other responses', () => many.exchange.answers.length === requests);
    many.leave();
    other.leave();
  });

  it('is disconnected after repeated rejections instead of getting one per request', async (test) => {
    const database = await postgres.create();
    const proxy = await FaultProxy.start(database.url);
    const slow = { ...database, env: { ...database.env, DATABASE_URL: proxy.url } };
    const env = { UGS_QUEUE_LIMIT: '1' };
    const service = await TestService.start(postgres, { database: slow, env, returnsOverloaded: true });
    test.after(async () => {
      await service.end();
      await proxy[Symbol.asyncDispose]();
    });
    proxy.delayMs = 400;
    const calls = Array.from({ length: 10 }, () => service.get({ user_group_id: 'a', name: 'A' }));
    const rejected = await RawConnection.open(service.url);
    const request = `GET /v1/user-groups/a HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${service.token}\r\n\r\n`;
    rejected.write(request.repeat(100));
    const { answers, isEnded } = await rejected.finish();
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

  it('is disconnected if its requests exceed the buffer of the process, while earlier clients stay connected', async (test) => {
    const service = await TestService.start(sqlite);
    test.after(() => service.end());
    // The clients do not read the responses, so their next requests stay queued.
    const requests = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_400);
    const clients = await Promise.all(
      Array.from({ length: 40 }, () => sendWithoutReading(service.url, requests)),
    );
    const countClosed = () => clients.filter((client) => client.destroyed).length;
    await eventually('some to be disconnected', () => {
      // A client that does not read detects the disconnect by writing.
      for (const client of clients) client.write('\r\n');
      return countClosed() > 0;
    });
    assert.ok(countClosed() < clients.length, 'earlier clients stay connected');
    for (const client of clients) client.destroy();
    await eventually('capacity for other clients', async () => {
      const connection = await RawConnection.open(service.url);
      connection.write(GET.repeat(2));
      await eventually('a response', () => connection.exchange.answers.length > 0);
      return (await connection.finish(100)).answers.length === 2;
    });
  });
});

describe('The requests that wait in a thread of a process', () => {
  it('are limited by disconnecting the client that has most of them, not one that has few', async (test) => {
    const threads = 2;
    const pipelining = new RequestPipelining(threads);
    const started: ServerResponse[] = [];
    const http = createServer((message, response) =>
      pipelining.serialize(message, response, () => started.push(response)),
    );
    const server = await LoopbackServer.listen(http);
    test.after(() => server[Symbol.asyncDispose]());
    const open = () => RawConnection.open(server.url);
    const hostile: RawConnection[] = [];
    const ended: RawConnection[] = [];
    // One request is in progress on each connection, and as many wait as may.
    for (const waiting of [1_025, ...Array(16 / threads - 2).fill(1_024), 1_023]) {
      const connection = await open();
      connection.write(GET.repeat(1 + waiting));
      hostile.push(connection);
      void connection.ended.then(() => ended.push(connection));
      await eventually('the first request', () => started.length === hostile.length);
    }
    const victim = await open();
    victim.write(GET.repeat(3));
    await eventually('a disconnect', () => ended.length > 0);
    for (let response = 0; response < 3; response++) {
      await eventually('a request', () => started.length > hostile.length + response);
      started.at(-1)!.end('done');
    }
    await eventually('the responses', () => victim.exchange.answers.length === 3);
    assert.deepEqual(ended, [hostile[0]]);
    for (const connection of [...hostile, victim]) connection.leave();
  });

  it('are counted only until they start', async (test) => {
    const most = 4;
    const pipelining = new RequestPipelining(16_384 / most);
    const http = createServer((message, response) =>
      pipelining.serialize(message, response, () => response.end('done')),
    );
    const server = await LoopbackServer.listen(http);
    test.after(() => server[Symbol.asyncDispose]());
    const connections: RawConnection[] = [];
    let ended = 0;
    for (let count = 0; count < most; count++) {
      const connection = await RawConnection.open(server.url);
      connections.push(connection);
      void connection.ended.then(() => ended++);
      connection.write(GET.repeat(3));
      await eventually('the responses', () => connection.exchange.answers.length === 3);
    }
    assert.equal(ended, 0);
    for (const connection of connections) connection.leave();
  });
});

async function sendWithoutReading(url: string, requests: string): Promise<Socket> {
  const client = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  await once(client, 'connect');
  client.pause().write(requests);
  return client;
}
