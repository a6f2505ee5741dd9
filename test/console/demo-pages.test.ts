// Demo data: a dashboard on which each customer sees only its own rows, or an error.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, beforeEach, describe, it } from 'node:test';
import { createDemoPatiently } from '../../src/demo/create.ts';
import { operator } from '../../src/domain/api-token.ts';
import { digestOfApiToken } from '../../src/domain/token.ts';
import { type Validation, Validator } from '../../src/operations/property-schema/validator/validator.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { csrfOf, textOf } from '../support/console-page.ts';
import { postgres, sqlite } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const LIST = '/console/user-groups';
const ALPENGLOW = `${LIST}/demo-alpenglow/view-as`;
const NORDWIND = `${LIST}/demo-nordwind/view-as`;
const REDWOOD = `${LIST}/demo-redwood/view-as`;

/** Returns the values above the bars of the chart, or null without a chart. */
function barsOn(text: string): string[] | null {
  const [svg] = /<svg[\s\S]*<\/svg>/.exec(text) ?? [];
  return svg === undefined
    ? null
    : [...svg.matchAll(/<text [^>]*>([\d,]+)<\/text>/g)].map(([, value]) => value!);
}

/** Refuses the first check, as on a machine that schedules the threads of the checks late. */
class BusyAtFirst extends Validator {
  checks = 0;
  readonly #validator: Validator;

  constructor(validator: Validator) {
    super();
    this.#validator = validator;
  }

  override async validate(...check: Parameters<Validator['validate']>): Promise<Validation> {
    return ++this.checks === 1 ? { overloaded: true } : this.#validator.validate(...check);
  }
}

