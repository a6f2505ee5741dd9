// A token that has ended is refused everywhere, at once. `npm run rig:revocation -- --trials 1000` is the long run.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PromiseBroken } from '../../rig/ledger.ts';
import { Random } from '../../rig/random.ts';
import { endTokens, revocation } from '../../rig/revocation.ts';
import { describeOnEachDatabase, sqlite } from '../database.ts';
import type { TestAnswer } from '../http.ts';
import { TestService } from '../service.ts';
import { LyingProxy } from './lying-proxy.ts';

const TRIALS = 100;

describeOnEachDatabase('A token that is used while it ends', (kind) => {
  it(`is never accepted after its end is acknowledged, in ${TRIALS} trials`, async (test) => {
    const seed = Random.newSeed();
    test.diagnostic(`seed ${seed}`);
    const processes = kind.name === 'SQLite' ? 1 : 2;
    const figures = await revocation({ kind, processes, trials: TRIALS, seed, onTrial: () => {} });
    assert.ok(figures.accepted > TRIALS, 'the tokens were in use');
  });
});

describe('The rig of revocation', () => {
  it('finds a process that remembers an answer for a moment', async (test) => {
    const service = await TestService.start(sqlite);
    test.after(() => service.end());
    const remembered = new Map<string, { answer: TestAnswer; until: number }>();
    await using forgetful = await LyingProxy.start(service.url, {
      told: (answer, { path, body }) => {
        if (path !== '/v1/resolve') return answer;
        const before = remembered.get(String(body));
        if (before !== undefined && before.until > performance.now()) return before.answer;
        remembered.set(String(body), { answer, until: performance.now() + 20 });
        return answer;
      },
    });
    const issuer = {
      create: () => service.apiToken(),
      revoke: (id: number) => service.revokeApiToken(id),
    };
    const place = { urls: [service.url, forgetful.url], token: service.token, issuer };
    await assert.rejects(
      endTokens({ ...place, trials: 50, seed: 1, onTrial: () => {} }),
      (error) => error instanceof PromiseBroken && /accepted after/.test(error.message),
    );
  });
});
