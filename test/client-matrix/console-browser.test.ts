// The console in a real browser: every page is accessible, light and dark, on a phone and on a desktop, and works without
// JavaScript; what support does works by keyboard alone. CONSOLE_SCREENSHOTS is a folder for a picture of every page.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { createDemo } from '../../src/demo/create.ts';
import { operator } from '../../src/domain/api-token.ts';
import { DESKTOP, launchChromium, PHONE, skipWithoutChromium } from '../support/chromium.ts';
import { sqlite } from '../support/database.ts';
import { TestService } from '../support/service.ts';

const SCREENSHOTS = process.env.CONSOLE_SCREENSHOTS;
/** Of every page, by the name of its picture. */
const PAGES = {
  'user-groups': '/console/user-groups',
  'user-group': '/console/user-groups/acme',
  'user-group-new': '/console/user-groups/-/new',
  'user-group-find': '/console/user-groups/-/find-by-token',
  'user-group-edit': '/console/user-groups/acme/edit',
  'user-group-rotate': '/console/user-groups/acme/rotate',
  'user-group-suspend': '/console/user-groups/acme/suspend',
  'user-group-delete': '/console/user-groups/acme/delete',
  'user-group-events': '/console/user-groups/acme/events',
  'user-group-suspended': '/console/user-groups/initech',
  events: '/console/events',
  'view-as': '/console/user-groups/demo-alpenglow/view-as',
} as const;
const APPEARANCES = {
  'light, desktop': { ...DESKTOP, colorScheme: 'light' },
  'dark, desktop': { ...DESKTOP, colorScheme: 'dark' },
  'light, phone': { ...PHONE, colorScheme: 'light' },
  'dark, phone': { ...PHONE, colorScheme: 'dark' },
} as const satisfies Record<string, BrowserContextOptions>;

