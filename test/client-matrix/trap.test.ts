// The traps that docs/clients.md warns of are there.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import got from 'got';
import { sqlite } from '../database.ts';
import { send } from '../http.ts';
import { Folder } from '../process.ts';
import { TestService } from '../service.ts';
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
