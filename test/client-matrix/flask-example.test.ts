// examples/flask-dashboard: three customers, one with a database of its own and two in a shared one, and what goes wrong.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sqlite } from '../support/database.ts';
import { send } from '../support/http.ts';
import { eventually, Folder, Program } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/flask-dashboard/dashboard.py', import.meta.url));
const RUN = `
import os, runpy, sys
from werkzeug.serving import make_server
server = make_server("127.0.0.1", 0, runpy.run_path(sys.argv[1])["app"])
print(server.server_port, flush=True)
server.serve_forever()
`;

/** A Python that has Flask (Debian: python3-flask). */
const python = ['/usr/bin/python3', 'python3'].find(
  (name) => spawnSync(name, ['-c', 'import flask']).status === 0,
);

const customers = {
  acme: { mapping: { orders: 'acme-orders' }, properties: { customer_id: 'C-1' }, revenue: 100 },
  globex: { mapping: { orders: 'shared-orders' }, properties: { customer_id: "C'2" }, revenue: 20 },
  initech: { mapping: { orders: 'shared-orders' }, properties: { customer_id: 'C-3' }, revenue: 3 },
};

describe('The dashboard server in Python', {
  skip: python === undefined && 'python3-flask is not installed',
}, () => {
  const folder = new Folder();
  let service: TestService;
  let flask: Program;
  let url: string;
  let admin: string;
  before(async () => {
    service = await TestService.start(sqlite);
    admin = (await service.apiToken({ permission: 'admin' })).token;
    const { token } = await service.apiToken({ permission: 'resolve' });
    await call('PUT', '/v1/schemas/orders', { name: 'Orders' });
    await source('acme', 'acme');
    await source('shared');
    for (const [id, { mapping, properties }] of Object.entries(customers))
      await call('POST', '/v1/user-groups', { user_group_id: id, name: id, mapping, properties });
    fill('acme', [customers.acme]);
    fill('shared', [customers.globex, customers.initech]);
    writeFileSync(
      folder.join('databases.json'),
      JSON.stringify({ acme: folder.join('acme.db'), shared: folder.join('shared.db') }),
    );
    flask = new Program(folder, ['-c', RUN, EXAMPLE], {
      command: python!,
      env: { SERVICE_URL: service.url, API_TOKEN: token, DATABASES: folder.join('databases.json') },
    });
    await eventually('the port of Flask', async () => flask.stdout.includes('\n'));
    url = `http://127.0.0.1:${flask.stdout.trim()}`;
  });
  after(async () => {
    await flask.kill();
    await service.end();
    folder[Symbol.dispose]();
  });

  const call = (method: string, path: string, body?: unknown) =>
    service.call(method, path, body, { token: admin });
  const source = (name: string, user_group_id: string | null = null) =>
    call('PUT', `/v1/data-sources/${name}-orders`, {
      schema_id: 'orders',
      name,
      attributes: { secret_name: name },
      user_group_id,
    });

  function fill(name: string, of: readonly (typeof customers)[keyof typeof customers][]): void {
    const database = new DatabaseSync(folder.join(`${name}.db`));
    database.exec('create table orders (month text, customer_id text, revenue integer)');
    const insert = database.prepare('insert into orders values (?, ?, ?)');
    for (const { properties, revenue } of of) insert.run('2026-03', properties.customer_id, revenue);
    database.close();
  }

  const tokenOf = async (id: string) => (await call('GET', `/v1/user-groups/${id}`)).json.user_group.token;
  /** The cookie of a viewer who has signed in. */
  async function signIn(id: string): Promise<string> {
    const response = await send(url, {
      method: 'POST',
      path: '/session',
      body: new URLSearchParams({ token: await tokenOf(id) }),
    });
    assert.equal(response.status, 303, response.text);
    return String(response.headers['set-cookie']).split(';', 1)[0]!;
  }
  const view = (cookie: string) => send(url, { path: '/', headers: { cookie } });

  it('shows each customer its own rows', async () => {
    for (const [id, { revenue }] of Object.entries(customers)) {
      const { status, json } = await view(await signIn(id));
      assert.equal(status, 200);
      assert.deepEqual(json, { customer: id, rows: [['2026-03', revenue]] });
    }
  });

  it('shows an error for a mapping to the database of another customer, and for a missing property', async () => {
    const cookie = await signIn('globex');
    const patch = (body: object) => call('PATCH', '/v1/user-groups/globex', body);
    for (const wrong of [
      { mapping: { orders: 'acme-orders' } },
      { mapping: { orders: 'acme-orderz' } },
      { mapping: null },
      { properties: { customer_id: null } },
      { properties: { customer_id: ['C-3'] } },
    ]) {
      await patch(wrong);
      assert.equal((await view(cookie)).status, 503, JSON.stringify(wrong));
      await patch({ mapping: customers.globex.mapping, properties: customers.globex.properties });
    }
    assert.equal((await view(cookie)).status, 200);
  });

  it('ends a session with a rotation and a suspension, and refuses a viewer without a token', async () => {
    const cookie = await signIn('initech');
    await call('POST', '/v1/user-groups/initech/suspend');
    assert.equal((await view(cookie)).status, 401);
    await call('POST', '/v1/user-groups/initech/resume');
    assert.equal((await view(cookie)).status, 200);
    await call('POST', '/v1/user-groups/initech/rotate');
    assert.equal((await view(cookie)).status, 401);
    for (const none of ['', 'session=forged']) assert.equal((await view(none)).status, 401);
    const forged = await send(url, {
      method: 'POST',
      path: '/session',
      body: new URLSearchParams({ token: 'x' }),
    });
    assert.equal(forged.status, 401);
  });

  it('has no more than sixty lines of code', async () => {
    const { readFileSync } = await import('node:fs');
    const lines = readFileSync(EXAMPLE, 'utf8').split('\n');
    assert.ok(lines.filter((line) => line.trim() !== '').length <= 60);
  });
});
