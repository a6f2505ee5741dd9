// Clients reuse their connection as documented, none sends data unencrypted to an https URL, and none waits forever.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { describe, it } from 'node:test';
import { Client, type ClientKind, clients } from '../support/client-matrix/client.ts';
import { LoopbackServer } from '../support/connection/loopback-server.ts';

const CALLS = 4;

/** Returns the number of connections that a client opens for several calls. */
async function connectionsOf(kind: ClientKind, method: string): Promise<number> {
  const http = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
  });
  await using server = await LoopbackServer.listen(http);
  await using client = new Client(kind, server.url, 'no-token');
  for (let call = 0; call < CALLS; call++) await client.call(method, '/', { user_group_id: 'x' });
  return server.connections;
}

/** Returns the bytes that a client sends to an https URL before the TLS handshake. */
async function sentInPlainText(kind: ClientKind, apiToken: string): Promise<string> {
  let sent = '';
  const tcp = createTcpServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (bytes) => {
        sent += bytes.toString('latin1');
        socket.end();
      });
  });
  await using server = await LoopbackServer.listen(tcp);
  await using client = new Client(kind, `https://127.0.0.1:${server.port}`, apiToken);
  await client.call('POST', '/v1/user-groups', { user_group_id: 'x' }).catch(() => {});
  return sent;
}

describe('The connection of', () => {
  for (const kind of clients) {
    const skip = kind.command === undefined && `${kind.name} is not installed`;
    it(`${kind.name} is ${kind.connection}`, { skip, timeout: 30_000 }, async () => {
      assert.equal(await connectionsOf(kind, 'POST'), kind.connection === 'new each time' ? CALLS : 1);
      if (kind.getBody === 'refused') return;
      assert.equal(await connectionsOf(kind, 'GET'), kind.connection === 'kept' ? 1 : CALLS);
    });

    it(`${kind.name} is encrypted for an https URL`, { skip, timeout: 30_000 }, async () => {
      const sent = await sentInPlainText(kind, 'uga_in-plain-text');
      assert.ok(!sent.includes('uga_in-plain-text'), sent);
    });
  }
});

it('No client waits for a service that does not respond', { timeout: 60_000 }, async () => {
  await using server = await LoopbackServer.listen(createTcpServer((socket) => socket.on('error', () => {})));
  const installed = clients.filter(({ command }) => command !== undefined);
  const statuses = installed.map(async (kind) => {
    await using client = new Client(kind, server.url, 'no-token');
    const call = client.call('POST', '/v1/user-groups', { user_group_id: 'x' });
    return call.then(({ status }) => status || 'refused').catch(() => 'refused');
  });
  for (const status of await Promise.all(statuses)) assert.equal(status, 'refused');
});
