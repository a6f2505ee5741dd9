// Which clients keep their connection from call to call, as the documentation says; and that none takes a connection
// that is not encrypted where it is told to take one that is.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { describe, it } from 'node:test';
import { Client, type ClientKind, clients } from './client.ts';

const CALLS = 4;

/** How many connections a client makes for so many calls. */
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

/** What a client sends to a service whose URL begins with https, before it has seen a certificate. */
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
    const skip = kind.command === undefined && `${kind.name} is not on this machine`;
    it(`${kind.name} is ${kind.connection}`, { skip, timeout: 30_000 }, async () => {
      assert.equal(await connectionsOf(kind, 'POST'), kind.connection === 'new each time' ? CALLS : 1);
      if (kind.getBody === 'refused') return;
      assert.equal(await connectionsOf(kind, 'GET'), kind.connection === 'kept' ? 1 : CALLS);
    });

    it(`${kind.name} is encrypted where the URL says https`, { skip, timeout: 30_000 }, async () => {
      const sent = await sentInPlainText(kind, 'uga_in-plain-text');
      assert.ok(!sent.includes('uga_in-plain-text'), sent);
    });
  }
});
