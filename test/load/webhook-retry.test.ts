// Contract: the delay of a webhook's first retry, by the clock of the machine.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeOnEachDatabase } from '../support/database.ts';
import { TestService } from '../support/service.ts';
import { Receiver, respondWith } from '../support/webhooks/receiver.ts';
import { env, Tenant } from '../support/webhooks/tenant.ts';

const ENDPOINTS = 10;
const GROUPS = 4;
/** Pause between groups: their attempts fail at different times between two polls. */
const APART_MS = 270;
/** Allowance for a busy machine. */
const MARGIN_MS = 300;

describeOnEachDatabase('The first retry of a webhook', (kind) => {
  it('comes 5 to 6 seconds after the failure', async (test) => {
    const service = await TestService.start(kind, { env });
    const receiver = await Receiver.start(respondWith(500));
    test.after(async () => {
      await service.end();
      await receiver[Symbol.asyncDispose]();
    });
    const tenant = await Tenant.create(service, 'retries');
    for (let index = 0; index < ENDPOINTS; index++)
      await tenant.endpoint(`e${index}`, `${receiver.url}/${index}`);
    for (let index = 0; index < GROUPS; index++) {
      await tenant.createGroup(`g${index}`);
      await sleep(APART_MS);
    }
    const received = await receiver.waitFor(2 * ENDPOINTS * GROUPS);
    const attempts = Map.groupBy(received, ({ path, headers }) => `${path} ${headers['webhook-id']}`);
    assert.equal(attempts.size, ENDPOINTS * GROUPS);
    for (const [first, second] of attempts.values()) {
      const delayMs = second!.receivedAt - first!.receivedAt;
      assert.ok(delayMs >= 5_000 && delayMs <= 6_000 + MARGIN_MS, `${delayMs} ms`);
    }
  });
});