describe('The console in a browser', { skip: skipWithoutChromium }, () => {
  let service: TestService;
  let browser: Browser;
  let adminToken: string;
  before(async () => {
    service = await TestService.start(sqlite);
    ({ token: adminToken } = await service.apiToken({ permission: 'admin', name: 'support' }));
    const { context, demoDirectory } = service.app;
    await createDemo(context, operator(1, 'Customer'), demoDirectory!);
    await fill(service, adminToken);
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    await service?.end();
  });

  /** A browser that is signed in. */
  async function open(
    options: BrowserContextOptions = DESKTOP,
  ): Promise<{ context: BrowserContext; page: Page; errors: string[] }> {
    const context = await browser.newContext({ ...options, baseURL: service.url });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto('/');
    await page.getByLabel('API token').fill(adminToken);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'User groups', level: 1 }).waitFor();
    return { context, page, errors };
  }

  for (const [appearance, options] of Object.entries(APPEARANCES)) {
    it(`has no page with an accessibility violation, an error, or a scroll bar to the side: ${appearance}`, async () => {
      const { context, page, errors } = await open(options);
      for (const [name, path] of Object.entries(PAGES)) {
        await page.goto(path);
        await check(page, path);
        await picture(page, `${name}-${appearance.replace(', ', '-')}`);
      }
      for await (const name of editWithConflict(page)) {
        await check(page, name);
        await picture(page, `${name}-${appearance.replace(', ', '-')}`);
      }
      await page.goto('/console/sign-in');
      // A browser reports the statuses of pages that reject a form too.
      assert.deepEqual(
        errors.filter((error) => !/status of 4(?:12|22)/.test(error)),
        [],
      );
      await context.close();
    });
  }

  /** Accessible, and as wide as the window. */
  async function check(page: Page, name: string): Promise<void> {
    const { violations } = await new AxeBuilder({ page }).analyze();
    assert.deepEqual(
      violations.map(({ id, nodes }) => `${name}: ${id} ${nodes.map(({ html }) => html).join(' ')}`),
      [],
    );
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    assert.equal(await page.evaluate(overflow), 0, name);
  }

  /** The pages that are responses to forms; the group is unchanged at the end. */
  async function* editWithConflict(page: Page): AsyncGenerator<string> {
    await page.goto('/console/user-groups/acme');
    await page.getByRole('button', { name: 'Show token' }).click();
    await page.getByRole('link', { name: 'Hide' }).waitFor();
    yield 'user-group-token';
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByLabel('seats').fill('0');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByText('must be >= 1').first().waitFor();
    yield 'user-group-rejected';
    await page.getByLabel('seats').fill('26');
    await page.getByLabel('plan').selectOption('silver');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('heading', { name: 'Review changes' }).waitFor();
    yield 'user-group-review';
    for (const name of ['Acme Inc.', 'Acme'])
      await service.call('PATCH', '/v1/user-groups/acme', { name }, { token: adminToken });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Changed in the meantime' }).waitFor();
    yield 'user-group-conflict';
  }

  it('edits a group with the keyboard alone', async () => {
    const { context, page, errors } = await open();
    await page.goto('/console/user-groups/globex');
    const press = async (key: string, name: string): Promise<void> => {
      const isThere = `document.activeElement.textContent.trim() === ${JSON.stringify(name)}`;
      for (let tabs = 0; !(await page.evaluate(isThere)) && tabs < 40; tabs++)
        await page.keyboard.press('Tab');
      await page.keyboard.press(key);
    };
    await press('Enter', 'Edit');
    await page.getByRole('heading', { name: 'Edit user group' }).waitFor();
    await page.getByLabel('Name').focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('Globex 2');
    await press('Enter', 'Review changes');
    await page.getByText('"Globex 2"').waitFor();
    await press('Enter', 'Save');
    await page.getByRole('status').getByText('The changes were saved').waitFor();
    await page.getByRole('heading', { name: 'Globex 2', level: 1 }).waitFor();
    assert.deepEqual(errors, []);
    await context.close();
  });

  it('shows the page to sign in without an accessibility violation', async () => {
    const context = await browser.newContext({ baseURL: service.url });
    const page = await context.newPage();
    await page.goto('/');
    assert.deepEqual((await new AxeBuilder({ page }).analyze()).violations, []);
    await picture(page, 'sign-in');
    await context.close();
  });

  it('searches while a person types, and says how in the address of the page', async () => {
    const { context, page, errors } = await open();
    await page.getByLabel('Id or name').pressSequentially('Glo');
    await page.getByRole('link', { name: 'globex' }).waitFor();
    await page.getByRole('link', { name: 'acme' }).waitFor({ state: 'detached' });
    assert.match(page.url(), /search=Glo/);
    assert.deepEqual(errors, []);
    await context.close();
  });

  it('works without JavaScript', async () => {
    const { context, page } = await open({ ...DESKTOP, javaScriptEnabled: false });
    await page.getByLabel('Id or name').fill('Glo');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('link', { name: 'globex' }).click();
    await page.getByRole('heading', { name: 'Globex', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await context.close();
  });

  it('sends at most 60 KB for the first page with everything that it loads', async () => {
    const context = await browser.newContext({ baseURL: service.url });
    const page = await context.newPage();
    let bytes = 0;
    page.on('response', async (response) => {
      const { responseBodySize, responseHeadersSize } = await response.request().sizes();
      bytes += responseBodySize + responseHeadersSize;
    });
    await page.goto('/');
    await page.getByLabel('API token').fill(adminToken);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'User groups', level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    assert.ok(bytes > 0 && bytes <= 60_000, String(bytes));
    await context.close();
  });
});

async function picture(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

/** What the pages show. */
async function fill(service: TestService, token: string): Promise<void> {
  const more = { token };
  const call = async (method: string, path: string, body: unknown): Promise<void> => {
    const { status, text } = await service.call(method, path, body, more);
    assert.ok(status < 300, text);
  };
  await call('PUT', '/v1/schemas/40', { name: 'Orders' });
  await call('PUT', '/v1/data-sources/orders-eu', {
    schema_id: '40',
    name: 'Orders, Europe',
    attributes: { region: 'eu' },
  });
  await call('PUT', '/v1/property-schema', {
    mode: 'enforce',
    schema: {
      type: 'object',
      properties: { plan: { enum: ['silver', 'gold'] }, seats: { type: 'integer', minimum: 1 } },
    },
  });
  for (const [id, name] of [
    ['acme', 'Acme'],
    ['globex', 'Globex'],
    ['initech', 'Initech'],
  ])
    await call('PUT', `/v1/user-groups/${id}`, {
      name,
      mapping: { '40': 'orders-eu' },
      properties: { plan: 'gold', seats: 25 },
    });
  await call('POST', '/v1/user-groups/initech/suspend', undefined);
}
