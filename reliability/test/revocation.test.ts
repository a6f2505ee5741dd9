// An ended token is rejected by every process immediately. `npm run rig:revocation -- --trials 1000` is the long run.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeOnEachDatabase, sqlite } from '../../test/support/database.ts';
import type { TestResponse } from '../../test/support/http.ts';
import { TestService } from '../../test/support/service.ts';
import { endTokens, revocation } from '../revocation.ts';
import { PromiseBroken } from '../support/ledger.ts';
import { Random } from '../support/random.ts';
import { TamperingProxy } from './tampering-proxy.ts';

const TRIALS = 100;

describeOnEachDatabase('A token in use when it is ended', (kind) => {
  it(`is never accepted after the acknowledgement, in ${TRIALS} trials`, async (test) => {
    const seed = Random.newSeed();
    test.diagnostic(`seed ${seed}`);
    const processes = kind.name === 'SQLite' ? 1 : 2;
    const figures = await revocation({ kind, processes, trials: TRIALS, seed, onTrial: () => {} });
    assert.ok(figures.accepted > TRIALS, 'the tokens were in use');
  });
});

describe('The revocation rig', () => {
  it('detects a process that caches responses briefly', async (test) => {
    const service = await TestService.start(sqlite);
    test.after(() => service.end());
    const cached = new Map<string, { response: TestResponse; until: number }>();
    await using caching = await TamperingProxy.start(service.url, {
      changeResponse: (response, { path, body }) => {
        if (path !== '/v1/resolve') return response;
        const before = cached.get(String(body));
        if (before !== undefined && before.until > performance.now()) return before.response;
        cached.set(String(body), { response, until: performance.now() + 20 });
        return response;
      },
    });
    const issuer = {
      create: () => service.apiToken(),
      revoke: (id: number) => service.revokeApiToken(id),
    };
    const { token } = await service.apiToken({ permission: 'admin' });
    const target = { urls: [service.url, caching.url], token, issuer };
    await assert.rejects(
      endTokens({ ...target, trials: 50, seed: 1, onTrial: () => {} }),
      // The cache also confuses API tokens: to the new text, it may return what it holds for the replaced
      // one.
      (error) => error instanceof PromiseBroken && /(?:accepted|rejected) after/.test(error.message),
    );
  });
});
