// A receiver that is far away, or whose first packet is lost: connecting takes longer than Node waits by default.

import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { http } from '../../src/system/http.ts';
import { WebhookSender } from '../../src/webhooks/sender.ts';
import { freePort } from '../support/connection/free-port.ts';
import { eventually } from '../support/process.ts';
import { emptyWebhook } from '../support/webhooks/empty-webhook.ts';

const BACKLOG = 1;
/** Longer than Node waits for an address by default. */
const BLOCKED_MS = 700;

/** Serves HTTP, and is blocked until it is notified. */
const BLOCKED_SERVER = `
  const { createServer } = require('node:http');
  const { parentPort, workerData } = require('node:worker_threads');
  const server = createServer((request, response) => request.resume().on('end', () => response.end()));
  server.listen({ port: 0, host: '127.0.0.1', backlog: ${BACKLOG} }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(workerData, 0, 0));
  });`;

describe('A receiver with two addresses, one of which cannot be reached,', () => {
  it('gets a webhook even if connecting to the other takes a second', {
    skip: process.platform !== 'linux' && 'only Linux drops connections beyond the backlog',
  }, async (t) => {
    const flag = new Int32Array(new SharedArrayBuffer(4));
    const server = new Worker(BLOCKED_SERVER, { eval: true, workerData: flag });
    t.after(() => server.terminate());
    const [port] = (await once(server, 'message')) as [number];
    const waiting = Array.from({ length: BACKLOG + 2 }, () => connect(port, '127.0.0.1'));
    await eventually('a full backlog', () => waiting.filter(({ connecting }) => connecting).length === 1);
    // The other one refuses the connection.
    const sender = senderTo(t, [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
    const sent = sender.send(emptyWebhook(`http://receiver.example:${port}/`));
    await sleep(BLOCKED_MS);
    for (const socket of waiting) socket.destroy();
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
    assert.deepEqual(await sent, { status: 200, error: null });
  });

  it('is said to refuse connections if both addresses do', async (t) => {
    const sender = senderTo(t, [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ]);
    const { error } = await sender.send(emptyWebhook(`http://receiver.example:${await freePort()}/`));
    assert.equal(error, 'connection refused');
  });
});

/** Returns a sender for which every name has these addresses. */
function senderTo(t: TestContext, addresses: LookupAddress[]): WebhookSender {
  const { request } = http;
  const lookup = (_: string, __: object, found: (error: null, addresses: LookupAddress[]) => void) =>
    found(null, addresses);
  t.mock.method(http, 'request', (url: string, options: object) => request(url, { ...options, lookup }));
  const sender = new WebhookSender({ allowsPrivate: true });
  t.after(() => sender.close());
  return sender;
}
