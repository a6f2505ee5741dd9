// The recipes of deploy/forward-auth, run by the real proxies: a dashboard behind them learns who is viewing,
// and only from them.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:http2';
import { before, describe, it } from 'node:test';
import { settings } from '../../src/config.ts';
import {
  FIRST_EVENT,
  ForwardAuthSite,
  forwardingProxies,
  type Received,
} from '../support/client-matrix/forward-auth.ts';
import { LoopbackServer } from '../support/connection/loopback-server.ts';
import { sqlite } from '../support/database.ts';
import { EmbedSite } from '../support/embed-token/site.ts';
import { suiteStack } from '../support/suite.ts';

const names = ['X-User-Group-Id', 'X-User-Group-Name', 'X-User-Group-Data-Source-40'] as const;
const separators = ['-', '_'];
/**
 * Other spellings that CGI, WSGI and PHP read as the same name, or that a proxy might treat differently by
 * case.
 */
const spellings = [
  ...separators.flatMap((a) =>
    separators.flatMap((b) =>
      separators.flatMap((c) =>
        ['Id', 'Data-Source-40', 'Data-Source-99'].map((end) => `X${a}User${b}Group${c}${end}`),
      ),
    ),
  ),
  'x-user-group-name',
  'X-USER-GROUP-ID',
  'X-User-Group-Anything',
];

describe('deploy/forward-auth/envoy.yaml', () => {
  it('closes an idle connection before the service does', () => {
    const envoy = forwardingProxies.find(({ name }) => name === 'Envoy')!;
    const [, seconds] = /idle_timeout: (\d+)s/.exec(readFileSync(envoy.settings, 'utf8')) ?? [];
    assert.ok(Number(seconds) * 1_000 < Number(settings.keepAliveTimeoutMs.fallback));
  });
});

