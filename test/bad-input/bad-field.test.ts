// Contract: the values that each field accepts. Every operation rejects any other value, with a pointer to
// it. Such a value never reaches a database, so a service on one database is enough.

import { describe, it } from 'node:test';
import {
  casesOf,
  fieldsOfOtherOperations,
  fieldTables,
  mappedToNull,
  missingFields,
  unknownFields,
} from '../support/bad-input/field-cases.ts';
import { operationsOn } from '../support/bad-input/operation.ts';
import { assertRejected } from '../support/bad-input/refusal.ts';
import { Victim } from '../support/bad-input/victim.ts';
import { sqlite } from '../support/database.ts';

describe('A field of a body', () => {
  const victim = Victim.of(sqlite);

  for (const [values, table] of Object.entries(fieldTables)) {
    it(`rejects ${values}`, (t) => assertRejected(t, victim, casesOf(operationsOn(victim), table)));
  }

  it('rejects a mapping to null, except in a merge patch', (t) => {
    const operations = operationsOn(victim).filter(({ method }) => method !== 'PATCH');
    return assertRejected(t, victim, casesOf(operations, mappedToNull));
  });

  it('is rejected if it is unknown', (t) => assertRejected(t, victim, unknownFields(operationsOn(victim))));

  it('is rejected if only another operation has it', (t) =>
    assertRejected(t, victim, fieldsOfOtherOperations(operationsOn(victim))));

  it('is reported if it is required and missing', (t) =>
    assertRejected(t, victim, missingFields(operationsOn(victim))));
});
