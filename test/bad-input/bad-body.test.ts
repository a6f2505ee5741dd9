// Contract: a body is one unambiguous JSON object of at most 256 KiB. Every operation rejects anything else,
// with a pointer to the invalid part. Such a body never reaches a database, so a service on one database is
// enough.

import { describe, it } from 'node:test';
import * as bodies from '../support/bad-input/body-cases.ts';
import { type Operation, operationsOn } from '../support/bad-input/operation.ts';
import { assertRejected, type BadCase } from '../support/bad-input/refusal.ts';
import { Victim } from '../support/bad-input/victim.ts';
import { sqlite } from '../support/database.ts';

const tables: Readonly<Record<string, (operations: readonly Operation[]) => BadCase[]>> = {
  'is required': bodies.emptyBodies,
  'is rejected if it is JSON but not an object': bodies.notObjects,
  'is rejected if it or one of its members is not JSON': bodies.notJson,
  'is rejected if it has leading or trailing text': bodies.extraText,
  'is rejected if it is truncated or has a stray byte at any offset': bodies.brokenAtEachByte,
  'is rejected if it is not valid UTF-8': bodies.notUtf8,
  'is rejected in another encoding': bodies.otherEncodings,
  'is rejected if it has a duplicate field': bodies.duplicateFields,
  'is rejected if it has the key __proto__': bodies.prototypeFields,
  'is rejected if a key has a lone surrogate': bodies.illFormedKeys,
  'is rejected if it is nested too deeply': bodies.deepNesting,
  'is rejected if it is too large': bodies.tooLarge,
};

describe('A body', () => {
  const victim = Victim.of(sqlite);

  for (const [title, casesOf] of Object.entries(tables)) {
    it(title, (t) => assertRejected(t, victim, casesOf(operationsOn(victim))));
  }
});
