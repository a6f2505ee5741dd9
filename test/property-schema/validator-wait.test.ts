// Checks on a busy machine that schedules their threads late.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { EMPTY_OBJECT } from '../../src/domain/json/json-tree.ts';
import { OVERLOADED, PropertyValidator } from '../../src/operations/property-schema/validator/validator.ts';
import { sqlite } from '../support/database.ts';
import { assertProblem } from '../support/problem.ts';
import { TestService } from '../support/service.ts';

const LONGER_THAN_A_REQUEST_WAITS_MS = 1_600;

describe('A check whose thread starts too late for a request', () => {
  it('is refused in the service, and executed in a command', async () => {
    await using ofService = new PropertyValidator();
    await using ofCommand = PropertyValidator.forCommand();
    const [refused, executed] = [ofService, ofCommand].map((each) =>
      each.check(1, EMPTY_OBJECT, [EMPTY_OBJECT, EMPTY_OBJECT]),
    );
    blockEventLoop(LONGER_THAN_A_REQUEST_WAITS_MS);
    await assert.rejects(refused!, OVERLOADED);
    assert.deepEqual(await executed, [[], []]);
  });
});

describe('A check that may take long', { skip: process.platform !== 'linux' && 'Linux only' }, () => {
  it('gives way to the other threads of the process', async () => {
    await using validator = PropertyValidator.forCommand();
    const before = niceThreads();
    await validator.compile(1, EMPTY_OBJECT);
    assert.equal(niceThreads() - before, 1);
  });
});

describe('A property schema', () => {
  const service = TestService.of(sqlite, { returnsOverloaded: true });

  it('whose check leaves no time to store it is refused: the service is overloaded, not the database', async () => {
    const { validate } = PropertyValidator.prototype;
    const { token } = await service.apiToken({ permission: 'admin' });
    const put = () => service.call('PUT', '/v1/property-schema', { schema: {}, mode: 'report' }, { token });
    PropertyValidator.prototype.validate = async function (...check) {
      const validation = await validate.apply(this, check);
      await sleep(LONGER_THAN_A_REQUEST_WAITS_MS);
      return validation;
    };
    try {
      assertProblem(await put(), 'overloaded');
    } finally {
      PropertyValidator.prototype.validate = validate;
    }
    assert.equal((await put()).status, 201);
  });
});

/** Returns the number of threads of this process with a lower priority than the process itself. */
function niceThreads(): number {
  const niceness = (task: string) => {
    // Skips the name, which may contain spaces; niceness is the 19th of all fields.
    const fields = readFileSync(`/proc/self/task/${task}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return Number(fields[19 - 3]);
  };
  return readdirSync('/proc/self/task').filter((task) => niceness(task) > niceness(String(process.pid)))
    .length;
}

/** Blocks the event loop: until it returns, no thread can report that it has started. */
function blockEventLoop(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
