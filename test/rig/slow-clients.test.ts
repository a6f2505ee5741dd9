// Slow clients of each kind. `npm run rig:slow-clients` is the long run, with a thousand of each, which also holds what
// others wait to its goal on a machine that does nothing else.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { besetBySlowClients, brokenPromises } from '../../rig/slow-clients.ts';

const CLIENTS = 50;
const LIMIT_MS = 2_000;

describe('Slow clients', () => {
  it('are cut off, keep nobody from being served, and leave nothing behind', async (test) => {
    const limitsMs = { headers: LIMIT_MS, body: LIMIT_MS, answers: LIMIT_MS };
    const figures = await besetBySlowClients({ clients: CLIENTS, limitsMs });
    test.diagnostic(JSON.stringify(figures));
    const broken = brokenPromises(figures, limitsMs);
    assert.deepEqual(
      broken.filter((promise) => !promise.endsWith('what others wait')),
      [],
    );
  });
});
