// Outcomes of attempts are stored in spite of a short outage of the database: otherwise each of them would be sent again.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Bucket } from '../../src/domain/bucket.ts';
import type { FinishedAttempt } from '../../src/domain/webhook-endpoint/delivery.ts';
import { BatchingStore } from '../../src/store/batching-store.ts';
import { type Command, StoreUnavailable } from '../../src/store/port.ts';
import { OutcomeWriter } from '../../src/webhooks/outcome-writer.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { storeOf } from '../support/store.ts';

const LIMITS = { maxBatch: 256, maxInFlight: 2, maxLingerMs: 0, maxQueued: 100 };

describeOnEachDatabase('The outcomes of attempts', (kind) => {
  const opened = storeOf(kind);
  const attemptOf = (eventId: string): FinishedAttempt => ({
    key: { bucket: 0 as Bucket, workspaceId: 1, environment: 'Customer', endpointId: 'crm', eventId },
    claimedUntil: 1,
    state: 'delivered',
    nextAttemptAt: null,
    attemptedAt: 1,
    attemptLog: '[]',
    responseStatus: 200,
    error: null,
  });

  /** Returns a writer of outcomes to a database that fails these writes, and the events in each write. */
  function outcomeWriter(failures: Error[]) {
    const written: string[][] = [];
    const write = (commands: readonly Command[]) => {
      for (const command of commands)
        if (command.kind === 'finishAttempts') written.push(command.attempts.map(({ key }) => key.eventId));
      const failure = failures.shift();
      return failure ? Promise.reject(failure) : opened.store.write(commands);
    };
    const store = BatchingStore.create({ ...opened.store, write }, { read: LIMITS, write: LIMITS });
    const errors: unknown[] = [];
    return { writer: new OutcomeWriter(store, (error) => errors.push(error)), written, errors };
  }

  it('are stored once the database is available again, those that end meanwhile together', async () => {
    const { writer, written, errors } = outcomeWriter([new StoreUnavailable('the disk is full')]);
    await Promise.all(['first', 'second', 'third'].map((eventId) => writer.write(attemptOf(eventId))));
    await writer.write(attemptOf('fourth'));
    assert.deepEqual(written, [['first'], ['first'], ['second', 'third'], ['fourth']]);
    assert.deepEqual(errors, []);
  });

  it('are given up with a report after a bug, and those that follow are stored', async () => {
    const bug = new Error('bug');
    const { writer, written, errors } = outcomeWriter([bug]);
    await writer.write(attemptOf('first'));
    await writer.write(attemptOf('second'));
    assert.deepEqual(written, [['first'], ['second']]);
    assert.deepEqual(errors, [bug]);
  });
});
