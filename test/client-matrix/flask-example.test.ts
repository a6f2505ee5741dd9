// Sets up examples/flask-dashboard with the commands and files of its README: three customers, two with their
// own databases and one in a shared database, and what goes wrong.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FaultyProxy } from '../support/client/faulty-proxy.ts';
import { sqlite } from '../support/database.ts';
import { send } from '../support/http.ts';
import { eventually, Folder, Program, run } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';

const pathOf = (name: string) =>
  fileURLToPath(new URL(`../../examples/flask-dashboard/${name}`, import.meta.url));
const RUN = `
import os, runpy, sys, time
from werkzeug.serving import make_server
monotonic = time.monotonic
time.monotonic = lambda: monotonic() + os.path.getsize("elapsed")
server = make_server("127.0.0.1", 0, runpy.run_path(sys.argv[1])["app"])
print(server.server_port, flush=True)
server.serve_forever()
`;

const PRODUCT_URL = 'https://product.example.com';

/** Python that has Flask (Debian: python3-flask). */
const python = ['/usr/bin/python3', 'python3'].find(
  (name) => spawnSync(name, ['-c', 'import flask']).status === 0,
);

const databases = ['acme', 'globex', 'shared'];
/** Customers as in customers.csv. */
const revenues = [
  { id: 'acme', name: 'Acme Inc.', database: 'acme', customerId: 'C-1', revenue: 100 },
  { id: 'globex', name: 'Globex, Ltd.', database: 'globex', customerId: "C'2", revenue: 20 },
  { id: 'initech', name: 'Initech', database: 'shared', customerId: 'C-3', revenue: 3 },
];
const others = [{ database: 'shared', customerId: 'C-4', revenue: 4_000 }];
const initech = { mapping: { orders: 'shared-orders' }, properties: { customer_id: 'C-3' } };