for (const kind of forwardingProxies) {
  const skip = kind.command === undefined && `${kind.name} is not installed (${kind.install})`;
  describe(`Forward authentication by ${kind.name}`, { skip }, () => {
    const stack = suiteStack();
    let embed: EmbedSite;
    let site: ForwardAuthSite;
    let apiToken: string;
    let token: string;
    const group = { user_group_id: 'acme/7', name: 'Z\u00fcrich, Inc.', mapping: { 40: 'orders' } };

    before(async () => {
      embed = stack.use(await EmbedSite.start(sqlite));
      apiToken = (await embed.service.apiToken({ permission: 'resolve' })).token;
      site = stack.use(await ForwardAuthSite.start(kind, embed.service.url, apiToken));
      token = await embed.createGroup(group);
    });

    /** Returns the headers about the viewer, in any spelling. */
    const viewerIn = ({ headers }: Received): Record<string, string> => {
      const all = headers.flatMap((name, index) =>
        index % 2 === 0 && /^x.?user.?group/i.test(name) ? [[name.toLowerCase(), headers[index + 1]!]] : [],
      );
      assert.equal(new Set(all.map(([name]) => name)).size, all.length, 'a repeated header');
      return Object.fromEntries(all);
    };
    const acme = {
      'x-user-group-id': 'acme%2F7',
      'x-user-group-name': 'Z%C3%BCrich%2C%20Inc.',
      'x-user-group-data-source-40': 'orders',
    };

    it('tells the dashboard who is viewing, whichever way the token comes', async () => {
      await embed.create('jwt', { type: 'jwt', settings: { audience: 'a' } });
      const jwt = await embed.token('jwt', { user_group_id: group.user_group_id });
      for (const headers of [
        { 'x-user-group-token': token },
        { 'x-user-group-token': jwt },
        { cookie: `theme=dark; user_group_token=${token}` },
        { authorization: 'Basic eDp5', cookie: `user_group_token=${token}` },
        ...(kind.readsNoBearer ? [] : [token, jwt]).flatMap((text) => [
          { authorization: `Bearer ${text}` },
          { authorization: `bearer ${text}` },
        ]),
      ]) {
        const { status, text, received } = await site.visit(headers);
        assert.deepEqual([status, text], [200, 'the dashboard'], Object.entries(headers).join());
        assert.deepEqual(viewerIn(received!), acme);
        assert.ok(!received!.headers.some((text) => text.includes(apiToken)), 'the API token of the proxy');
      }
    });

    it('lets no cache keep a page, unless the dashboard says otherwise', async () => {
      const cacheControl = async (path: string) =>
        (await site.visit({ 'x-user-group-token': token }, { path })).headers['cache-control'];
      assert.equal(await cacheControl('/page'), kind.letsCachesKeep ? undefined : 'private, no-store');
      assert.equal(await cacheControl('/image'), 'max-age=60');
    });

    it('passes nothing on for a viewer without a token, with a replaced token, or of a suspended group', async () => {
      const replaced = await embed.createGroup({ user_group_id: 'replaced', name: 'R' });
      await embed.service.post({ current_token: replaced });
      const suspended = await embed.createGroup({ user_group_id: 'suspended', name: 'S' });
      await embed.suspend('suspended');
      const header = 'x-user-group-token';
      const refused = {
        'no token': {},
        'an unknown token': { [header]: 'unknown' },
        'a replaced token': { [header]: replaced },
        'a suspended group': { cookie: `user_group_token=${suspended}` },
        'an API token': { authorization: `Bearer ${embed.service.token}` },
        'the scheme of the service': { authorization: `Token ${embed.service.token}` },
        'two cookies': { cookie: `user_group_token=${token}; user_group_token=${replaced}` },
        'two cookie headers': { cookie: [`user_group_token=${token}`, `user_group_token=${replaced}`] },
        'a dead token before a valid cookie': { [header]: replaced, cookie: `user_group_token=${token}` },
        'only headers of its own': { 'x-user-group-id': 'acme%2F7' },
      };
      for (const [reason, headers] of Object.entries(refused)) {
        const { status, received } = await site.visit(headers);
        assert.deepEqual([status, received], [401, undefined], reason);
      }
    });

    it('replaces or removes headers about the viewer that come from outside, however they are spelled', async () => {
      for (const name of [...names, ...spellings]) {
        for (const values of ['evil', ['evil', 'evil'], '']) {
          const { status, received } = await site.visit({ 'x-user-group-token': token, [name]: values });
          assert.equal(status, 200, name);
          assert.deepEqual(viewerIn(received!), acme, `${name}: ${values}`);
        }
      }
    });

    it('refuses a viewer whose mapping lacks the schema of the recipe', async () => {
      const bare = await embed.createGroup({ user_group_id: 'bare', name: 'Bare' });
      const { status, received } = await site.visit({ 'x-user-group-token': bare });
      assert.deepEqual([status, received], [401, undefined]);
    });

    it('sees a rotation with the next request', async () => {
      const old = await embed.createGroup({ user_group_id: 'rotated', name: 'R', mapping: { 40: 'r' } });
      assert.equal((await site.visit({ 'x-user-group-token': old })).status, 200);
      const { user_group } = (await embed.service.post({ current_token: old })).json;
      assert.equal((await site.visit({ 'x-user-group-token': old })).status, 401);
      assert.equal((await site.visit({ 'x-user-group-token': user_group.token })).status, 200);
    });

    it('refuses a viewer for whom the schema has no data source', async () => {
      await embed.asAdmin('PUT', '/v1/schemas/40', { name: 'S' });
      try {
        const { status, received } = await site.visit({ 'x-user-group-token': token });
        assert.deepEqual([status, received], [401, undefined]);
      } finally {
        await embed.asAdmin('DELETE', '/v1/schemas/40?force=true');
      }
      assert.equal((await site.visit({ 'x-user-group-token': token })).status, 200);
    });

    /** Starts the same proxy with a changed recipe. */
    const siteWith = (adapt: (settings: string) => string) =>
      ForwardAuthSite.start(kind, embed.service.url, apiToken, { adapt });
    const assertCompleteOrRefused = async (visited: ForwardAuthSite): Promise<void> => {
      const long = '\u6771'.repeat(255);
      const large = await embed.createGroup({ user_group_id: long, name: long, mapping: { 40: long } });
      const value = encodeURIComponent(long);
      const expected = Object.fromEntries(names.map((name) => [name.toLowerCase(), value]));
      const statuses = new Set<number | string>();
      for (let length = 500; length < 25_000; length += 500) {
        const headers = { 'x-user-group-token': large, cookie: `a=${'x'.repeat(length)}` };
        // Newer versions of HAProxy and Caddy may close the connection instead of returning 431.
        const status = await visited.visit(headers).then(
          (visit) => visit.status,
          () => 'closed',
        );
        const [received] = visited.received;
        assert.equal(received !== undefined, status === 200, `${length}: ${status}`);
        if (received !== undefined) assert.deepEqual(viewerIn(received), expected, String(length));
        statuses.add(status);
      }
      assert.ok(statuses.has(200) && statuses.size > 1, [...statuses].join());
    };

    it('passes every header about the viewer or refuses, however long the other headers are', () =>
      assertCompleteOrRefused(site));

    if (kind.name === 'HAProxy') {
      it('passes every header about the viewer or refuses with the default buffers too', async () => {
        await using small = await siteWith((settings) => settings.replaceAll(/^ *tune\..*/gm, ''));
        await assertCompleteOrRefused(small);
      });

      it('refuses HTTP/2, whose trailers it cannot remove', async () => {
        await using http2 = await siteWith((settings) => settings.replace(/^ *bind .*/m, '$& proto h2'));
        const client = connect(http2.url);
        try {
          const request = client.request({ 'x-user-group-token': token });
          const [headers] = (await once(request, 'response')) as [Record<string, unknown>];
          assert.deepEqual([headers[':status'], http2.received], [400, []]);
        } finally {
          client.destroy();
        }
      });
    }

    it('passes every header about the viewer or refuses, however many other headers there are', async () => {
      for (const count of [50, 95, 100, 500, 990, 1_000, 1_500, 1_990, 2_000, 2_500]) {
        const headers = { 'x-user-group-token': token, a: Array.from({ length: count }, () => '') };
        const { status, received } = await site.visit(headers);
        if (received !== undefined) assert.deepEqual(viewerIn(received), acme, String(count));
        else assert.ok(status >= 400, `${count}: ${status}`);
      }
    });

    it('identifies no other viewer because of the id, the trace or the credentials in a request', async () => {
      const other = await embed.createGroup({ user_group_id: 'other', name: 'O', mapping: { 40: 'o' } });
      const header = 'x-user-group-token';
      const strange = [
        { 'x-request-id': other },
        { 'x-request-id': ['a', 'b'] },
        { 'x-request-id': 'x'.repeat(4_000) },
        { traceparent: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-ff` },
        { traceparent: ['a', 'b'] },
        { authorization: 'Basic eDp5' },
        { authorization: `Token ${apiToken}` },
        { cookie: `user_group_token=${other}` },
        { cookie: `USER_GROUP_TOKEN=${other}; user-group-token=${other}` },
        { x_user_group_token: other },
        { 'x-user-group-tokens': other },
      ];
      for (const headers of strange) {
        const visit = await site.visit({ [header]: token, ...headers });
        assert.equal(visit.status, 200, JSON.stringify(headers));
        assert.deepEqual(viewerIn(visit.received!), acme);
        const { status, received } = await site.visit({ [header]: 'unknown', ...headers });
        assert.deepEqual([status, received], [401, undefined], JSON.stringify(headers));
      }
      for (const headers of [
        { [header]: [token, other] },
        { authorization: [`Bearer ${token}`, `Bearer ${other}`] },
      ]) {
        const { status, received } = await site.visit(headers);
        // nginx before 1.23 uses the first of two headers.
        if (kind.name === 'nginx' && received !== undefined) assert.deepEqual(viewerIn(received), acme);
        else assert.ok((status === 400 || status === 401) && received === undefined, String(status));
      }
      for (const headers of [
        { [header]: `${token}, ${other}` },
        { [header]: `{env.USER_GROUP_SERVICE_TOKEN}` },
        { [header]: '', authorization: `Token ${apiToken}` },
        { [header]: 'x'.repeat(6_000), cookie: `user_group_token=${token}` },
      ]) {
        const { status, received } = await site.visit(headers);
        assert.deepEqual([status, received], [401, undefined], JSON.stringify(headers).slice(0, 200));
      }
    });

    it('passes every kind of request of a browser: with a query, a body, an origin, or a copy of the page', async () => {
      const headers = {
        'x-user-group-token': token,
        origin: 'https://dashboards.example.com',
        'if-none-match': '"page-1"',
        'if-modified-since': 'Tue, 03 Mar 2026 09:15:00 GMT',
        'content-type': 'text/plain',
      };
      const request = { method: 'POST', path: '/page?a=1&b=%20', body: 'x'.repeat(100_000) };
      const { status, received } = await site.visit(headers, request);
      assert.equal(status, 200);
      assert.deepEqual(
        [received!.method, received!.url, received!.body],
        ['POST', request.path, request.body],
      );
      assert.deepEqual(viewerIn(received!), acme);
    });

    it('asks for the schemas and properties that the recipe names, whatever the viewer asks for', async () => {
      const query = 'schemas=40,41&properties=customer_id';
      await using asking = await ForwardAuthSite.start(kind, embed.service.url, apiToken, { query });
      const mapping = { 40: 'orders', 41: 'stock' };
      const properties = { customer_id: 'C 1' };
      const groups = {
        complete: { mapping, properties },
        'without a schema': { mapping: { 40: 'orders' }, properties },
        'without the property': { mapping, properties: { customer: 'C 1' } },
      };
      const paths = ['/page', '/page?schemas=40', '/?uri=&properties=customer&schemas=40', '/page?a=%'];
      for (const [id, fields] of Object.entries(groups)) {
        const viewer = await embed.createGroup({ user_group_id: id, name: id, ...fields });
        for (const path of paths) {
          const { status, received } = await asking.visit({ 'x-user-group-token': viewer }, { path });
          assert.equal(status, id === 'complete' ? 200 : 401, `${id} ${path}`);
          assert.equal(received?.url, id === 'complete' ? path : undefined);
          if (received === undefined) continue;
          const found = viewerIn(received);
          assert.equal(found['x-user-group-data-source-40'], 'orders');
          // The other proxies pass on only the headers that their recipe lists.
          if (['HAProxy', 'Envoy', 'Traefik'].includes(kind.name))
            assert.equal(found['x-user-group-property-customer_id'], 'C%201');
        }
      }
      for (const path of paths) {
        const { status, received } = await site.visit({ 'x-user-group-token': token }, { path });
        assert.deepEqual([status, viewerIn(received!)], [200, acme], path);
      }
    });

    it('does not let a viewer reach the service itself', async () => {
      for (const path of ['/forward-auth', '/v1/forward-auth', '//forward-auth', '/%66orward-auth']) {
        const { status, received } = await site.visit({}, { path });
        assert.ok(status === 401 || status === 404, `${path}: ${status}`);
        assert.equal(received, undefined);
      }
    });

    // HAProxy repeats the request after 10 seconds, and Traefik waits for 30: neither can be changed.
    if (['nginx', 'Caddy', 'Envoy'].includes(kind.name))
      it('refuses a viewer if the service does not respond in time', async () => {
        await using silent = await LoopbackServer.listen(createServer(() => {}));
        const adapt = (settings: string) =>
          settings.replace('timeout 10s', 'timeout 1s').replace('timeout: 10s', 'timeout: 1s');
        await using waiting = await ForwardAuthSite.start(kind, silent.url, apiToken, { adapt });
        const { status, received } = await waiting.visit({ 'x-user-group-token': token });
        assert.ok(status >= 500, String(status));
        assert.equal(received, undefined);
      });

    if (!kind.keepsResponsesBack)
      it('passes an event on before the stream ends', async () => {
        const headers = { 'x-user-group-token': token };
        const signal = AbortSignal.timeout(5_000);
        const stream = (await fetch(`${site.url}/events`, { headers, signal })).body!.getReader();
        const { value } = await stream.read();
        assert.equal(Buffer.from(value!).toString(), FIRST_EVENT);
        await stream.cancel();
      });

    if (kind.name === 'Envoy')
      it('sets no time limit for a response of the dashboard', async () => {
        const { received } = await site.visit({ 'x-user-group-token': token });
        assert.ok(!received!.headers.includes('x-envoy-expected-rq-timeout-ms'));
      });

    it('refuses every viewer while the service is unreachable', async () => {
      await embed.service.stop();
      try {
        const { status, received } = await site.visit({ 'x-user-group-token': token });
        assert.ok(status >= 500, String(status));
        assert.equal(received, undefined);
      } finally {
        await embed.service.startApp();
      }
    });
  });
}
