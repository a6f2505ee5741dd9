// Slots that workspaces share: no workspace ever leaves the others without any.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Slots } from '../../src/webhooks/slots.ts';

const COUNT = 256;
const HOSTILE = 1;
const VICTIM = 2;

/** Takes a slot for each name in the background; returns the names in the order in which they got one. */
function take(slots: Slots, ...names: [workspaceId: number, name: string][]): string[] {
  const served: string[] = [];
  for (const [workspaceId, name] of names) void slots.take(workspaceId, 1).then(() => served.push(name));
  return served;
}

describe('Slots', () => {
  it('leave half to others, however many endpoints of one workspace wait', async () => {
    const slots = new Slots(COUNT);
    let held = 0;
    for (let endpoint = 0; endpoint < 1_000; endpoint++)
      void slots.take(HOSTILE, 4).then((count) => {
        held += count;
      });
    await nextTurn();
    assert.equal(held, COUNT / 2);
    assert.equal(await slots.take(VICTIM, 32), 32);
  });

  it('go to waiting workspaces in turn, and within one to its endpoints in turn', async () => {
    const slots = new Slots(2);
    const held = await Promise.all([slots.take(8, 1), slots.take(9, 1)]);
    assert.deepEqual(held, [1, 1]);
    const served = take(slots, [1, 'a1'], [1, 'a2'], [1, 'a3'], [2, 'b1'], [3, 'c1'], [2, 'b2']);
    // Releases each slot as soon as it is taken, so that exactly one is free at a time.
    slots.release(8, 1);
    for (const workspaceId of [1, 2, 3, 1, 2, 1]) {
      await nextTurn();
      slots.release(workspaceId, 1);
    }
    assert.deepEqual(served, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('that are free go to one workspace while another may hold no more', async () => {
    const slots = new Slots(4);
    assert.equal(await slots.take(HOSTILE, 4), 2);
    const served = take(slots, [HOSTILE, 'hostile'], [VICTIM, 'victim']);
    await nextTurn();
    assert.deepEqual(served, ['victim']);
    slots.release(HOSTILE, 1);
    await nextTurn();
    assert.deepEqual(served, ['victim', 'hostile']);
  });

  it('that are all taken cost a workspace no more, however many others wait', async () => {
    const slots = new Slots(COUNT);
    for (let workspaceId = 1; workspaceId <= COUNT; workspaceId++) await slots.take(workspaceId, 1);
    const start = process.cpuUsage();
    for (let workspaceId = COUNT + 1; workspaceId < 20_000; workspaceId++) void slots.take(workspaceId, 1);
    const { user } = process.cpuUsage(start);
    assert.ok(user < 500_000, `${user} microseconds`);
  });

  it('are no longer waited for once they are closed', async () => {
    const slots = new Slots(1);
    assert.equal(await slots.take(HOSTILE, 1), 1);
    const waiting = slots.take(HOSTILE, 1);
    slots.close();
    assert.deepEqual([await waiting, await slots.take(VICTIM, 1)], [0, 0]);
    slots.release(HOSTILE, 1);
  });
});