describe('The dashboard server in Python', {
  skip: python === undefined && 'python3-flask is not installed',
}, () => {
  const stack = suiteStack();
  const folder = stack.use(new Folder());
  let service: TestService;
  let proxy: FaultyProxy;
  let url: string;
  let admin: string;
  before(async () => {
    service = stack.use(await TestService.start(sqlite));
    proxy = stack.use(await FaultyProxy.start(service.url));
    admin = (await service.apiToken({ permission: 'admin' })).token;
    const { token } = await service.apiToken({ permission: 'resolve' });
    await command(['config', 'apply', pathOf('groups.yaml')]);
    await command(['import', pathOf('customers.csv'), '--update', '--prune']);
    for (const name of databases) fill(name);
    writeFileSync(folder.join('elapsed'), '');
    const files = databases.map((name) => [name, folder.join(`${name}.db`)]);
    writeFileSync(folder.join('databases.json'), JSON.stringify(Object.fromEntries(files)));
    const flask = stack.use(
      new Program(folder, ['-c', RUN, pathOf('dashboard.py')], {
        command: python!,
        env: {
          SERVICE_URL: proxy.url,
          API_TOKEN: token,
          PRODUCT_URL,
          DATABASES: folder.join('databases.json'),
        },
      }),
    );
    await eventually('the port of Flask', async () => flask.stdout.includes('\n'));
    url = `http://127.0.0.1:${flask.stdout.trim()}`;
  });

  const call = (method: string, path: string, body?: unknown) =>
    service.call(method, path, body, { token: admin });
  async function command(args: readonly string[]): Promise<void> {
    const options = { env: { UGS_API_TOKEN: admin } };
    const { code, stderr } = await run(folder, [...args, '--url', service.url], options);
    assert.equal(code, 0, stderr);
  }

  function fill(name: string): void {
    const database = new DatabaseSync(folder.join(`${name}.db`));
    database.exec('create table orders (month text, customer_id text, revenue integer)');
    const insert = database.prepare('insert into orders values (?, ?, ?)');
    for (const { customerId, revenue } of [...revenues, ...others].filter((of) => of.database === name))
      insert.run('2026-03', customerId, revenue);
    database.close();
  }

  const tokenOf = async (id: string): Promise<string> =>
    (await call('GET', `/v1/user-groups/${id}`)).json.user_group.token;
  const signIn = async (id: string): Promise<string> => openSession(await tokenOf(id));
  /** Posts a form as a page of the origin does. */
  const post = (form: Record<string, string>, origin = PRODUCT_URL, cookie = '') =>
    send(url, {
      method: 'POST',
      path: '/session',
      headers: { origin, cookie },
      body: new URLSearchParams(form),
    });
  /** Signs a viewer in, and returns the cookie. */
  async function openSession(token: string): Promise<string> {
    const response = await post({ token });
    assert.equal(response.status, 303, response.text);
    assert.match(String(response.headers['set-cookie']), /; Secure; HttpOnly; Path=\/; SameSite=Lax$/);
    return String(response.headers['set-cookie']).split(';', 1)[0]!;
  }
  const view = (cookie: string) => send(url, { path: '/', headers: { cookie } });

  it('shows each customer its own rows', async () => {
    for (const { id, name, revenue } of revenues) {
      const { status, headers, json } = await view(await signIn(id));
      assert.equal(status, 200);
      assert.equal(headers['cache-control'], 'private, no-store');
      assert.deepEqual(json, { customer: name, rows: [['2026-03', revenue]] });
    }
  });

  it('shows an error for a mapping to the database of another customer, and for a missing property', async () => {
    const cookie = await signIn('initech');
    const patch = (body: object) => call('PATCH', '/v1/user-groups/initech', body);
    for (const wrong of [
      { mapping: { orders: 'acme-orders' } },
      { mapping: { orders: 'acme-orderz' } },
      { mapping: null },
      { properties: { customer_id: null } },
      { properties: { customer_id: ['C-3'] } },
    ]) {
      await patch(wrong);
      assert.equal((await view(cookie)).status, 503, JSON.stringify(wrong));
      await patch(initech);
    }
    assert.equal((await view(cookie)).status, 200);
  });

  it('ends a session with a rotation and a suspension, and refuses a viewer without a token', async () => {
    const cookie = await signIn('initech');
    await call('POST', '/v1/user-groups/initech/suspend');
    assert.equal((await view(cookie)).status, 401);
    await call('POST', '/v1/user-groups/initech/resume');
    assert.equal((await view(cookie)).status, 401);
    const resumed = await signIn('initech');
    assert.equal((await view(resumed)).status, 200);
    await call('POST', '/v1/user-groups/initech/rotate');
    assert.equal((await view(resumed)).status, 401);
    for (const none of ['', 'session=forged']) assert.equal((await view(none)).status, 401);
    const wrong: Record<string, string>[] = [{ token: 'x' }, { token: '' }, {}];
    for (const form of wrong) assert.equal((await post(form)).status, 401, JSON.stringify(form));
  });

  it('keeps a session while a proxy answers in place of the service', async () => {
    const cookie = await signIn('acme');
    for (const status of [404, 502]) {
      proxy.faults = [{ status, body: 'default backend' }];
      assert.equal((await view(cookie)).status, 503);
    }
    assert.equal((await view(cookie)).status, 200);
  });

  it('ends the session of the previous viewer when another one signs in or the viewer signs out', async () => {
    for (const [form, status] of [
      [{ token: await tokenOf('globex') }, 303],
      [{ token: 'unknown' }, 401],
      [{}, 401],
    ] as [Record<string, string>, number][]) {
      const cookie = await signIn('acme');
      assert.equal((await post(form, PRODUCT_URL, cookie)).status, status);
      assert.equal((await view(cookie)).status, 401);
    }
  });

  it('ends a session after eight hours, also without a sign-out', async () => {
    const cookie = await signIn('acme');
    assert.equal((await view(cookie)).status, 200);
    // One byte is one second.
    writeFileSync(folder.join('elapsed'), Buffer.alloc(8 * 60 * 60));
    assert.equal((await view(cookie)).status, 401);
    assert.equal((await view(await signIn('acme'))).status, 200);
  });

  it('refuses a token that another site posts', async () => {
    for (const origin of ['https://attacker.example', 'null', `${PRODUCT_URL}.attacker.example`])
      assert.equal((await post({ token: await tokenOf('acme') }, origin)).status, 403);
  });

  it('accepts an embed token that is narrowed for one person, until the user group changes', async () => {
    const [yaml, body] = ['yaml', 'json'].map(
      (language) =>
        new RegExp(`\`\`\`${language}\n([^\`]*)`).exec(readFileSync(pathOf('README.md'), 'utf8'))![1]!,
    );
    writeFileSync(folder.join('integration.yaml'), `version: 1\n${yaml}`);
    await command(['config', 'apply', folder.join('integration.yaml')]);
    await call('PATCH', '/v1/user-groups/acme', { properties: { regions: ['EMEA', 'APAC'] } });
    const minted = await call('POST', '/v1/embed-tokens', JSON.parse(body!));
    assert.equal(minted.status, 201, minted.text);
    const { token } = minted.json.embed_token;
    const resolved = await call('POST', '/v1/resolve', { token });
    assert.deepEqual(resolved.json.user_group.properties, { customer_id: 'C-1', regions: ['EMEA'] });
    const cookie = await openSession(token);
    assert.deepEqual((await view(cookie)).json, { customer: 'Acme Inc.', rows: [['2026-03', 100]] });
    await call('PATCH', '/v1/user-groups/acme', { name: 'Acme' });
    assert.equal((await view(cookie)).status, 401);
  });

  it('needs at most seventy lines', () => {
    const files = ['groups.yaml', 'customers.csv', 'dashboard.py'];
    const text = files.map((name) => readFileSync(pathOf(name), 'utf8')).join('\n');
    const code = text.replace(/"""[\s\S]*?"""/, '').split('\n');
    const lines = code.filter((line) => !/^\s*(?:#.*)?$/.test(line));
    // Counts databases.json as one more line.
    assert.ok(lines.length + 1 <= 70, `${lines.length + 1} lines`);
  });
});
