// The console in a real browser: every page is accessible, light and dark, on a phone and on a desktop, and
// works without JavaScript; support tasks can be done by keyboard alone. If CONSOLE_SCREENSHOTS names a
// folder, it receives a picture of every page.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { median } from '../../bench/median.ts';
import {
  COLOUR_RULES,
  DESKTOP,
  launchBrowser,
  PHONE,
  skipsBrowser,
  violationsOf,
} from '../support/browser.ts';
import { sqlite } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';

/** Longest possible id, with no place to break the line. */
const LONG_ID = `tenant_${'x7Kq9'.repeat(49)}042`;
const LONG_NAME =
  'The International Association of Research Institutes and Subsidiaries (Holdings) GmbH & Co. KGaA';
const RIGHT_TO_LEFT = 'شركة-الأمل-الدولية';
/** Exceeds one page of the catalogue. */
const SCHEMAS = 60;
/** Measurements of the first paint, which a busy machine delays. */
const PAINT_ROUNDS = 3;

const SCREENSHOTS = process.env.CONSOLE_SCREENSHOTS;
/** Path of every page, by the name of its picture. */
const PAGES = {
  overview: '/console',
  'user-groups': '/console/user-groups',
  'user-groups-none': '/console/user-groups?search=nothing-like-this',
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
  catalogue: '/console/catalogue',
  schema: '/console/catalogue/schemas/40',
  'schema-new': '/console/catalogue/schemas/-/new',
  'data-source': '/console/catalogue/data-sources/orders-eu',
  'data-source-edit': '/console/catalogue/data-sources/orders-eu/edit',
  'data-source-delete': '/console/catalogue/data-sources/orders-eu/delete',
  'mapping-policy': '/console/catalogue/mapping-policy',
  'property-schema': '/console/catalogue/property-schema',
  integrations: '/console/integrations',
  integration: '/console/integrations/dashboards',
  'integration-new': '/console/integrations/-/types',
  'signing-keys': '/console/integrations/-/signing-keys',
  webhooks: '/console/webhooks',
  'webhook-redeliver': '/console/webhooks/crm/redeliver-failed',
  sessions: '/console/sessions',
  webhook: '/console/webhooks/crm',
  'webhook-new': '/console/webhooks/-/new',
  'api-tokens': '/console/api-tokens',
  'api-tokens-revoked': '/console/api-tokens?revoked=yes',
  'api-token': '/console/api-tokens/1',
  'api-token-new': '/console/api-tokens/-/new',
  'api-token-rotate': '/console/api-tokens/1/rotate',
  'not-found': '/console/user-groups/nobody',
  'no-page': '/console/nowhere',
  'view-as': '/console/user-groups/demo-alpenglow/view-as',
} as const;
/** Paths of pages with long ids, right-to-left text and many schemas. */
const UGLY_PAGES = {
  'long-user-groups': '/console/user-groups',
  'long-columns': `/console/user-groups?columns=plan,seats,${LONG_ID}`,
  'long-user-group': `/console/user-groups/${LONG_ID}`,
  'long-user-group-edit': `/console/user-groups/${LONG_ID}/edit`,
  'long-user-group-delete': `/console/user-groups/${LONG_ID}/delete`,
  'long-view-as': '/console/user-groups/demo-alpenglow/view-as',
  'right-to-left': `/console/user-groups/${encodeURIComponent(RIGHT_TO_LEFT)}`,
  'long-events': '/console/events',
  'long-data-source': `/console/catalogue/data-sources/${LONG_ID}`,
  'long-webhooks': '/console/webhooks',
  'long-api-tokens': '/console/api-tokens',
  'long-webhook': `/console/webhooks/${LONG_ID}`,
} as const;
const SCREENS = { desktop: DESKTOP, phone: PHONE } as const satisfies Record<string, BrowserContextOptions>;

/** Resolves to the milliseconds from the navigation to the first paint. */
const FIRST_PAINT = `new Promise((resolve) => new PerformanceObserver((list) => {
  const [entry] = list.getEntriesByName('first-contentful-paint');
  if (entry) resolve(entry.startTime);
}).observe({ type: 'paint', buffered: true }))`;

/** Selects the texts of badges that span several lines. */
const BROKEN_BADGES = `[...document.querySelectorAll('.badge')]
  .filter((badge) => badge.getClientRects().length > 1 || badge.offsetHeight > 2 * parseFloat(getComputedStyle(badge).fontSize))
  .map((badge) => badge.textContent)`;

