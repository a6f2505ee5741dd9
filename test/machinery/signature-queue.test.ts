// Signatures in the thread pool: few at a time, and in turns of the tenants.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SignatureQueue } from '../../src/operations/machinery/signature-queue.ts';

describe('Signatures', () => {
  it('are made few at a time, and in turns of the tenants', async () => {
    const queue = new SignatureQueue(1);
    const order: number[] = [];
    let running = 0;
    const sign = (tenant: number): Promise<void> =>
      queue.run(tenant, async () => {
        assert.equal(++running, 1);
        await sleep(1);
        order.push(tenant);
        running--;
      });
    const all = Array.from({ length: 20 }, () => sign(1));
    await Promise.all([...all, sign(2)]);
    assert.equal(order.indexOf(2), 2, `${order}`);
    await sign(3);
    assert.equal(order.at(-1), 3);
  });

  it('pass the turn on when one fails', async () => {
    const queue = new SignatureQueue(1);
    const failing = queue.run(1, async () => {
      throw new Error('no key');
    });
    const signed = queue.run(1, async () => 'signed');
    await assert.rejects(failing, /no key/);
    assert.equal(await signed, 'signed');
  });

  it('are rejected with overloaded if their turn does not come in time', async () => {
    const queue = new SignatureQueue(1);
    const slow = queue.run(1, () => sleep(1_600));
    const late = queue.run(2, async () => assert.fail('it must not start'));
    await assert.rejects(late, { code: 'overloaded', retryAfterSeconds: 1 });
    await slow;
    assert.equal(await queue.run(2, async () => 'next'), 'next');
  });
});
