// One tenant that does its worst, and another one beside it. `npm run rig:two-tenants` is the long run, which
// checks every case against its goal; the limits here allow for a busy machine.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeOnEachDatabase, sqlite } from '../../test/support/database.ts';
import { brokenPromises, type CaseFigures, casesOf, hurtOneOfTwoTenants } from '../two-tenants.ts';

const LIMITS = { factor: 30, memoryMb: 600 };
const CASES = ['ordinary-resolving', 'schemas-replaced-hidden', 'tokens-garbage', 'lists-pages'];

describeOnEachDatabase('A hostile tenant', (kind) => {
  it('causes no error of another tenant', async (test) => {
    const figures = await hurtOneOfTwoTenants({ kind, seconds: 1, rounds: 1, only: CASES });
    test.diagnostic(JSON.stringify(figures));
    assert.equal(figures.length, CASES.length);
    assert.deepEqual(brokenPromises(figures, LIMITS), []);
    for (const { attack } of figures) assert.match(attack, /^\d+ x /, 'the attacker received responses');
  });
});

describe('A hostile tenant with a service of its own', () => {
  it('stores nothing in the other one', async () => {
    const options = { kind: sqlite, seconds: 1, rounds: 1, only: ['receivers-fan-out'], isApart: true };
    const [{ attack, storedMb }] = (await hurtOneOfTwoTenants(options)) as [CaseFigures];
    assert.match(attack, /\d+ x 200/);
    // The attack stores 5 MB a second.
    assert(storedMb < 1, `${storedMb} MB`);
  });
});

describe('The cases of the rig two-tenants', () => {
  it('have different names, and can be chosen by how these start', () => {
    const names = casesOf().map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    assert.deepEqual(
      casesOf(['tokens']).map(({ name }) => name),
      names.filter((name) => name.startsWith('tokens')),
    );
  });

  it('break a promise if the other tenant gets slower, gets an error, or the service takes too much memory', () => {
    const kept = { case: 'a', factor: 2, errors: '', memoryMb: 400 } as CaseFigures;
    assert.deepEqual(brokenPromises([kept]), []);
    for (const broken of [{ factor: 2.1 }, { errors: '1 x get 503' }, { memoryMb: 401 }])
      assert.equal(brokenPromises([{ ...kept, ...broken }]).length, 1, JSON.stringify(broken));
  });
});
