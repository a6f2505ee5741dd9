// Clients reuse their connection as documented, and none sends data unencrypted to an https URL.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { describe, it } from 'node:test';
import { Client, type ClientKind, clients } from '../support/client-matrix/client.ts';

const CALLS = 4;

/** The number of connections that a client opens for several calls. */
async function connectionsOf(kind: ClientKind, method: string): Promise<number> {
  let connections = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
  }).on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using client = new Client(kind, url, 'no-token');
    for (let call = 0; call < CALLS; call++) await client.call(method, '/', { user_group_id: 'x' });
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return connections;
}

/** The bytes that a client sends to an https URL before the TLS handshake. */
async function sentInPlainText(kind: ClientKind, apiToken: string): Promise<string> {
  let sent = '';
  const server = createTcpServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (bytes) => {
        sent += bytes.toString('latin1');
        socket.end();
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using client = new Client(kind, url, apiToken);
    await client.call('POST', '/v1/user-groups', { user_group_id: 'x' }).catch(() => {});
  } finally {
    server.close();
  }
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
