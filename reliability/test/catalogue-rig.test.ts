// A change of the catalogue, a policy, the property schema or an integration applies to the next request through every
// process. `npm run rig:catalogue -- --trials 1000 --database postgres` is the long run.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeOnEachDatabase, sqlite } from '../../test/support/database.ts';
import type { TestResponse } from '../../test/support/http.ts';
import { TestService } from '../../test/support/service.ts';
import { catalogue, changeConfig } from '../catalogue.ts';
import { PromiseBroken } from '../support/ledger.ts';
import { Random } from '../support/random.ts';
import { TamperingProxy } from './tampering-proxy.ts';

const TRIALS = 60;

describeOnEachDatabase('A configuration in use when it is changed', (kind) => {
  it(`is never used after the acknowledgement, in ${TRIALS} trials`, async (test) => {
    const seed = Random.newSeed();
    test.diagnostic(`seed ${seed}`);
    const processes = kind.name === 'SQLite' ? 1 : 2;
    const figures = await catalogue({ kind, processes, trials: TRIALS, seed, onTrial: () => {} });
    assert.ok(figures.accepted > TRIALS, 'the configurations were in use');
  });
});

describe('The catalogue rig', () => {
  it('detects a process that keeps a configuration briefly', async (test) => {
    const service = await TestService.start(sqlite);
    test.after(() => service.end());
    const kept = new Map<string, { response: TestResponse; until: number }>();
    await using keeping = await TamperingProxy.start(service.url, {
      changeResponse: (response, { path, body }) => {
        if (path !== '/v1/resolve' && path !== '/v1/embed-tokens') return response;
        const before = kept.get(String(body));
        if (before !== undefined && before.until > performance.now()) return before.response;
        kept.set(String(body), { response, until: performance.now() + 20 });
        return response;
      },
    });
    const { token } = await service.apiToken({ permission: 'admin' });
    const target = { urls: [service.url, keeping.url], token };
    await assert.rejects(
      changeConfig({ ...target, trials: 50, seed: 1, onTrial: () => {} }),
      (error) => error instanceof PromiseBroken && /accepted after/.test(error.message),
    );
  });
});
