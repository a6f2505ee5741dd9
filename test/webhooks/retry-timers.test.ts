// Timers of retries that workspaces share.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RetryTimers } from '../../src/webhooks/retry-timers.ts';

const HOSTILE = 1;
const VICTIM = 2;
const ENDPOINTS = 100;
/** Slots of 100 milliseconds in the time of a retry. */
const SLOTS = 60;
/** More than the timers that there may be at a time. */
const MANY = 10_001;

describe('Timers of retries', () => {
  it('wake an endpoint in time, however many retries another workspace has', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const woken: number[] = [];
    const timers = new RetryTimers(({ workspaceId }) => void woken.push(workspaceId));
    for (const environment of ['Customer', 'Testing'] as const)
      for (let endpoint = 0; endpoint < ENDPOINTS; endpoint++)
        for (let slot = 0; slot < SLOTS; slot++)
          timers.add({ workspaceId: HOSTILE, environment, endpointId: `e${endpoint}` }, 100 * slot, 0);
    timers.add({ workspaceId: VICTIM, environment: 'Customer', endpointId: 'e' }, 5_000, 0);
    t.mock.timers.tick(5_000);
    assert.ok(woken.includes(VICTIM));
    assert.ok(woken.length <= MANY / 2, `${woken.length} timers`);
    timers.clear();
  });

  it('wake an endpoint in time, however many retries it has had', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let woken = 0;
    const timers = new RetryTimers(() => void woken++);
    for (let retry = 0; retry < MANY; retry++) {
      timers.add({ workspaceId: VICTIM, environment: 'Customer', endpointId: 'e' }, 100 * retry, 100 * retry);
      t.mock.timers.tick(100);
    }
    assert.equal(woken, MANY);
  });

  it('wake no endpoint before its retry is due', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let woken = 0;
    const timers = new RetryTimers(() => void woken++);
    timers.add({ workspaceId: VICTIM, environment: 'Customer', endpointId: 'e' }, 150, 0);
    t.mock.timers.tick(149);
    assert.equal(woken, 0);
    t.mock.timers.tick(100);
    assert.equal(woken, 1);
  });
});