describe('Demo data (SQLite)', () => {
  const service = TestService.of(sqlite);
  let admin: string;
  let browser: ConsoleBrowser;
  let folder: string;
  let workspaces = 0;
  before(async () => {
    folder = join(dirname(service.database.url.replace('sqlite:', '')), 'demo');
  });
  /** Gives each test its own workspace. */
  beforeEach(async () => {
    rmSync(folder, { recursive: true, force: true });
    const place = { workspaceName: `workspace-${++workspaces}`, permission: 'admin' } as const;
    admin = (await service.apiToken(place)).token;
    browser = await ConsoleBrowser.signIn(service, admin);
  });

  const call = (method: string, path: string, body?: unknown, headers = {}) =>
    service.call(method, path, body, { token: admin, headers });
  /** Creates the demo data, and tries again while the machine is too busy. */
  async function create(): Promise<TestResponse> {
    const fields = { csrf: csrfOf(await browser.get(LIST)) };
    return eventually('demo data', async () => {
      const response = await browser.post('/console/demo', fields);
      return response.status < 500 && response;
    });
  }
  const setProperties = (properties: object | null) =>
    call('PUT', '/api/user', { user_group_id: 'demo-alpenglow', properties });
  const pageOf = async (path: string) => (await browser.get(path)).text;

  async function assertError(path: string, message: RegExp): Promise<void> {
    const page = await browser.get(path);
    assert.equal(page.status, 200);
    assert.equal(barsOn(page.text), null);
    assert.match(textOf(page), message);
    assert.match(textOf(page), /shows this error, and never the data of another customer/);
  }

  it('is created by the button of an empty console, which then shows the dashboard of a customer', async () => {
    const created = await create();
    assert.deepEqual([created.status, created.headers.location], [303, ALPENGLOW]);
    const page = await browser.get(ALPENGLOW);
    assert.deepEqual(barsOn(page.text), ['630', '785', '800', '1,030', '1,155', '1,355']);
    assert.match(
      page.text,
      /<svg class="chart" [^>]* role="img" aria-labelledby="chart-title chart-description">/,
    );
    const text = textOf(page);
    assert.match(text, /2026-01 630 2026-02 785 2026-03 800/);
    assert.match(text, /WHERE customer_id = :customer_id/);
    assert.match(text, /:customer_id "C-1001"/);
    assert.match(text, /Mapping \{"demo-orders":"demo-orders-eu"\}/);
    assert.match(text, /"customer": "C-1001"/);
    assert.equal(statSync(join(folder, 'orders-eu.db')).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ['orders-eu.db', 'orders-us.db']);
  });

  it('is created by a command although the machine is too busy at first', async () => {
    const { context } = service.app;
    const digest = digestOfApiToken(admin)!;
    const { workspaceId } = (await context.store.read({ kind: 'findApiToken', digest }))!;
    const propertyValidator = new BusyAtFirst(context.propertyValidator);
    await createDemoPatiently(
      { ...context, propertyValidator },
      operator({ workspaceId, environment: 'Customer' }),
      folder,
    );
    assert.ok(propertyValidator.checks > 1);
    assert.deepEqual(barsOn(await pageOf(ALPENGLOW)), ['630', '785', '800', '1,030', '1,155', '1,355']);
  });

  it('shows each customer only its own rows', async () => {
    await create();
    const expected = {
      [ALPENGLOW]: ['630', '785', '800', '1,030', '1,155', '1,355'],
      [NORDWIND]: ['1,250', '1,330', '2,100', '3,155', '3,770', '2,690'],
      [REDWOOD]: ['197', '110', '256', '177', '254', '303'],
    };
    for (const [path, bars] of Object.entries(expected)) assert.deepEqual(barsOn(await pageOf(path)), bars);
  });

  it('is offered only to admin, and only while there are no user groups', async () => {
    const { token } = await service.apiToken({ workspaceName: `workspace-${workspaces}` });
    const other = await ConsoleBrowser.signIn(service, token);
    assert.doesNotMatch((await other.get(LIST)).text, /Create demo data/);
    const csrf = csrfOf(await other.get(LIST));
    assert.equal((await other.post('/console/demo', { csrf })).status, 403);
    assert.doesNotMatch(await pageOf(`${LIST}?search=x`), /Create demo data/);
    await create();
    assert.doesNotMatch(await pageOf(LIST), /Create demo data/);
  });

  it('overwrites nothing that exists', async () => {
    const own = { schema: { type: 'object' }, mode: 'report' };
    assert.equal((await call('PUT', '/v1/property-schema', own)).status, 201);
    const fields = { csrf: csrfOf(await browser.get(LIST)) };
    await create();
    await call(
      'PATCH',
      '/v1/user-groups/demo-redwood',
      { name: 'Mine' },
      { 'content-type': 'application/merge-patch+json' },
    );
    await call('DELETE', '/v1/user-groups/demo-nordwind');
    await call('DELETE', '/v1/data-sources/demo-orders-eu?force=true');
    rmSync(join(folder, 'orders-us.db'));
    const events = (await call('GET', '/v1/events?limit=100')).json.events.length;
    assert.equal((await browser.post('/console/demo', fields)).status, 303);
    assert.deepEqual((await call('GET', '/v1/property-schema')).json.property_schema, own);
    assert.equal((await call('GET', '/v1/user-groups/demo-redwood')).json.user_group.name, 'Mine');
    for (const path of [ALPENGLOW, NORDWIND, REDWOOD]) assert.equal(barsOn(await pageOf(path))!.length, 6);
    // Only what was missing is created again.
    assert.equal((await call('GET', '/v1/events?limit=100')).json.events.length, events + 2);
    await browser.post('/console/demo', fields);
    assert.equal((await call('GET', '/v1/events?limit=100')).json.events.length, events + 2);
  });

  it('shows an error if the data source is deleted', async () => {
    await create();
    await call('DELETE', '/v1/data-sources/demo-orders-eu?force=true');
    await assertError(ALPENGLOW, /No data source of the schema demo-orders is called demo-orders-eu/);
    assert.equal(barsOn(await pageOf(REDWOOD))!.length, 6);
  });

  it('shows an error for a suspended user group', async () => {
    await create();
    await call('POST', '/v1/user-groups/demo-alpenglow/suspend');
    await assertError(ALPENGLOW, /The user group is suspended/);
  });

  it('shows an error if the sample file is missing or damaged', async () => {
    await create();
    rmSync(join(folder, 'orders-eu.db'));
    await assertError(ALPENGLOW, /The sample file orders-eu\.db is missing/);
    writeFileSync(
      join(folder, 'orders-eu.db'),
      'not a database, but long enough to be taken for one'.repeat(50),
    );
    await assertError(ALPENGLOW, /The sample file orders-eu\.db cannot be read/);
    rmSync(join(folder, 'orders-eu.db'));
    mkdirSync(join(folder, 'orders-eu.db'));
    await assertError(ALPENGLOW, /The sample file orders-eu\.db cannot be read/);
  });

  it('shows an error if the property that selects the rows is missing or no text', async () => {
    await create();
    await call('DELETE', '/v1/property-schema');
    for (const properties of [
      null,
      {},
      { customer_id: '' },
      { customer_id: null },
      { customer_id: ['C-1001'] },
    ]) {
      await setProperties(properties);
      await assertError(ALPENGLOW, /The property customer_id is missing or no text/);
    }
  });

  it('binds the property, whatever it contains', async () => {
    await create();
    await call('DELETE', '/v1/property-schema');
    for (const customer_id of ["' OR '1'='1", 'C-1001 OR 1=1', '%', ':customer_id']) {
      await setProperties({ customer_id });
      const page = await browser.get(ALPENGLOW);
      assert.equal(barsOn(page.text), null);
      assert.match(textOf(page), /No orders\./);
    }
  });

  it('opens only its own files, whatever a data source says', async () => {
    await create();
    for (const demo of [
      '../user-groups',
      'orders-eu.db',
      '/etc/passwd',
      'ORDERS-EU',
      ['orders-eu'],
      null,
      '__proto__',
    ]) {
      const dataSource = { schema_id: 'demo-orders', name: 'D', attributes: { demo } };
      await call('PUT', '/v1/data-sources/demo-orders-eu', dataSource);
      const page = await browser.get(ALPENGLOW);
      assert.equal(page.status, 200);
      assert.doesNotMatch(page.text, /Sample dashboard/);
    }
  });

  it('opens its files read-only', async () => {
    await create();
    const path = join(folder, 'orders-eu.db');
    const before = statSync(path).mtimeMs;
    await pageOf(ALPENGLOW);
    assert.equal(statSync(path).mtimeMs, before);
    assert.deepEqual(readdirSync(folder), ['orders-eu.db', 'orders-us.db']);
    using database = new DatabaseSync(path);
    database.exec('DELETE FROM orders');
    assert.match(textOf(await browser.get(ALPENGLOW)), /No orders\./);
  });

  it('records its events as changes made in the console', async () => {
    await create();
    const { events } = (await call('GET', '/v1/events?limit=100&type=user_group.created')).json;
    const made = events.map((event: { actor: { via: string }; target: { id: string } }) => [
      event.actor.via,
      event.target.id,
    ]);
    assert.deepEqual(made.sort(), [
      ['console', 'demo-alpenglow'],
      ['console', 'demo-nordwind'],
      ['console', 'demo-redwood'],
    ]);
  });
});

