// Contract: what each field accepts. Every value beyond that is refused with a pointer to it, by every operation.

import { after, before, it } from 'node:test';
import { describeOnEachDatabase } from '../database.ts';
import {
  casesOf,
  fieldsOfOthers,
  fieldTables,
  mappedToNull,
  missingFields,
  unknownFields,
} from './field-cases.ts';
import { operationsOn } from './operation.ts';
import { refuses } from './refusal.ts';
import { Victim } from './victim.ts';

describeOnEachDatabase('A field of a body', (database) => {
  let victim: Victim;
  before(async () => {
    victim = await Victim.start(database);
  });
  after(() => victim.end());

  for (const [sentence, table] of Object.entries(fieldTables)) {
    it(`refuses ${sentence}`, (t) => refuses(t, victim, casesOf(operationsOn(victim), table)));
  }

  it('refuses a mapping to null, but in a merge patch', (t) => {
    const operations = operationsOn(victim).filter(({ method }) => method !== 'PATCH');
    return refuses(t, victim, casesOf(operations, mappedToNull));
  });

  it('is refused where the operation does not know it', (t) =>
    refuses(t, victim, unknownFields(operationsOn(victim))));

  it('is refused where only another operation knows it', (t) =>
    refuses(t, victim, fieldsOfOthers(operationsOn(victim))));

  it('is missed where it is required', (t) => refuses(t, victim, missingFields(operationsOn(victim))));
});
