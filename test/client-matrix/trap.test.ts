// The traps that docs/clients.md warns of are there.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import got from 'got';
import { sqlite } from '../database.ts';
import { send } from '../http.ts';
import { Folder } from '../process.ts';
import { TestService } from '../service.ts';
import { Client, clients } from './client.ts';
import { ProxyServer, proxies } from './proxy.ts';

const group = { user_group_id: 'trap', name: 'Trap' };

describe('A GET with a body', () => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(sqlite);
  });
  after(() => service.end());

  it('arrives without it from node:http where no Content-Length is given', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const headers = { authorization: `Token ${service.token}`, 'content-type': 'application/json' };
      request(`${service.url}/api/user`, { headers }, (response) => text(response).then(resolve, reject))
        .on('error', reject)
        .end(JSON.stringify(group));
    });
    assert.equal(JSON.parse(answer).code, 'body_missing');
  });

  it('is not sent by got unless it is allowed to', async () => {
    await assert.rejects(
      async () => got.get(`${service.url}/api/user`, { json: group, retry: { limit: 0 } }),
      {
        message: /GET.*body/,
      },
    );
  });
});

const python = clients.find(({ name }) => name === 'Python http.client')!;
const withoutPython = python.command === undefined && 'Python is not on this machine';

describe('Python http.client', { skip: withoutPython }, () => {
  it('learns by its next call, which fails, that the service has closed the connection', async () => {
    const server = createServer((_request, response) => response.end('{}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const connected = once(server, 'connection') as Promise<[Socket]>;
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      await using client = new Client(python, url, 'no-token');
      assert.equal((await client.call('GET', '/')).status, 200);
      const [socket] = await connected;
      const closed = once(socket, 'close');
      socket.destroy();
      await closed;
      await assert.rejects(client.call('GET', '/'), /RemoteDisconnected/);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

const nginx = proxies.find(({ name }) => name === 'nginx')!;
const skip = nginx.command === undefined && 'nginx is not on this machine';

describe('nginx', { skip }, () => {
  it('decodes the ids in the path where a path stands behind the name', async () => {
    using folder = new Folder();
    const settings = folder.join('nginx.conf');
    const trap = readFileSync(nginx.settings, 'utf8').replace('//user_groups;', '//user_groups/;');
    writeFileSync(settings, trap);
    const server = createServer((message, response) => response.end(message.url));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      await using proxy = await ProxyServer.start({ ...nginx, settings }, target);
      const answer = await send(proxy.url, { path: '/v1/user-groups/a%2Fb' });
      assert.equal(answer.text, '/v1/user-groups/a/b');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
