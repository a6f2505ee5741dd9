// Contract: a thread that cannot connect to the writer of the database ends in order.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreUnavailable } from '../../src/store/port.ts';
import { RemoteWriter } from '../../src/store/sqlite/writer/remote-writer.ts';

describe('The writer of another thread', () => {
  it('can be closed while connecting to it fails', async () => {
    const writer = new RemoteWriter(() => Promise.reject(new Error('the owner is closing')));
    const running = assert.rejects(writer.run([]), StoreUnavailable);
    await writer.close();
    await running;
  });
});
