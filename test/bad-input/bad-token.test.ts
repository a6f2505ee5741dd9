// Contract: unknown, malformed and foreign tokens get the same error, and a token of one kind is not accepted
// as the other.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bodilessOperationsOn, operationsOn } from '../support/bad-input/operation.ts';
import { assertRejected, assertUnchanged } from '../support/bad-input/refusal.ts';
import {
  beyondPermission,
  invalidApiTokens,
  invalidTokens,
  lenientVariants,
  misspellings,
  notTokens,
  unknownApiTokens,
  unknownTokens,
} from '../support/bad-input/token-cases.ts';
import { Victim } from '../support/bad-input/victim.ts';
import { describeOnEachDatabase } from '../support/database.ts';

describeOnEachDatabase('A token', (database) => {
  const victim = Victim.of(database);

  describe('of a user group', () => {
    const invalid: Readonly<Record<string, () => readonly string[]>> = {
      'it has a typing error': () => misspellings(victim.token),
      'it is a variant of a valid token': () => lenientVariants(victim.token),
      'it is not a token': () => notTokens,
      'it was never issued but has a correct checksum': () => unknownTokens,
      'it belongs to another environment or workspace': () => Object.values(victim.foreign),
      'it is an API token': () => [victim.service.token, ...Object.values(victim.apiTokens)],
    };
    for (const [which, tokensOf] of Object.entries(invalid)) {
      it(`is not found if ${which}`, (t) =>
        assertRejected(t, victim, invalidTokens(operationsOn(victim), tokensOf())));
    }

    it('gets the same error for every cause', () =>
      assertUnchanged(victim, async () => {
        const tokens = [
          'x',
          unknownTokens[0]!,
          victim.foreign.testing,
          victim.foreign.workspace,
          `${victim.token} `,
        ];
        const responses = await Promise.all(tokens.map((token) => victim.service.resolve(token)));
        const errors = responses.map(({ json: { request_id: _, ...error } }) => JSON.stringify(error));
        assert.equal(new Set(errors).size, 1);
      }));
  });

  describe('for the API', () => {
    const invalid: Readonly<Record<string, () => readonly string[]>> = {
      'it has a typing error': () => misspellings(victim.service.token),
      'it was never issued but has a correct checksum': () => unknownApiTokens,
      'it is a user group token': () => [victim.token, ...Object.values(victim.foreign)],
      'it is revoked or expired': () => [victim.apiTokens.revoked, victim.apiTokens.expired],
    };
    for (const [which, tokensOf] of Object.entries(invalid)) {
      it(`does not authenticate if ${which}`, (t) =>
        assertRejected(
          t,
          victim,
          invalidApiTokens([...operationsOn(victim), ...bodilessOperationsOn(victim)], tokensOf()),
        ));
    }

    it('gets the same error for every cause', () =>
      assertUnchanged(victim, async () => {
        const tokens = [
          null,
          'x',
          unknownApiTokens[0]!,
          victim.token,
          victim.apiTokens.revoked,
          victim.apiTokens.expired,
        ];
        const responses = await Promise.all(tokens.map((token) => victim.service.get('{}', { token })));
        const errors = responses.map(({ json: { request_id: _, ...error } }) => JSON.stringify(error));
        assert.equal(new Set(errors).size, 1);
      }));

    it('allows only the calls of its permission', (t) =>
      assertRejected(
        t,
        victim,
        beyondPermission(operationsOn(victim), bodilessOperationsOn(victim), victim),
      ));
  });
});
