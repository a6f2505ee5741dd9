// Property schemas that take too long to check, and what they cost tenants with other schemas.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EMPTY_OBJECT, jsonText } from '../../src/domain/json/json-tree.ts';
import {
  PropertySchemaInvalid,
  PropertyValidator,
} from '../../src/operations/property-schema/validator/validator.ts';

const VICTIM = 1;
const HOSTILE = [2, 3, 4, 5];
const ordinary = jsonText({
  properties: { plan: { enum: ['silver', 'gold'] } },
  additionalProperties: false,
});

/** Each definition refers twice to the one before, so a check takes 2^40 steps. */
const definitions = Array.from({ length: 40 }, (_, index) => {
  const $ref = `#/$defs/${index - 1}`;
  return [index, index === 0 ? true : { allOf: [{ $ref }, { $ref }] }];
});
const endless = jsonText({
  $defs: Object.fromEntries(definitions),
  properties: { a: { $ref: '#/$defs/39' } },
});
/** Longer than a check may take. */
const BLOCKED_MS = 350;
const large = jsonText({ additionalProperties: { items: { pattern: '^[a-z0-9-]+$' } } });
/** Takes longer to check than a fast thread allows. */
const largeText = jsonText(
  Object.fromEntries(
    Array.from({ length: 90 }, (_, key) => [`k${key}`, Array.from({ length: 90 }, () => 'a-1')]),
  ),
);
/** Takes one long step, which the thread cannot interrupt. */
const longStep = jsonText({ properties: { a: { pattern: `${'(.*)'.repeat(2_000)}b$` } } });
const longText = jsonText({ a: 'ab'.repeat(30_000) });

describe('The validator of properties', () => {
  let validator: PropertyValidator;
  before(() => {
    validator = new PropertyValidator();
  });
  after(() => validator[Symbol.asyncDispose]());

  const isTooSlow = (error: unknown) =>
    error instanceof PropertySchemaInvalid && error.message === 'takes too long to check';

  it('stops a check that takes too long', async () => {
    await assert.rejects(validator.check(HOSTILE[0]!, endless, [jsonText({ a: 1 })]), isTooSlow);
  });

  it('ends a check that it cannot stop', async () => {
    await assert.rejects(validator.check(HOSTILE[0]!, longStep, [longText]), isTooSlow);
    assert.deepEqual(await validator.check(HOSTILE[0]!, ordinary, [jsonText({ plan: 'gold' })]), [[]]);
  });

  it('says when checks with a schema have taken too long repeatedly', async () => {
    const isRepeated: boolean[] = [];
    for (let time = 0; time < 3; time++) {
      const error = await validator.check(9, endless, [jsonText({ a: time })]).catch((reason) => reason);
      isRepeated.push(error.isRepeated);
    }
    assert.deepEqual(isRepeated, [false, false, true]);
  });

  it('does not let a tenant wait for the slow checks of others', async () => {
    const attack = Promise.allSettled(
      HOSTILE.flatMap((tenant) => [1, 2].map((a) => validator.check(tenant, endless, [jsonText({ a })]))),
    );
    let isOver = false;
    void attack.then(() => {
      isOver = true;
    });
    for (let check = 0; check < 20; check++)
      assert.deepEqual(await validator.check(VICTIM, ordinary, [jsonText({ plan: 'gold' })]), [[]]);
    assert.equal(isOver, false, 'the attack has ended first');
    await attack;
  });

  it('gives the right verdict after the main thread was blocked for longer than a check may take', async () => {
    // Compiles the schema.
    await validator.check(10, large, [EMPTY_OBJECT, EMPTY_OBJECT]);
    for (const properties of [[jsonText({ plan: 'gold' })], [largeText]])
      for (const turns of [0, 2]) {
        const faults = validator.check(10, large, properties);
        for (let turn = 0; turn < turns; turn++) await nextTurn();
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED_MS);
        assert.deepEqual(await faults, [[]], `after ${turns} turns`);
      }
  });

  it('does not run out of memory because of the schemas of several tenants', async () => {
    const pattern = (index: number) => [`^k*${index}[a-z]{40}$`, {}];
    const large = jsonText({
      patternProperties: Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => pattern(index))),
    });
    for (const tenant of [...HOSTILE, 6, 7, 8, 9])
      assert.deepEqual(await validator.check(tenant, large, [EMPTY_OBJECT, EMPTY_OBJECT]), [[], []]);
  });

  it('checks many properties together, for as long as a slow check may take', async () => {
    const all = Array.from({ length: 500 }, () => jsonText({ plan: 'lead' }));
    const faults = await validator.check(VICTIM, ordinary, all);
    assert.equal(faults.flat().length, 500);
  });
});
