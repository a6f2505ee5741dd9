// How long a check waits for a thread, for example while a busy machine starts it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OVERLOADED, PropertyValidator } from '../../src/operations/property-schema/validator/validator.ts';

const LONGER_THAN_A_REQUEST_WAITS_MS = 1_600;

describe('A check whose thread starts too late for a request', () => {
  it('is refused in the service, and executed in a command', async () => {
    await using ofService = new PropertyValidator();
    await using ofCommand = PropertyValidator.forCommand();
    const [refused, executed] = [ofService, ofCommand].map((each) => each.check(1, '{}', ['{}', '{}']));
    blockEventLoop(LONGER_THAN_A_REQUEST_WAITS_MS);
    await assert.rejects(refused!, OVERLOADED);
    assert.deepEqual(await executed, [[], []]);
  });
});

/** Until then, the threads cannot report that they have started. */
function blockEventLoop(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
