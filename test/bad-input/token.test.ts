// Contract: a token that is unknown, dead, malformed or another's is answered in the same words, whatever it is,
// and no token stands in for one of the other kind.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeOnEachDatabase } from '../database.ts';
import { bodilessOperationsOn, operationsOn } from './operation.ts';
import { faultsOf, leavesNoTrace, refuses } from './refusal.ts';
import {
  beyondPermission,
  lenientSpellings,
  misspellings,
  noTokens,
  unknownApiTokens,
  unknownTokens,
  uselessApiTokens,
  uselessTokens,
} from './token-cases.ts';
import { Victim } from './victim.ts';

describeOnEachDatabase('A token', (database) => {
  let victim: Victim;
  before(async () => {
    victim = await Victim.start(database);
  });
  after(() => victim.end());

  describe('of a user group', () => {
    const useless: Readonly<Record<string, () => readonly string[]>> = {
      'with a typing error': () => misspellings(victim.token),
      'spelt otherwise': () => lenientSpellings(victim.token),
      'that is no token': () => noTokens,
      'with a right checksum that nobody was given': () => unknownTokens,
      'of another environment or workspace': () => Object.values(victim.foreign),
      'that is an API token': () => [victim.service.token, ...Object.values(victim.apiTokens)],
    };
    for (const [which, tokensOf] of Object.entries(useless)) {
      it(`is not found where it is one ${which}`, (t) =>
        refuses(t, victim, uselessTokens(operationsOn(victim), tokensOf())));
    }

    it('is refused in the same words whatever is wrong with it', () =>
      leavesNoTrace(victim, async () => {
        const tokens = [
          'x',
          unknownTokens[0]!,
          victim.foreign.testing,
          victim.foreign.workspace,
          `${victim.token} `,
        ];
        const answers = await Promise.all(tokens.map((token) => victim.service.resolve(token)));
        const words = answers.map(({ json: { request_id: _, ...said } }) => JSON.stringify(said));
        assert.equal(new Set(words).size, 1);
      }));
  });

  describe('of the API', () => {
    const useless: Readonly<Record<string, () => readonly string[]>> = {
      'with a typing error': () => misspellings(victim.service.token),
      'with a right checksum that nobody was given': () => unknownApiTokens,
      'of a user group': () => [victim.token, ...Object.values(victim.foreign)],
      'that is revoked or expired': () => [victim.apiTokens.revoked, victim.apiTokens.expired],
    };
    for (const [which, tokensOf] of Object.entries(useless)) {
      it(`authenticates nobody where it is one ${which}`, (t) =>
        refuses(
          t,
          victim,
          uselessApiTokens([...operationsOn(victim), ...bodilessOperationsOn(victim)], tokensOf()),
        ));
    }

    it('is refused in the same words whatever is wrong with it', () =>
      leavesNoTrace(victim, async () => {
        const tokens = [
          null,
          'x',
          unknownApiTokens[0]!,
          victim.token,
          victim.apiTokens.revoked,
          victim.apiTokens.expired,
        ];
        const answers = await Promise.all(tokens.map((token) => victim.service.get('{}', { token })));
        const words = answers.map(({ json: { request_id: _, ...said } }) => JSON.stringify(said));
        assert.equal(new Set(words).size, 1);
      }));

    it('does no more than its permission says', (t) =>
      refuses(t, victim, beyondPermission(operationsOn(victim), bodilessOperationsOn(victim), victim)));
  });

  describe('that was rotated', () => {
    const notFound = { status: 404, code: 'user_group_token_not_found' } as const;
    const create = async (id: string): Promise<string> =>
      (await victim.service.get({ user_group_id: id, name: id })).json.user_group.token;
    const rotate = async (token: string, grace = 0): Promise<string> =>
      (await victim.service.post({ current_token: token, grace_period_seconds: grace })).json.user_group
        .token;
    const assertDead = async (name: string, token: string): Promise<void> => {
      assert.deepEqual(faultsOf(name, notFound, await victim.service.resolve(token)), []);
    };

    it('is dead at once without a grace period, and once one has ended', async () => {
      const first = await create('rotated');
      const second = await rotate(first);
      await assertDead('without grace', first);
      await rotate(second, 60);
      assert.equal((await victim.service.resolve(second)).json.token.status, 'retiring');
      victim.service.clockAheadMs += 60_001;
      await assertDead('after grace', second);
    });

    it('is found by no operation after a second rotation, even within its grace period', async () => {
      const first = await create('rotated twice');
      const third = await rotate(await rotate(first, 3_600), 3_600);
      await assertDead('to resolve', first);
      assert.deepEqual(
        faultsOf('to rotate', notFound, await victim.service.post({ current_token: first })),
        [],
      );
      assert.equal((await victim.service.resolve(third)).json.token.status, 'current');
    });
  });
});