/**
 * Selects links and buttons that share a name but lead to different pages; ignores ids, which callers choose.
 */
const AMBIGUOUS = `(() => {
  const targets = new Map();
  const elements = [...document.querySelectorAll('main :is(a:not(:has(.id)), [type=submit])')];
  return elements.filter((each) => {
    const [name, target] = [each.ariaLabel ?? each.textContent, each.href ?? each.form.action];
    if (!targets.has(name)) targets.set(name, target);
    return targets.get(name) !== target;
  }).map((each) => each.outerHTML);
})()`;

/** Window of 1,280 × 1,024 pixels at 400 per cent. */
const ZOOMED = { width: 320, height: 256 };
const LARGE_TEXT = "document.documentElement.style.fontSize = '200%'";
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Selects tables that scroll sideways, and controls beyond the edge of the content. */
const TOO_WIDE = `[
  ...[...document.querySelectorAll('.table')].filter((table) => table.scrollWidth > table.clientWidth),
  ...[...document.querySelectorAll('main :is(input, select, textarea, button)')].filter(
    (control) => control.getBoundingClientRect().right > document.documentElement.clientWidth - 16,
  ),
].map((each) => each.outerHTML.slice(0, 200))`;

describe('The console in a browser', { skip: skipsBrowser }, () => {
  const stack = suiteStack();
  let service: TestService;
  let browser: Browser;
  let adminToken: string;
  /** Counts conflicting changes, so that each sets a different value. */
  let conflicts = 0;
  before(async () => {
    service = stack.use(await TestService.start(sqlite));
    ({ token: adminToken } = await service.apiToken({ permission: 'admin', name: 'support' }));
    await service.createDemo();
    await fill(service, adminToken);
    browser = stack.use(await launchBrowser());
  });

  /** Opens a page in a browser that is signed in. */
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

  for (const [screen, options] of Object.entries(SCREENS)) {
    it(`has no page with an accessibility violation, an error, or a scroll bar to the side, light and dark and zoomed: ${screen}`, async () => {
      const { context, page, errors } = await open(options);
      for (const [name, path] of Object.entries(PAGES)) {
        await page.goto(path);
        await check(page, name, screen);
      }
      for await (const name of editWithConflict(page)) await check(page, name, screen);
      for await (const name of rejectedSettings(page)) await check(page, name, screen);
      await page.goto('/console/sign-in');
      // A browser also reports the statuses of pages that reject a form.
      assert.deepEqual(
        errors.filter((error) => !/status of 4(?:00|04|12|22)/.test(error)),
        [],
      );
      await context.close();
    });
  }

  it('is accessible with ids of 255 characters, right-to-left text and sixty schemas', async () => {
    await fillUgly(service, adminToken);
    for (const [screen, options] of Object.entries(SCREENS)) {
      const { context, page } = await open(options);
      for (const [name, path] of Object.entries(UGLY_PAGES)) {
        await page.goto(path);
        await check(page, name, screen);
      }
      await context.close();
    }
  });

  it('names the workspace and the environment without cutting them, and cuts a long id in its middle', async () => {
    const { context, page } = await open();
    for (const width of [1_280, 820, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto('/console/user-groups');
      const isCut =
        "['workspace', 'environment'].some((name) => { const at = document.querySelector('.' + name); return at.scrollWidth > at.clientWidth; })";
      assert.equal(await page.evaluate(isCut), false, `${width}`);
      // Below 900 pixels each row is a card, without empty values.
      assert.equal(await page.locator('thead').isVisible(), width >= 900);
      const empty = page.locator('td:empty, td:has(> .absent:only-child)').filter({ visible: true });
      assert.equal((await empty.count()) > 0, width >= 900);
      const link = page.getByRole('link', { name: LONG_ID, exact: true });
      assert.ok((await link.boundingBox())!.height < 40, `${width}`);
      assert.equal(await link.locator('.id').getAttribute('title'), LONG_ID);
      const line = "getComputedStyle(document.querySelector('a > .id.cut')).textDecorationLine";
      assert.equal(await page.evaluate(line), 'underline');
      await page.goto(`/console/user-groups/${LONG_ID}`);
      assert.equal(await page.getByRole('button', { name: 'Copy id' }).first().isVisible(), true);
    }
    await context.close();
  });

  it('keeps double spaces in an id, announces only the number of results, and does not move if asked not to', async () => {
    const { context, page } = await open();
    await page.getByLabel('Id or name').fill('two  spaces');
    await page.getByRole('link', { name: 'acme', exact: true }).waitFor({ state: 'detached' });
    assert.equal(await page.locator('#rows a .id').first().textContent(), 'two  spaces');
    const whiteSpace = "getComputedStyle(document.querySelector('#rows a .id')).whiteSpace";
    assert.equal(await page.evaluate(whiteSpace), 'pre');
    assert.equal(await page.getByRole('status').textContent(), '1 user group');
    assert.equal(await page.locator('#results').locator('[aria-live], [role=status]').count(), 0);
    const moving = `[...document.querySelectorAll('*')].filter((each) => {
      const { transitionDuration, animationName } = getComputedStyle(each);
      return transitionDuration !== '0s' || animationName !== 'none';
    }).length`;
    assert.ok((await page.evaluate(moving)) !== 0);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    assert.equal(await page.evaluate(moving), 0);
    await context.close();
  });

  it('moves the focus to the search with Ctrl-K, and with no key that speech input may press', async () => {
    const { context, page } = await open();
    for (const key of ['/', 'k']) await page.keyboard.press(key);
    assert.equal(await page.locator(':focus').count(), 0);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('a/b');
    assert.equal(await page.getByLabel('Id or name').inputValue(), 'a/b');
    await context.close();
  });

  it('masks a pasted token or secret in a field that password managers neither fill nor store', async () => {
    const { context, page } = await open();
    for (const [path, label] of [
      ['/console/user-groups/-/find-by-token', 'Token'],
      ['/console/integrations/-/new?type=metabase', 'Secret'],
    ] as const) {
      await page.goto(path);
      const field = page.getByLabel(label, { exact: true });
      assert.equal(await field.getAttribute('type'), 'text');
      const masking = "getComputedStyle(document.querySelector('.masked')).webkitTextSecurity";
      assert.equal(await page.evaluate(masking), 'disc');
    }
    await context.close();
  });

  it('opens the navigation of a small screen with a button, and prints neither', async () => {
    const { context, page } = await open(PHONE);
    const link = page.getByRole('link', { name: 'Webhooks', exact: true });
    assert.equal(await link.isVisible(), false);
    await page.getByRole('button', { name: 'Menu' }).click();
    // The navigation covers part of a button of the page.
    const violations = (await violationsOf(page)).filter(({ id }) => id !== 'target-size');
    assert.deepEqual(violations, []);
    await link.click();
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.locator('header').isVisible(), false);
    assert.equal(
      await page.locator('main :is(button, input, a.button)').filter({ visible: true }).count(),
      0,
    );
    assert.equal(await page.getByRole('link', { name: 'New webhook endpoint' }).isVisible(), false);
    await page.goto('/console/user-groups/acme');
    const names = page.locator('main dt').filter({ visible: true });
    assert.equal((await names.allTextContents()).includes('Token'), false);
    await page.goto('/console/user-groups/acme/view-as');
    const controls = page.locator('main :is(button, input:not([type=hidden]), select)');
    assert.ok((await controls.count()) > 0);
    assert.equal(await controls.filter({ visible: true }).count(), 0);
    await context.close();
  });

  it('moves the focus to the summary of errors, from there to a field, and announces a refused sign-in', async () => {
    const { context, page } = await open();
    await page.goto('/console/webhooks/-/new');
    await page.getByLabel('URL').evaluate((input) => input.removeAttribute('required'));
    await page.getByLabel('Id', { exact: true }).fill('another');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').waitFor();
    assert.match(await page.title(), /^Error: /);
    assert.equal(await page.evaluate("document.activeElement.getAttribute('role')"), 'alert');
    await page.getByRole('alert').getByRole('link', { name: 'URL' }).click();
    assert.equal(await page.evaluate('document.activeElement.name'), 'url');
    const red = await page.evaluate("getComputedStyle(document.querySelector('[name=url]')).borderColor");
    assert.match(String(red), /^rgb\((?:19\d|2\d\d), [1-9]\d, [1-9]\d\)$/);
    await context.clearCookies();
    await page.goto('/console/sign-in');
    await page.getByLabel('API token').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('is not valid').first().waitFor();
    assert.equal(await page.evaluate("document.activeElement.getAttribute('role')"), 'alert');
    await context.close();
  });

  it('sends a form once that is sent by a double click', async () => {
    const { context, page } = await open();
    await service.call('PUT', '/v1/user-groups/double', { name: 'Double' }, { token: adminToken });
    await page.goto('/console/user-groups/double/rotate');
    await page.getByLabel('Reason').selectOption('routine');
    const { x, y } = (await page.getByRole('button', { name: 'Rotate' }).boundingBox())!;
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route(/rotate$/, async (route) => {
      const response = await route.fetch({ maxRedirects: 0 });
      first.resolve();
      await second.promise;
      await route.fulfill({ response }).catch(() => {});
    });
    await page.mouse.click(x + 10, y + 10);
    await first.promise;
    await page.mouse.click(x + 10, y + 10);
    second.resolve();
    await page.getByRole('status').getByText('The token was rotated').waitFor();
    await context.close();
  });

  it('shows icons and the edges of messages and badges in forced colours', async () => {
    const { context, page } = await open({ ...PHONE, forcedColors: 'active' });
    const visible = (selector: string) =>
      page.evaluate(
        `(([element]) => getComputedStyle(element, '::before').backgroundColor !== getComputedStyle(document.body).backgroundColor)(document.querySelectorAll('${selector}'))`,
      );
    await page.goto('/console/api-tokens/2/revoke');
    for (const icon of ['.menu', '.who', '.problem', '.trail li + li'])
      assert.equal(await visible(icon), true, icon);
    const edge = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).borderTopWidth`);
    assert.equal(await edge('.problem'), '1px');
    await page.goto('/console/user-groups/acme');
    assert.equal(await edge('.badge'), '1px');
    assert.equal(await visible('.copy'), true);
    await context.close();
  });

  it('makes each column of changes wide enough for a word', async () => {
    const { context, page } = await open();
    const id = 'changes';
    await service.call('PUT', `/v1/user-groups/${id}`, { name: LONG_ID }, { token: adminToken });
    await page.goto(`/console/user-groups/${id}/edit`);
    await page.getByLabel('Name', { exact: true }).fill('Changed');
    await page.getByRole('button', { name: 'Review changes' }).click();
    const rows = (text: string) =>
      page
        .locator('[data-label]')
        .getByText(text, { exact: true })
        .evaluate((element) => element.getClientRects().length);
    assert.deepEqual([await rows('name'), await rows('"Changed"')], [1, 1]);
    await context.close();
  });

  it('shows the mark as its icon', async () => {
    const { context, page } = await open();
    const icon = await page.locator('link[rel=icon]').getAttribute('href');
    const response = await page.request.get(icon!);
    assert.equal(response.headers()['content-type'], 'image/svg+xml; charset=utf-8');
    assert.match(await response.text(), /^<svg/);
    await context.close();
  });

  it('paints the first page within 300 milliseconds, and sends at most 80 KB for any', async () => {
    const medians: number[] = [];
    const isFast = () => medians.some((each) => each > 0 && each <= 300);
    // Other processes may need the processor for a while.
    while (!isFast() && medians.length < PAINT_ROUNDS) {
      // Each context has an empty cache.
      const { context, page } = await open();
      const paints: number[] = [];
      for (const path of Object.values(PAGES)) {
        await page.goto(path);
        const size = "performance.getEntriesByType('navigation')[0].transferSize";
        paints.push((await page.evaluate(FIRST_PAINT)) as number);
        assert.ok(((await page.evaluate(size)) as number) < 80_000, path);
      }
      medians.push(median(paints));
      await context.close();
    }
    assert.ok(isFast(), `medians of ${medians.map(Math.round).join(', ')} ms`);
  });

  /** Asserts that the page is accessible, no wider than the window, and has one main action at most. */
  async function check(page: Page, name: string, screen: string): Promise<void> {
    for (const [colorScheme, rules] of [
      ['dark', COLOUR_RULES],
      ['light', undefined],
    ] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const violations = await violationsOf(page, rules);
      assert.deepEqual(
        violations.map(({ id, nodes }) => `${id} ${nodes.map(({ html }) => html).join(' ')}`),
        [],
        `${name}, ${colorScheme}`,
      );
      await picture(page, `${name}-${colorScheme}-${screen}`);
    }
    assert.equal(await page.evaluate(OVERFLOW), 0, name);
    assert.ok(
      (await page.locator('main :is(.primary, button.danger)').count()) <= 1,
      `${name}: one main action`,
    );
    assert.deepEqual(await page.evaluate(BROKEN_BADGES), [], name);
    assert.deepEqual(await page.evaluate(AMBIGUOUS), [], name);
    assert.equal(await page.locator(':is([role=alert], .notice):not(:focus)').count(), 0, `${name}: focus`);
    assert.deepEqual(await page.evaluate(TOO_WIDE), [], name);
    if (screen === 'desktop') await checkZoomed(page, name);
  }

  /**
   * Asserts full-size targets, a header of one row and no sideways scrolling at 400 per cent, nor with text of
   * twice the size on a small phone.
   */
  async function checkZoomed(page: Page, name: string): Promise<void> {
    await page.setViewportSize(ZOOMED);
    assert.equal(await page.evaluate(OVERFLOW), 0, `${name}, zoomed`);
    const small = (await violationsOf(page, ['target-size'])).flatMap(({ nodes }) => nodes);
    assert.deepEqual(
      small.map(({ html }) => html),
      [],
      name,
    );
    const { height } = (await page.locator('header').boundingBox())!;
    assert.ok(height <= 56, `${name}: ${height}`);
    await page.evaluate(LARGE_TEXT);
    assert.equal(await page.evaluate(OVERFLOW), 0, `${name}, zoomed, with large text`);
    await page.evaluate("document.documentElement.style.fontSize = ''");
    await page.setViewportSize(DESKTOP.viewport);
  }

  /** Visits the pages that respond to the forms of a user group; yields the name of each. */
  async function* editWithConflict(page: Page): AsyncGenerator<string> {
    await page.goto('/console/user-groups/acme');
    await page.getByRole('button', { name: 'Show token' }).click();
    await page.getByRole('link', { name: 'Hide' }).waitFor();
    assert.equal(await page.evaluate("document.activeElement.textContent.startsWith('ugt_')"), true);
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
    const properties = { plan: 'gold', seats: 27 + conflicts++ };
    await service.call('PATCH', '/v1/user-groups/acme', { properties }, { token: adminToken });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Changed in the meantime' }).waitFor();
    yield 'user-group-conflict';
  }

  /** Visits the pages that respond to rejected forms of settings; yields the name of each. */
  async function* rejectedSettings(page: Page): AsyncGenerator<string> {
    await page.goto('/console/webhooks/-/new');
    await page.getByLabel('Id', { exact: true }).fill('crm');
    await page.getByLabel('URL').fill('https://crm.example.com');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('must have at least 1 entry').first().waitFor();
    yield 'webhook-rejected';
    await page.getByLabel('all, including').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('is taken').first().waitFor();
    yield 'webhook-taken';
    await page.goto('/console/catalogue/schemas/40/edit');
    for (const name of ['Sales', 'Orders'])
      await service.call('PUT', '/v1/schemas/40', { name }, { token: adminToken });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('was changed after you opened the form').waitFor();
    yield 'schema-conflict';
  }

  for (const javaScriptEnabled of [true, false]) {
    it(`shows the text of a new API token on demand, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
      const { context, page, errors } = await open({ ...DESKTOP, javaScriptEnabled });
      await page.goto('/console/api-tokens/-/new');
      await page.getByLabel('Name').fill('dashboard server');
      await page.getByLabel('Permission').selectOption('resolve');
      await page.getByRole('button', { name: 'Create' }).click();
      const field = page.getByLabel('Text of the API token', { exact: true });
      assert.equal(await field.getAttribute('type'), 'password');
      const apiToken = await field.inputValue();
      assert.match(apiToken, /^uga_/);
      // axe needs JavaScript.
      if (javaScriptEnabled) await check(page, 'api-token-issued', 'desktop');
      if (javaScriptEnabled) {
        await page.getByRole('button', { name: 'Show' }).click();
        assert.equal(await field.getAttribute('type'), 'text');
        // The button says its state by its name; a pressed state would contradict that.
        assert.equal(await page.getByRole('button', { name: 'Hide', pressed: true }).count(), 0);
        await page.getByRole('button', { name: 'Hide' }).click();
        assert.equal(await field.getAttribute('type'), 'password');
      } else {
        assert.equal(await page.getByRole('button', { name: 'Show' }).count(), 0);
        const text = page.locator('details code');
        assert.equal(await text.isVisible(), false);
        await page.locator('summary').click();
        await text.waitFor();
        assert.equal(await text.textContent(), apiToken);
      }
      // Submits the form again.
      await page.reload();
      await page.getByText('This form was sent before').waitFor();
      assert.deepEqual(
        errors.filter((error) => !/status of 412/.test(error)),
        [],
      );
      await context.close();
    });
  }

  it('lets support find a customer, fix a property, see who changed it and rotate a token, by keyboard alone', async () => {
    const { context, page, errors } = await open();
    /** Moves the focus to the element with this text, and presses the key. */
    const press = async (key: string, text: string, tab = 'Tab'): Promise<void> => {
      const isThere = `document.activeElement.textContent.trim() === ${JSON.stringify(text)}`;
      for (let tabs = 0; !(await page.evaluate(isThere)) && tabs < 60; tabs++) await page.keyboard.press(tab);
      await page.keyboard.press(key);
    };
    const focus = async (id: string): Promise<void> => {
      const isThere = `document.activeElement.id === ${JSON.stringify(id)}`;
      for (let tabs = 0; !(await page.evaluate(isThere)) && tabs < 60; tabs++)
        await page.keyboard.press('Tab');
      assert.ok(await page.evaluate(isThere), id);
    };
    const heading = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
    await focus('search');
    await page.keyboard.type('Glo');
    await page.getByRole('link', { name: 'acme', exact: true }).waitFor({ state: 'detached' });
    await press('Enter', 'globex');
    await heading('Globex');
    await press('Enter', 'View as');
    await heading('View as Globex');
    await page.getByText('orders-eu').first().waitFor();
    await press('Enter', 'globex');
    await heading('Globex');
    await press('Enter', 'Edit');
    await heading('Edit user group');
    await focus(await page.getByLabel('seats').evaluate((input) => input.id));
    await page.keyboard.press('Control+A');
    await page.keyboard.type('30');
    await press('Enter', 'Review changes');
    await page.getByText('30', { exact: true }).waitFor();
    await press('Enter', 'Save');
    await page.getByRole('status').getByText('The changes were saved').waitFor();
    assert.equal(await page.evaluate("document.activeElement.getAttribute('role')"), 'status');
    await page.getByRole('cell', { name: 'support' }).first().waitFor();
    const { json: before } = await service.call('GET', '/v1/user-groups/globex');
    await press('Enter', 'Rotate token', 'Shift+Tab');
    await heading('Rotate the token');
    await focus('grace_period_seconds');
    await page.keyboard.type('1 hour');
    await press('Enter', 'Rotate');
    await heading('Globex');
    const { json: now } = await service.call('GET', '/v1/user-groups/globex');
    assert.notEqual(now.user_group.token, before.user_group.token);
    const leaked = await service.resolve(before.user_group.token);
    const hours = (Date.parse(leaked.json.token.expires_at) - Date.now()) / 3_600_000;
    assert.ok(hours > 0.9 && hours <= 1, leaked.text);
    assert.deepEqual(errors, []);
    await context.close();
  });

  it('shows the page to sign in without an accessibility violation', async () => {
    const context = await browser.newContext({ baseURL: service.url });
    const page = await context.newPage();
    await page.goto('/');
    assert.deepEqual(await violationsOf(page), []);
    await picture(page, 'sign-in');
    await page.setViewportSize(ZOOMED);
    await page.evaluate(LARGE_TEXT);
    assert.equal(await page.evaluate(OVERFLOW), 0);
    await context.close();
  });

  it('searches while a person types, and says how in the address of the page', async () => {
    const { context, page, errors } = await open();
    await page.getByLabel('Id or name').pressSequentially('Glo');
    await page.getByRole('link', { name: 'globex', exact: true }).waitFor();
    await page.getByRole('link', { name: 'acme', exact: true }).waitFor({ state: 'detached' });
    assert.match(page.url(), /search=Glo/);
    assert.deepEqual(errors, []);
    await context.close();
  });

  it('asks to sign in again if the session ends while a person types', async () => {
    const { context, page } = await open();
    await context.clearCookies();
    await page.getByLabel('Id or name').pressSequentially('Glo');
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    await page.getByLabel('API token').fill(adminToken);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'globex', exact: true }).waitFor();
    await context.close();
  });

  it('does not search for a token that is pasted into the search', async () => {
    const { context, page, errors } = await open();
    const { json } = await service.call('GET', '/v1/user-groups/acme');
    const secret = json.user_group.token.slice(9, 25);
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    page.on('framenavigated', (frame) => urls.push(frame.url()));
    await page.getByLabel('Id or name').fill(json.user_group.token);
    await page.getByRole('heading', { name: 'Find by token', level: 1 }).waitFor();
    // Ready for pasting it again.
    await page.locator('input:focus[name="token"]').waitFor();
    assert.ok(urls.length > 0 && urls.every((url) => !url.includes(secret)));
    await page.goBack();
    assert.equal(await page.getByLabel('Id or name').inputValue(), '');
    await page.goto('/console/events');
    await page.getByLabel('Changed field').fill(json.user_group.token);
    await page.getByRole('heading', { name: 'Find by token', level: 1 }).waitFor();
    assert.ok(urls.every((url) => !url.includes(secret)));
    assert.deepEqual(errors, []);
    await context.close();
  });

  it('works without JavaScript', async () => {
    const { context, page } = await open({ ...DESKTOP, javaScriptEnabled: false });
    await page.getByLabel('Id or name').fill('Glo');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('link', { name: 'globex', exact: true }).click();
    await page.getByRole('heading', { name: 'Globex', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'support' }).click();
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

function callWith(service: TestService, token: string) {
  return async (method: string, path: string, body: unknown): Promise<TestResponse> => {
    const response = await served(() => service.call(method, path, body, { token }));
    assert.ok(response.status < 300, response.text);
    return response;
  };
}

/** Creates what the pages show. */
async function fill(service: TestService, token: string): Promise<void> {
  const call = callWith(service, token);
  await call('PUT', '/v1/schemas/40', { name: 'Orders' });
  await call('PUT', '/v1/data-sources/orders-eu', {
    schema_id: '40',
    name: 'Orders, Europe',
    attributes: { region: 'eu' },
  });
  await call('PUT', '/v1/integrations/dashboards', {
    type: 'jwt',
    settings: { audience: 'dashboards', properties: ['plan'] },
  });
  await call('PUT', '/v1/webhook-endpoints/crm', {
    url: 'https://crm.example.com/hooks',
    event_types: ['user_group.created'],
    enabled: false,
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

/** Creates long ids with no place to break the line, right-to-left text, and many schemas. */
async function fillUgly(service: TestService, adminToken: string): Promise<void> {
  const admin = callWith(service, adminToken);
  const longName = { permission: 'admin', name: LONG_ID.slice(0, 100) };
  const { json } = await admin('POST', '/v1/api-tokens', longName);
  const call = callWith(service, json.api_token.token);
  await call('POST', '/v1/api-tokens', longName);
  await call('PUT', `/v1/webhook-endpoints/${LONG_ID}`, {
    url: `https://crm.example.com/${'path/'.repeat(40)}`,
    event_types: ['*'],
    enabled: false,
  });
  await call('PUT', `/v1/data-sources/${LONG_ID}`, { schema_id: '40', name: LONG_NAME, attributes: {} });
  for (let index = 0; index < SCHEMAS; index++) {
    const [id, name] = [`schema-${index}`, `Schema ${index}`];
    await call('PUT', `/v1/data-sources/source-${index}`, { schema_id: id, name, attributes: {} });
    await call('PUT', `/v1/schemas/${id}`, {
      name,
      default_data_source: index % 2 === 0 ? `source-${index}` : null,
    });
  }
  const ugly = {
    mapping: { '40': LONG_ID, gone: LONG_ID },
    properties: { plan: 'gold', [LONG_ID]: LONG_ID },
  };
  await call('PUT', '/v1/user-groups/two%20%20spaces', { name: 'Spaces' });
  await call('PUT', '/v1/user-groups/-', { name: 'Narrow' });
  for (const name of [LONG_ID, LONG_NAME]) await call('PUT', `/v1/user-groups/${LONG_ID}`, { name, ...ugly });
  await call('PUT', `/v1/user-groups/${encodeURIComponent(RIGHT_TO_LEFT)}`, { name: 'شركة الأمل الدولية' });
}
