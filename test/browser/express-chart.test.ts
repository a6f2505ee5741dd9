// examples/express-chart: two customers, two databases, and what each viewer sees.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, before, beforeEach, it } from 'node:test';
import type { Permission } from '../../src/domain/api-token.ts';
import { launchBrowser, skipsBrowser } from '../support/browser.ts';
import { copyClone } from '../support/clone.ts';
import { freePort } from '../support/connection/free-port.ts';
import { LoopbackServer } from '../support/connection/loopback-server.ts';
import { describeOnEachDatabase, postgres } from '../support/database.ts';
import { watch } from '../support/exposure.ts';
import { Folder, Program } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';

const ACME = ['100', '120', '90'];
const GLOBEX = ['9', '10'];

interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

const folder = Folder.of();
const example = folder.join('examples/express-chart');
before(() => {
  copyClone(folder.path);
  mkdirSync(join(example, 'node_modules'));
  symlinkSync(folder.join('client'), join(example, 'node_modules/user-group-service-client'));
  execFileSync('npm', ['run', 'build', '--workspace', 'client'], { cwd: folder.path, stdio: 'ignore' });
});

describeOnEachDatabase('examples/express-chart', (database) => {
  const stack = suiteStack();
  let service: TestService;
  let productPort: number;
  let productUrl: string;
  let charts: Program;
  let chartsUrl: string;

  before(async () => {
    const acme = stack.use(await postgres.create());
    const globex = stack.use(await postgres.create());
    const connections = { 'acme-orders': acme.url, 'globex-orders': globex.url };
    writeFileSync(join(example, 'connections.json'), JSON.stringify(connections));
  });

  beforeEach(async () => {
    service = await TestService.start(database);
    productPort = await freePort();
    productUrl = `http://127.0.0.1:${productPort}`;
    await complete(process.execPath, ['setup.js'], await environment('admin'));
    await startCharts();
  });
  afterEach(async () => {
    await charts.kill();
    await service.end();
  });

  async function environment(permission: Permission): Promise<Record<string, string>> {
    const { token } = await service.apiToken({ permission });
    return { SERVICE_URL: service.url, API_TOKEN: token, PORT: '0' };
  }

  function start(file: string, env: Record<string, string>): Program {
    return new Program(folder, [join(example, file)], {
      command: process.execPath,
      env: { CONNECTIONS: join(example, 'connections.json'), ...env },
    });
  }

  async function startCharts(env: Record<string, string> = {}): Promise<void> {
    charts = start('charts.js', {
      ...(await environment('resolve')),
      PRODUCT_URL: productUrl,
      SESSION_SECRET: 'of the test',
      ...env,
    });
    chartsUrl = await urlOf(charts);
  }

  async function startProduct(): Promise<Program> {
    const env = { ...(await environment('read-only')), CHARTS_URL: chartsUrl, PORT: String(productPort) };
    return start('product.js', env);
  }

  async function urlOf(program: Program): Promise<string> {
    return (await program.says(/^http:\S+$/m))[0];
  }

  async function complete(command: string, args: string[], env: Record<string, string> = {}): Promise<void> {
    const paths = args.map((arg) => (arg.endsWith('.js') ? join(example, arg) : arg));
    const connections = { CONNECTIONS: join(example, 'connections.json') };
    await using program = new Program(folder, paths, { command, env: { ...env, ...connections } });
    const exit = await program.exit(60_000);
    assert.equal(exit.code, 0, exit.stdout + exit.stderr);
  }

  async function send(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(chartsUrl + path, { redirect: 'manual', ...init });
    const text = await response.text();
    watch.printed('the dashboard server', `${[...response.headers].join('\n')}\n${text}`);
    return { status: response.status, headers: response.headers, text };
  }

  /** Posts the token as the page of the product does. */
  function post(token: string, headers: Record<string, string> = {}): Promise<Answer> {
    const body = new URLSearchParams({ token });
    return send('/session', { method: 'POST', headers: { origin: productUrl, ...headers }, body });
  }

  async function tokenOf(id: string): Promise<string> {
    return (await service.get({ user_group_id: id })).json.user_group.token;
  }

  /** Signs in; returns a function that requests the chart with the cookie. */
  async function signIn(id: string): Promise<() => Promise<Answer>> {
    const { status, headers } = await post(await tokenOf(id));
    assert.deepEqual([status, headers.get('location')], [303, '/']);
    const cookie = headers.get('set-cookie')!;
    assert.match(cookie, /^charts=.*; HttpOnly; SameSite=Strict$/);
    return () => send('/', { headers: { cookie: cookie.split(';')[0]! } });
  }

  /** Returns the amounts in the chart. */
  function amountsOf({ status, headers, text }: Answer): string[] {
    assert.equal(status, 200, text);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.ok(headers.get('content-security-policy')!.endsWith(`; frame-ancestors ${productUrl}`));
    return [...text.matchAll(/>(\d+)<\/text>/g)].map(([, amount]) => amount!);
  }

  function assertNoData({ text }: Answer): void {
    assert.doesNotMatch(text, /<svg|<rect|Acme|Globex/);
  }

  async function change(id: string, changes: object): Promise<void> {
    assert.equal((await service.call('PATCH', `/v1/user-groups/${id}`, changes)).status, 200);
  }

  async function asAdmin(method: string, path: string, body?: object): Promise<void> {
    const { token } = await service.apiToken({ permission: 'admin' });
    const { status, text } = await service.call(method, path, body, { token });
    assert.ok(status < 300, text);
  }

  it("shows each customer the orders of its own database, in the customer's regions", async () => {
    const [acme, globex] = [await signIn('acme'), await signIn('globex')];
    assert.deepEqual(amountsOf(await acme()), ACME);
    assert.deepEqual(amountsOf(await globex()), GLOBEX);
    assert.match((await acme()).text, /Orders of Acme/);
  });

  it('applies a change of the properties or the mapping to the next request', async () => {
    const acme = await signIn('acme');
    await change('acme', { properties: { regions: ['EMEA', 'APAC'], since: '2026-02-01' } });
    assert.deepEqual(amountsOf(await acme()), ['241', '181']);
    await change('acme', { properties: { regions: ["APAC') or true --"] } });
    assert.deepEqual(amountsOf(await acme()), []);
  });

  it('ends the session when the token is rotated, or its user group suspended or deleted', async () => {
    const rotated = await signIn('acme');
    await service.post({ current_token: await tokenOf('acme') });
    const suspended = await signIn('acme');
    assert.deepEqual(amountsOf(await suspended()), ACME);
    const ended = await rotated();
    assert.equal(ended.status, 401);
    assert.match(ended.headers.get('set-cookie')!, /^charts=; .*Expires=Thu, 01 Jan 1970/);
    assertNoData(ended);
    await service.call('POST', '/v1/user-groups/acme/suspend');
    assert.equal((await suspended()).status, 401);
    await service.call('POST', '/v1/user-groups/acme/resume');
    // The session has ended, so the product must post the token again.
    assert.equal((await suspended()).status, 401);
    const deleted = await signIn('acme');
    await service.call('DELETE', '/v1/user-groups/acme');
    assert.equal((await deleted()).status, 401);
  });

  it('ends the session when the product posts no token, as after signing out', async () => {
    const [cookie = ''] = (await post(await tokenOf('acme'))).headers.get('set-cookie')!.split(';');
    const chart = () => send('/', { headers: { cookie } });
    assert.deepEqual(amountsOf(await chart()), ACME);
    assert.equal((await post('', { cookie })).status, 401);
    assert.equal((await chart()).status, 401);
  });

  it('shows an error if the data source does not exist or has no connection, never another one', async () => {
    const acme = await signIn('acme');
    await asAdmin('PUT', '/v1/schemas/orders', { name: 'Orders', default_data_source: 'globex-orders' });
    await asAdmin('DELETE', '/v1/data-sources/acme-orders?force=true');
    const dangling = await acme();
    assert.equal(dangling.status, 503);
    assertNoData(dangling);
    for (const attributes of [{}, { secret_name: 'unknown' }, { secret_name: '__proto__' }]) {
      const source = { schema_id: 'orders', name: 'Orders', attributes };
      await asAdmin('PUT', '/v1/data-sources/acme-orders', source);
      const unconnected = await acme();
      assert.equal(unconnected.status, 503);
      assertNoData(unconnected);
    }
  });

  it('shows an error if a property is missing, instead of more data', async () => {
    const acme = await signIn('acme');
    for (const properties of [
      { regions: null },
      { regions: [] },
      { regions: 'EMEA' },
      { regions: ['EMEA'], since: 'yesterday' },
    ]) {
      await change('acme', { properties });
      const answer = await acme();
      assert.equal(answer.status, 503);
      assertNoData(answer);
    }
  });

  it('shows nothing without a session, with an unknown token, or from another site', async () => {
    for (const refused of [
      await send('/'),
      await send('/', { headers: { cookie: 'charts=s%3Aunknown.x' } }),
      await post('ugt_unknown'),
      await send('/session', { method: 'POST', headers: { origin: productUrl } }),
    ]) {
      assert.equal(refused.status, 401);
      assertNoData(refused);
    }
    assert.equal((await post(await tokenOf('acme'), { origin: 'https://other.example' })).status, 403);
  });

  it('has a Secure cookie in production, behind a proxy that terminates HTTPS', async () => {
    await charts.kill();
    await startCharts({ NODE_ENV: 'production' });
    const { headers } = await post(await tokenOf('acme'), { 'x-forwarded-proto': 'https' });
    assert.match(headers.get('set-cookie') ?? '', /^charts=.*; HttpOnly; Secure; SameSite=Strict$/);
  });

  it('shows nothing while the service is unreachable', async () => {
    const acme = await signIn('acme');
    await service.stop();
    const answer = await acme();
    assert.equal(answer.status, 503);
    assertNoData(answer);
    await service.startApp();
  });

  it('shows an error if the database of a customer does not respond', { timeout: 60_000 }, async () => {
    const silent = createServer((socket) => socket.on('error', () => {}));
    await using hanging = await LoopbackServer.listen(silent);
    const connections = JSON.parse(readFileSync(join(example, 'connections.json'), 'utf8'));
    connections['acme-orders'] = `postgres://charts@127.0.0.1:${hanging.port}/acme`;
    writeFileSync(join(example, 'hanging.json'), JSON.stringify(connections));
    await charts.kill();
    await startCharts({ CONNECTIONS: join(example, 'hanging.json') });
    const [acme, globex] = [await signIn('acme'), await signIn('globex')];
    const views = Promise.all(Array.from({ length: 5 }, acme));
    assert.deepEqual(amountsOf(await globex()), GLOBEX);
    for (const view of await views) {
      assert.equal(view.status, 503);
      assertNoData(view);
    }
  });

  it('ends the session of the previous viewer, even if the next one cannot be resolved', async () => {
    const [cookie = ''] = (await post(await tokenOf('acme'))).headers.get('set-cookie')!.split(';');
    const globex = await tokenOf('globex');
    await service.stop();
    assert.equal((await post(globex, { cookie })).status, 503);
    await service.startApp();
    assert.equal((await send('/', { headers: { cookie } })).status, 401);
  });

  it('is opened by the page of the product, with the current token in a form', async () => {
    await using product = await startProduct();
    const page = await fetch(`${await urlOf(product)}/as/acme`);
    const html = await page.text();
    const [, action] = /<form method="post" action="([^"]*)" target="charts">/.exec(html)!;
    const [, token] = /name="token" value="([^"]*)"/.exec(html)!;
    assert.deepEqual([action, token], [`${chartsUrl}/session`, await tokenOf('acme')]);
    assert.equal(page.headers.get('cache-control'), 'no-store');
  });

  it('shows the chart in the page of the product, until a rotation', { skip: skipsBrowser }, async () => {
    await using product = await startProduct();
    await using browser = await launchBrowser();
    const page = await browser.newPage();
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    await page.goto(`${await urlOf(product)}/as/acme`);
    const frame = page.frameLocator('iframe[name=charts]');
    await frame.getByRole('img', { name: 'Orders of Acme' }).waitFor();
    const token = await tokenOf('acme');
    assert.ok(urls.includes(`${chartsUrl}/session`));
    assert.ok(urls.every((url) => !url.includes(token)));
    assert.doesNotMatch(await page.evaluate('document.cookie'), /charts/);
    await service.post({ current_token: token });
    await page.frame('charts')!.goto(chartsUrl);
    await frame.getByText('Your session has ended').waitFor();
    await page.reload();
    await frame.getByRole('img', { name: 'Orders of Acme' }).waitFor();
  });

  it('depends on the versions that the tests use', () => {
    const { dependencies } = JSON.parse(readFileSync(join(example, 'package.json'), 'utf8'));
    const root = JSON.parse(readFileSync(folder.join('package.json'), 'utf8'));
    const { 'user-group-service-client': _, ...others } = dependencies;
    for (const [name, version] of Object.entries(others)) {
      assert.equal({ ...root.dependencies, ...root.devDependencies }[name], version);
    }
  });
});