describe('Demo data (PostgreSQL)', () => {
  const service = TestService.of(postgres);

  it('is not offered: processes share no files', async () => {
    const admin = (await service.apiToken({ permission: 'admin' })).token;
    const browser = await ConsoleBrowser.signIn(service, admin);
    assert.doesNotMatch((await browser.get(LIST)).text, /Create demo data/);
    const csrf = csrfOf(await browser.get(LIST));
    assert.equal((await browser.post('/console/demo', { csrf })).status, 400);
  });

  it('that was copied from SQLite shows an error instead of a chart', async () => {
    const admin = (await service.apiToken({ permission: 'admin' })).token;
    const put = (path: string, body: object) => service.call('PUT', path, body, { token: admin });
    const attributes = { demo: 'orders-eu' };
    await put('/v1/schemas/demo-orders', { name: 'Orders' });
    await put('/v1/data-sources/demo-orders-eu', { schema_id: 'demo-orders', name: 'Orders', attributes });
    const mapping = { 'demo-orders': 'demo-orders-eu' };
    await service.get({
      user_group_id: 'demo-alpenglow',
      name: 'A',
      mapping,
      properties: { customer_id: 'C-1001' },
    });
    const browser = await ConsoleBrowser.signIn(service, admin);
    const page = await browser.get(ALPENGLOW);
    assert.match(textOf(page), /stores its data in PostgreSQL and has no sample files/);
    assert.equal(barsOn(page.text), null);
  });
});
