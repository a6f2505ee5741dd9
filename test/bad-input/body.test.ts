// Contract: a body is one JSON object that can be read in one way only, of at most 256 KiB; whatever else arrives
// is refused by every operation, with a pointer where there is a place to point to.

import { after, before, it } from 'node:test';
import { describeOnEachDatabase } from '../database.ts';
import * as bodies from './body-cases.ts';
import { type Operation, operationsOn } from './operation.ts';
import { type BadCase, refuses } from './refusal.ts';
import { Victim } from './victim.ts';

const tables: Readonly<Record<string, (operations: readonly Operation[]) => BadCase[]>> = {
  'is missed where there is none': bodies.emptyBodies,
  'is refused where it is a JSON value but no object': bodies.noObjects,
  'is refused where it, or a member of it, is no JSON': bodies.noJson,
  'is refused where something stands before or after it': bodies.moreThanOneValue,
  'is refused where it is cut off or has a stray byte, at whatever place': bodies.brokenAtEachByte,
  'is refused where it is not UTF-8': bodies.notUtf8,
  'is refused in another encoding': bodies.otherEncodings,
  'is refused where a field stands twice': bodies.repeatedFields,
  'is refused where it has the key __proto__': bodies.prototypeFields,
  'is refused where a key has a lone surrogate': bodies.illFormedKeys,
  'is refused where it is nested too deep': bodies.deepNesting,
  'is refused where it is too large': bodies.tooLarge,
};

describeOnEachDatabase('A body', (database) => {
  let victim: Victim;
  before(async () => {
    victim = await Victim.start(database);
  });
  after(() => victim.end());

  for (const [sentence, casesOf] of Object.entries(tables)) {
    it(sentence, (t) => refuses(t, victim, casesOf(operationsOn(victim))));
  }
});
