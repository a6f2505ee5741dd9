// Connections that the webhook sender keeps open for later webhooks.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebhookSender } from '../../src/webhooks/sender.ts';
import { emptyWebhook } from '../support/webhooks/empty-webhook.ts';
import { Receiver } from '../support/webhooks/receiver.ts';

const HOSTILE = 1;
const VICTIM = 2;
const PER_HOST = 32;
const IN_TOTAL = 512;
/** Longer than it takes to send a burst, so that every webhook needs its own connection. */
const RESPONSE_MS = 500;
const CLOSING_MS = 200;
/** Longer than a busy machine needs for one webhook. */
const TIMEOUT_MS = 2_000;

describe('Idle connections', () => {
  it(`are reused, at most ${PER_HOST} for each receiver and ${IN_TOTAL} for all`, async () => {
    await using stack = new AsyncDisposableStack();
    const receivers = await startSlow(stack);
    const sender = stack.adopt(new WebhookSender({ allowsPrivate: true }), (each) => each.close());
    const burst = (count: number) =>
      receivers.flatMap(({ url }, workspaceId) =>
        Array.from({ length: count }, () => sender.send(emptyWebhook(url, workspaceId))),
      );
    for (const { error } of await Promise.all(burst(PER_HOST + 8))) assert.equal(error, null);
    await sleep(CLOSING_MS);
    const open = receivers.map(({ openConnections }) => openConnections);
    assert.ok(Math.max(...open) <= PER_HOST, `${open} connections`);
    const total = open.reduce((sum, count) => sum + count, 0);
    assert.ok(total > 0 && total <= IN_TOTAL, `${total} connections`);
    const before = receivers.map(({ connections }) => connections);
    await Promise.all(burst(1));
    const added = receivers.filter(({ connections }, index) => connections > before[index]!);
    assert.ok(added.length < receivers.length, 'no connection was reused');
  });

  it('of one workspace leave room for those of another', async () => {
    await using stack = new AsyncDisposableStack();
    const receivers = await startSlow(stack);
    const receiver = stack.use(await Receiver.start());
    const sender = stack.adopt(new WebhookSender({ allowsPrivate: true }), (each) => each.close());
    const hostile = receivers.flatMap(({ url }) => Array.from({ length: PER_HOST }, () => url));
    await Promise.all(hostile.map((url) => sender.send(emptyWebhook(url, HOSTILE))));
    await sender.send(emptyWebhook(receiver.url, VICTIM));
    await sender.send(emptyWebhook(receiver.url, VICTIM));
    assert.equal(receiver.connections, 1);
  });

  it('that the receiver closes as they are reused fail no webhook', async () => {
    await using stack = new AsyncDisposableStack();
    const receiver = stack.use(await Receiver.start());
    const closing = stack.use(await Receiver.start((response) => void response.destroy()));
    const sender = stack.adopt(new WebhookSender({ allowsPrivate: true }), (each) => each.close());
    await sender.send(emptyWebhook(receiver.url));
    receiver.respond = (response) => void (receiver.connections === 1 ? response.destroy() : response.end());
    assert.deepEqual(await sender.send(emptyWebhook(receiver.url)), { status: 200, error: null });
    assert.deepEqual([receiver.received.length, receiver.connections], [3, 2]);
    assert.equal((await sender.send(emptyWebhook(closing.url))).status, null);
    assert.equal(closing.connections, 1);
  });

  it('do not extend an attempt beyond its deadline', async () => {
    await using stack = new AsyncDisposableStack();
    const receiver = stack.use(await Receiver.start());
    const options = { allowsPrivate: true, timeoutMs: TIMEOUT_MS };
    const sender = stack.adopt(new WebhookSender(options), (each) => each.close());
    await sender.send(emptyWebhook(receiver.url));
    receiver.respond = () => {};
    const { error } = await sender.send(emptyWebhook(receiver.url));
    assert.deepEqual([error, receiver.connections], [`timed out after ${TIMEOUT_MS / 1_000} seconds`, 1]);
  });
});

function startSlow(stack: AsyncDisposableStack): Promise<Receiver[]> {
  const start = async () =>
    stack.use(await Receiver.start((response) => setTimeout(() => response.end(), RESPONSE_MS)));
  return Promise.all(Array.from({ length: 20 }, start));
}
