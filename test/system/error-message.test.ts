// Messages of system errors from real connections.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type LookupFunction } from 'node:net';
import { describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { errorMessage } from '../../src/system/error-message.ts';
import { LoopbackServer } from '../support/connection/loopback-server.ts';

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

  it('has one line if the server does not use TLS', async () => {
    const http = createServer((socket) => socket.resume().end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await using server = await LoopbackServer.listen(http);
    const { port } = server;
    const [error] = await once(connectTls({ host: '127.0.0.1', port }), 'error');
    assert.match(errorMessage(error), /^[^\n]*wrong version number[^\n]*$/);
  });
});
