// Confirms that the pitfalls described in docs/clients.md exist.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import got from 'got';
import { UserGroupClient } from '../../client/src/index.ts';
import { Client, clients, pathOf } from '../support/client-matrix/client.ts';
import { ProxyServer, proxies } from '../support/client-matrix/proxy.ts';
import { LoopbackServer } from '../support/connection/loopback-server.ts';
import { sqlite } from '../support/database.ts';
import { send } from '../support/http.ts';
import { pageText } from '../support/page.ts';
import { Folder } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const group = { user_group_id: 'pitfall', name: 'Pitfall' };

describe('A GET with a body', () => {
  const service = TestService.of(sqlite);

  it('arrives without the body from node:http if no Content-Length is set', async () => {
    const body = await new Promise<string>((resolve, reject) => {
      const headers = { authorization: `Token ${service.token}`, 'content-type': 'application/json' };
      request(`${service.url}/api/user`, { headers }, (response) => text(response).then(resolve, reject))
        .on('error', reject)
        .end(JSON.stringify(group));
    });
    assert.equal(JSON.parse(body).code, 'body_missing');
  });

  it('is not sent by got without allowGetBody', async () => {
    await assert.rejects(
      async () => got.get(`${service.url}/api/user`, { json: group, retry: { limit: 0 } }),
      {
        message: /GET.*body/,
      },
    );
  });
});

const python = clients.find(({ name }) => name === 'Python http.client')!;
const withoutPython = python.command === undefined && 'Python is not installed';

/** Runs a program of the matrix in two processes that are forked after its first call. */
const FORKS = `
import os, runpy, sys
call = runpy.run_path(sys.argv[1])["call"]
call("GET", "/readyz")
own = "child" if os.fork() == 0 else "parent"
for _ in range(100):
    status, group = call("POST", "/v1/user-groups", {"user_group_id": own, "name": own})
    assert group["user_group"]["provided_id"] == own, group
if own == "parent":
    assert os.wait()[1] == 0
`;

describe('Python http.client', { skip: withoutPython }, () => {
  const service = TestService.of(sqlite);

  it('gives each of two forked processes the user group that it asked for', async () => {
    const env = { ...process.env, SERVICE_URL: service.url, API_TOKEN: service.token };
    const args = ['-c', FORKS, pathOf(`program/${python.program}`)];
    await promisify(execFile)(python.command!, args, { env, timeout: 30_000 });
  });
});

describe('A redirect to another host', () => {
  for (const kind of clients) {
    const missing = kind.command === undefined && `${kind.name} is not installed`;
    it(`does not get the API token from ${kind.name}`, { skip: missing }, async () => {
      const received: string[] = [];
      const other = createServer((message, response) => {
        received.push(message.rawHeaders.join());
        response.end('{}');
      });
      await using elsewhere = await LoopbackServer.listen(other);
      const location = elsewhere.url.replace('127.0.0.1', 'localhost');
      const redirect = createServer(async (message, response) => {
        await text(message);
        response.writeHead(302, { location }).end();
      });
      await using server = await LoopbackServer.listen(redirect);
      await using client = new Client(kind, server.url, 'uga_secret');
      await client.call('POST', '/v1/resolve', { token: 'any' });
      assert.doesNotMatch(`${received}`, /uga_secret/);
    });
  }
});

const nginx = proxies.find(({ name }) => name === 'nginx')!;
const skip = nginx.command === undefined && 'nginx is not installed';

describe('nginx', { skip }, () => {
  it('decodes the ids in the path if proxy_pass contains a path', async () => {
    using folder = new Folder();
    const settings = folder.join('nginx.conf');
    const changed = readFileSync(nginx.settings, 'utf8').replace('//user_groups;', '//user_groups/;');
    writeFileSync(settings, changed);
    const echo = createServer((message, response) => response.end(message.url));
    await using server = await LoopbackServer.listen(echo);
    await using proxy = await ProxyServer.start({ ...nginx, settings }, server.url);
    const response = await send(proxy.url, { path: '/v1/user-groups/a%2Fb' });
    assert.equal(response.text, '/v1/user-groups/a/b');
  });
});

/** Directives of docs/clients.md, each with the setting that it replaces or precedes. */
const removals: Record<string, [place: string, directive: string][]> = {
  nginx: [
    ['upstream user_groups {', 'map $request_uri $below { ~^/groups(/.*)$ $1; }'],
    ['proxy_pass http://user_groups;', 'proxy_pass http://user_groups$below;'],
  ],
  HAProxy: [['default_backend user_groups', 'http-request replace-path ^/groups(/.*) \\1']],
};

describe('A proxy that removes the path before that of the service', () => {
  const service = TestService.of(sqlite);

  for (const kind of proxies) {
    const isMissing = kind.command === undefined && `${kind.name} is not installed`;
    it(`leaves the ids in it as they are: ${kind.name}`, { skip: isMissing }, async () => {
      const adapt = (settings: string) =>
        removals[kind.name]!.reduce((adapted, [place, directive]) => {
          assert.ok(pageText('docs/clients.md').includes(`\`${directive}\``), directive);
          const isReplaced = directive.startsWith('proxy_pass');
          return adapted.replace(place, () => (isReplaced ? directive : `${directive}\n${place}`));
        }, settings);
      await using proxy = await ProxyServer.start(kind, service.url, adapt);
      const client = new UserGroupClient({ url: `${proxy.url}/groups`, apiToken: service.token });
      for (const id of ['a/b', 'a%2Fb', './x', 'x/../y', 'a//b', 'a+b?c#d', '\u00e9']) {
        await client.replace(id, { name: kind.name });
        assert.equal((await client.read(id)).user_group.provided_id, id);
      }
    });
  }
});

const compression: Record<string, [place: string, settings: string]> = {
  nginx: ['location / {', 'gzip on; gzip_types application/json; location / {'],
  HAProxy: ['mode http', 'mode http\n compression algo gzip\n compression type application/json'],
};

describe('A proxy that compresses responses', () => {
  const service = TestService.of(sqlite);

  for (const kind of proxies) {
    const isMissing = kind.command === undefined && `${kind.name} is not installed`;
    it(`weakens the ETag, so that no If-Match matches, except for the client: ${kind.name}`, {
      skip: isMissing,
    }, async () => {
      const adapt = (settings: string) => settings.replace(...compression[kind.name]!);
      await using proxy = await ProxyServer.start(kind, service.url, adapt);
      const client = new UserGroupClient({ url: proxy.url, apiToken: service.token });
      await client.replace('compressed', { name: kind.name });
      const { etag } = await client.read('compressed');
      // `fetch` requests gzip, and decompresses the response.
      const url = `${proxy.url}/v1/user-groups/compressed`;
      const headers = { authorization: `Token ${service.token}`, 'content-type': 'application/json' };
      const read = await fetch(url, { headers });
      assert.equal(read.status, 200, await read.text());
      assert.equal(read.headers.get('etag'), `W/${etag}`);
      const weak = { ...headers, 'if-match': `W/${etag}` };
      const refused = await fetch(url, { method: 'PATCH', headers: weak, body: '{"name": "Weak"}' });
      assert.equal(refused.status, 412, await refused.text());
      const { user_group } = await client.patch('compressed', { name: 'Strong' }, { ifMatch: etag });
      assert.equal(user_group.name, 'Strong');
    });
  }
});
