// Contract: who asks, in which media type and from where. A header that says it wrongly, or twice, is refused by
// every operation, however good the body.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { checkMediaType } from '../../src/http/media-type.ts';
import { describeOnEachDatabase } from '../database.ts';
import * as headers from './header-cases.ts';
import { type BodilessOperation, bodilessOperationsOn, type Operation, operationsOn } from './operation.ts';
import { type BadCase, refuses } from './refusal.ts';
import { Victim } from './victim.ts';

const tables: Readonly<
  Record<string, (operations: readonly (Operation | BodilessOperation)[], victim: Victim) => BadCase[]>
> = {
  'is refused where it bears no good API token': headers.badAuthorizations,
  'tells nobody what is wrong with a body': headers.badBodiesOfNobody,
  'is refused where the body is not declared as JSON': headers.badMediaTypes,
  'is refused where the body is compressed': headers.contentCoded,
  'is refused where it comes from a page of another origin': headers.foreignOrigins,
  'is refused where a header stands twice that is read once': headers.repeatedHeaders,
  'is refused where fields stand in the query': headers.fieldsInTheQuery,
  'is refused where its condition names no version, or another one': headers.badConditions,
};

describeOnEachDatabase('A request', (database) => {
  let victim: Victim;
  before(async () => {
    victim = await Victim.start(database);
  });
  after(() => victim.end());

  for (const [sentence, casesOf] of Object.entries(tables)) {
    it(sentence, (t) =>
      refuses(t, victim, casesOf([...operationsOn(victim), ...bodilessOperationsOn(victim)], victim)),
    );
  }
});

it('A media type is refused in a time that does not grow with the square of its length', () => {
  // It takes a millisecond; the square would take twenty seconds.
  const headers = { 'content-type': `application/json${' '.repeat(200_000)}x` };
  const start = performance.now();
  assert.throws(() => checkMediaType({ headers }, ['application/json']), { code: 'unsupported_media_type' });
  assert.ok(performance.now() - start < 2_000);
});
