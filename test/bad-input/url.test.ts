// Contract: the id in a path and the query of a list are read strictly. What cannot be decoded, what no id can be and
// what no parameter is, is refused by every operation, and never taken for something near it.

import { after, before, describe, it } from 'node:test';
import { describeOnEachDatabase } from '../database.ts';
import { bodilessOperationsOn, operationsOn } from './operation.ts';
import { refuses } from './refusal.ts';
import { badIds, badListQueries, inPath, inQuery, needlessBodies } from './url-cases.ts';
import { Victim } from './victim.ts';

describeOnEachDatabase('A URL', (database) => {
  let victim: Victim;
  before(async () => {
    victim = await Victim.start(database);
  });
  after(() => victim.end());

  describe('is refused where it has an id in its path', () => {
    for (const [which, ids] of Object.entries(badIds)) {
      it(which, (t) => {
        const operations = [...operationsOn(victim), ...bodilessOperationsOn(victim)];
        return refuses(t, victim, inPath(operations, ids));
      });
    }
  });

  describe('of a list is refused where its query has', () => {
    for (const [what, queries] of Object.entries(badListQueries)) {
      it(what, (t) => refuses(t, victim, inQuery(queries)));
    }
  });

  it('of an operation that takes no body is refused with one', (t) =>
    refuses(t, victim, needlessBodies(bodilessOperationsOn(victim))));
});
