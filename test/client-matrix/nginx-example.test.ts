// examples/nginx-forward-auth, run by a real nginx.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { launchBrowser, skipsBrowser } from '../support/browser.ts';
import { ProxyServer, proxies } from '../support/client-matrix/proxy.ts';
import { sqlite } from '../support/database.ts';
import { EmbedSite } from '../support/embed-token/site.ts';
import { send } from '../support/http.ts';
import { Folder } from '../support/process.ts';
import { suiteStack } from '../support/suite.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/nginx-forward-auth/', import.meta.url));
const nginx = proxies.find(({ name }) => name === 'nginx')!;
const skip = nginx.command === undefined && 'nginx is not installed (apt-get install nginx-light)';

describe('examples/nginx-forward-auth', { skip }, () => {
  const stack = suiteStack();
  const folder = stack.use(new Folder());
  let embed: EmbedSite;
  let site: ProxyServer;
  before(async () => {
    embed = stack.use(await EmbedSite.start(sqlite));
    const { token } = await embed.service.apiToken({ permission: 'resolve' });
    const tokenFile = folder.join('service-token.conf');
    writeFileSync(tokenFile, `proxy_set_header Authorization "Token ${token}";\n`, { mode: 0o600 });
    const kind = { ...nginx, settings: `${EXAMPLE}nginx.conf` };
    const adapt = (settings: string) =>
      settings
        .replace('daemon off;', 'daemon off; master_process off;')
        .replace('root site;', `root ${EXAMPLE}site;`)
        .replace('service-token.conf', tokenFile);
    site = stack.use(await ProxyServer.start(kind, embed.service.url, adapt));
  });

  const visit = (headers = {}) => send(site.url, { path: '/', headers });
  const cookieOf = (token: string) => ({ cookie: `user_group_token=${token}` });

  it('shows each viewer their own user group, and lets nothing be cached', async () => {
    for (const [id, name] of [
      ['acme', 'Acme Inc.'],
      ['beta', '<b>"B&eta"'],
    ] as const) {
      const token = await embed.createGroup({ user_group_id: id, name, mapping: { 40: `${id}-orders` } });
      const { status, text, headers } = await visit(cookieOf(token));
      assert.equal(status, 200);
      assert.deepEqual(
        Array.from(text.matchAll(/data-encoded>([^<]*)</g), ([, value]) => value),
        [encodeURIComponent(name), id, `${id}-orders`].map((value) => value.replaceAll("'", '&#39;')),
      );
      assert.equal(headers['cache-control'], 'private, no-store');
      assert.deepEqual([headers.etag, headers['last-modified']], [undefined, undefined]);
    }
  });

  it('shows nothing to others, and no group that a viewer has made up', async () => {
    const token = await embed.createGroup({ user_group_id: 'suspended', name: 'Suspended' });
    await embed.suspend('suspended');
    const bare = await embed.createGroup({ user_group_id: 'bare', name: 'Bare', mapping: { 41: 'orders' } });
    for (const headers of [
      {},
      cookieOf('unknown'),
      cookieOf(token),
      { ...cookieOf(bare), 'x-user-group-data-source-40': 'acme-orders' },
      { 'x-user-group-id': 'acme' },
    ]) {
      const { status, text } = await visit(headers);
      assert.equal(status, 401);
      assert.match(text, /Your dashboard is not available/);
    }
  });

  it('shows the group, whatever the request lists as hop-by-hop', async () => {
    const token = await embed.createGroup({
      user_group_id: 'listed',
      name: 'L',
      mapping: { 40: 'l-orders' },
    });
    const connection = 'X-User-Group-Id, X-User-Group-Name, X-User-Group-Data-Source-40, Cookie';
    const { text } = await visit({ ...cookieOf(token), connection });
    assert.match(text, /data-encoded>listed</);
    assert.match(text, /data-encoded>l-orders</);
  });

  it('shows the name as it is stored in a browser', { skip: skipsBrowser }, async () => {
    const name = '<img src=x onerror=alert(1)> Z\u00fcrich';
    const token = await embed.createGroup({ user_group_id: 'browser', name, mapping: { 40: 'orders' } });
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage({ extraHTTPHeaders: cookieOf(token) });
      await page.goto(site.url);
      assert.equal(await page.locator('h1').textContent(), `Dashboard of ${name}`);
    } finally {
      await browser.close();
    }
  });
});
