// Contract: the id in a path and the query of a list are parsed strictly. Every operation rejects malformed
// encodings, invalid ids and unknown parameters instead of guessing.

import { describe, it } from 'node:test';
import { bodilessOperationsOn, operationsOn } from '../support/bad-input/operation.ts';
import { assertRejected } from '../support/bad-input/refusal.ts';
import { badIds, badListQueries, inPath, inQuery, unexpectedBodies } from '../support/bad-input/url-cases.ts';
import { Victim } from '../support/bad-input/victim.ts';
import { describeOnEachDatabase } from '../support/database.ts';

describeOnEachDatabase('A URL', (database) => {
  const victim = Victim.of(database);

  describe('is rejected if the id in its path', () => {
    for (const [which, ids] of Object.entries(badIds)) {
      it(which, (t) => {
        const operations = [...operationsOn(victim), ...bodilessOperationsOn(victim)];
        return assertRejected(t, victim, inPath(operations, ids));
      });
    }
  });

  describe('of a list is rejected if its query has', () => {
    for (const [what, queries] of Object.entries(badListQueries)) {
      it(what, (t) => assertRejected(t, victim, inQuery(queries)));
    }
  });

  it('of an operation without a body is rejected with one', (t) =>
    assertRejected(t, victim, unexpectedBodies(bodilessOperationsOn(victim))));
});
