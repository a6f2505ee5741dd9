// The messages of system errors, of real connections.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type LookupFunction } from 'node:net';
import { describe, it } from 'node:test';
import { errorMessage } from '../../src/system/error-message.ts';

describe('The message of a connection that fails', () => {
  it('names every address that was tried', async () => {
    const lookup: LookupFunction = (_name, _options, done) =>
      done(
        null,
        ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 })),
      );
    const [error] = await once(connect({ host: 'two-addresses', port: 1, lookup }), 'error');
    assert.equal(error.message, '');
    assert.equal(errorMessage(error), 'connect ECONNREFUSED 127.0.0.1:1, connect ECONNREFUSED 127.0.0.2:1');
  });
});
