// Slow clients of each kind. `npm run rig:slow-clients` is the long run, with a thousand of each, which also checks the
// latency of regular callers on an otherwise idle machine.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attackWithSlowClients, brokenPromises } from '../slow-clients.ts';

const CLIENTS = 50;
const LIMIT_MS = 2_000;

describe('Slow clients', () => {
  it('are disconnected, do not prevent regular calls from being served, and leave no resources behind', async (test) => {
    const limitsMs = { headers: LIMIT_MS, body: LIMIT_MS, answers: LIMIT_MS };
    const figures = await attackWithSlowClients({ clients: CLIENTS, limitsMs });
    test.diagnostic(JSON.stringify(figures));
    const broken = brokenPromises(figures, limitsMs);
    assert.deepEqual(
      broken.filter((promise) => !promise.endsWith('the latency of regular callers does not double')),
      [],
    );
  });
});
