// Tables of the console. In a window just wide enough for them, none scrolls sideways, and no id of ordinary
// length is broken. In a narrower one, rows become cards, with the name of each column before its value.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { launchBrowser, skipsBrowser } from '../support/browser.ts';
import { sqlite } from '../support/database.ts';
import { eventually, served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';
import { Receiver, respondWith } from '../support/webhooks/receiver.ts';

/** Narrowest window with tables; below it, rows are cards. */
const WIDTH = 901;
/** Widest window with cards, and one in which names are above the values. */
const CARD_WIDTHS = [900, 360];
const IDS = ['acme-corp-7', 'globex-inc-eu-west', 'an-id-of-24-characters-1'];
const PAGES = [
  '/console/user-groups',
  '/console/events',
  '/console/webhooks',
  '/console/webhooks/crm',
  '/console/api-tokens',
];
/** Page of two columns, with tables beside a dashboard. */
const VIEW_AS = '/console/user-groups/demo-alpenglow/view-as';
const SCROLLED =
  "[...document.querySelectorAll('.table')].filter((table) => table.scrollWidth > table.clientWidth).length";
const BROKEN_IDS =
  "[...document.querySelectorAll('tbody .id')].filter((id) => id.getClientRects().length > 1).map((id) => id.textContent)";

/** Selects values that overlap the column name floating to their left. */
const OVERLAID = `[...document.querySelectorAll('[data-label]')].filter((cell) => {
  const { display, marginLeft } = getComputedStyle(cell, '::before');
  return cell.checkVisibility() && display !== 'none' && parseFloat(getComputedStyle(cell).paddingLeft) < -parseFloat(marginLeft);
}).map((cell) => cell.dataset.label)`;
/** Selects the distinct distances of card titles from the edges of their cards. */
const TITLE_INSETS =
  "[...new Set([...document.querySelectorAll('tbody th:not(:has(> .field))')].map((cell) => getComputedStyle(cell).paddingLeft))]";

/** Selects the distinct names of columns that are shown beside fields. */
const NAMES_OF_FIELDS =
  "[...new Set([...document.querySelectorAll('[data-label]:has(.field)')].filter((cell) => getComputedStyle(cell, '::before').display !== 'none').map((cell) => cell.dataset.label))]";

/** Pages whose filters are all visible. */
const FILTERED = ['/console/events', '/console/user-groups?seen=never'];
/** Selects placeholders that are cut off. */
const CUT_PLACEHOLDERS = `[...document.querySelectorAll('input[placeholder]')].filter((input) => {
  const { font, paddingLeft, paddingRight } = getComputedStyle(input);
  const context = document.createElement('canvas').getContext('2d');
  context.font = font;
  const width = input.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  return context.measureText(input.placeholder).width > width;
}).map((input) => input.placeholder)`;
const WIDTHS_OF_FILTERS =
  "new Set([...document.querySelectorAll('.filters :is(input, select)')].map((each) => each.offsetWidth)).size";

describe('The tables of the console', { skip: skipsBrowser }, () => {
  const stack = suiteStack();
  let service: TestService;
  let page: Page;
  before(async () => {
    const receiver = stack.use(await Receiver.start(respondWith(503)));
    service = stack.use(await TestService.start(sqlite, { env: { UGS_WEBHOOK_ALLOW_PRIVATE: 'on' } }));
    await service.createDemo();
    const { token } = await service.apiToken({ permission: 'admin', name: 'support' });
    const call = async (method: 'GET' | 'PUT', path: string, body?: object) => {
      const response = await served(() => service.call(method, path, body, { token }));
      assert.ok(response.status < 300, response.text);
      return response.json;
    };
    await call('PUT', '/v1/webhook-endpoints/crm', { url: receiver.url, event_types: ['*'] });
    for (const id of IDS)
      await call('PUT', `/v1/user-groups/${id}`, {
        name: 'Acme',
        mapping: { 40: 'orders-eu' },
        properties: { plan: 'gold' },
      });
    await eventually('an attempt has failed', async () => {
      const { deliveries } = await call('GET', '/v1/webhook-endpoints/crm/deliveries');
      return deliveries.some(({ attempts }: { attempts: number }) => attempts > 0) ? true : null;
    });
    const browser = stack.use(await launchBrowser());
    page = await browser.newPage({ baseURL: service.url, viewport: { width: WIDTH, height: 800 } });
    await page.goto('/');
    await signIn(token);
  });

  async function signIn(token: string): Promise<void> {
    await page.getByLabel('API token').fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'User groups', level: 1 }).waitFor();
  }

  it('fit into a small window, and break no id of ordinary length', async () => {
    for (const path of PAGES) {
      await page.goto(path);
      assert.equal(await page.locator('thead').first().isVisible(), true, path);
      assert.equal(await page.evaluate(SCROLLED), 0, path);
      assert.deepEqual(await page.evaluate(BROKEN_IDS), [], path);
    }
  });

  it('have filters in columns, wide enough for their placeholders, and print none', async () => {
    for (const path of FILTERED) {
      await page.goto(path);
      for (const width of [1_440, 1_000, 920, ...CARD_WIDTHS]) {
        await page.setViewportSize({ width, height: 800 });
        assert.equal(await page.evaluate(WIDTHS_OF_FILTERS), 1, `${path} at ${width}`);
        assert.deepEqual(await page.evaluate(CUT_PLACEHOLDERS), [], `${path} at ${width}`);
      }
      await page.emulateMedia({ media: 'print' });
      assert.equal(await page.getByRole('search').isVisible(), false, path);
      await page.emulateMedia({ media: null });
    }
  });

  it('are cards in a smaller window, with the name of each column before its value, however many there are', async () => {
    for (const path of [...PAGES, VIEW_AS]) {
      await page.goto(path);
      for (const width of CARD_WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        assert.equal(await page.locator('thead').first().isVisible(), false, path);
        assert.deepEqual(await page.evaluate(OVERLAID), [], `${path} at ${width}`);
        assert.deepEqual(await page.evaluate(TITLE_INSETS), ['0px'], `${path} at ${width}`);
      }
    }
  });

  it('are cards in a window that is too small for large text', async () => {
    await using large = await launchBrowser(['--blink-settings=defaultFontSize=32']);
    const context = await large.newContext({
      baseURL: service.url,
      viewport: { width: 1_280, height: 800 },
      storageState: await page.context().storageState(),
    });
    const enlarged = await context.newPage();
    for (const path of PAGES) {
      await enlarged.goto(path);
      assert.equal(await enlarged.locator('thead').first().isVisible(), false, path);
      assert.equal(await enlarged.evaluate(SCROLLED), 0, path);
    }
  });

  it('name each field of a form in a smaller window, where rows of properties are cards', async () => {
    const { token } = await service.apiToken({ environment: 'Testing' });
    await page.goto('/console/sign-in?another=1');
    await signIn(token);
    await page.goto('/console/user-groups/-/new');
    for (const width of CARD_WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      assert.deepEqual(await page.evaluate(NAMES_OF_FIELDS), ['Name', 'Type', 'Value'], `${width}`);
      assert.deepEqual(await page.evaluate(OVERLAID), [], `${width}`);
    }
  });
});
