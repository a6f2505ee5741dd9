// Console search in a real browser: it continues by itself until the page is full or nothing is left, shows
// its progress, and can be stopped.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContextOptions, Locator, Page, Route } from 'playwright-core';
import type { UserGroup } from '../../src/domain/user-group/user-group.ts';
import { DESKTOP, launchBrowser, PHONE, skipsBrowser, violationsOf } from '../support/browser.ts';
import { sqlite } from '../support/database.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';
import { storeUserGroups } from '../support/user-group/stored-user-group.ts';

/**
 * More groups than the first step reads. One in 200 is a reseller, so filling a page with them takes two
 * steps.
 */
const GROUPS = 12_000;
const RESELLERS = 200;

/** Replaces texts as the translator of a browser does. */
const TRANSLATE = `{
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) found.push(texts.currentNode);
  for (const text of found) {
    if (text.parentElement.closest('[translate=no], code, font, script') || text.data.trim() === '') continue;
    const font = document.createElement('font');
    font.textContent = 'auf Deutsch';
    text.replaceWith(font);
  }
}`;

describe('The search of the console in a browser', { skip: skipsBrowser }, () => {
  const stack = suiteStack();
  let service: TestService;
  let browser: Browser;
  before(async () => {
    service = stack.use(await TestService.start(sqlite));
    const groups = Array.from({ length: GROUPS }, (_, index): [string, Partial<UserGroup>] => {
      const number = String(index).padStart(6, '0');
      const name = `Shop ${number}${index % RESELLERS === 0 ? ', reseller' : ''}`;
      return [`customer-${number}`, { name: index === GROUPS - 1 ? 'The rare one' : name }];
    });
    await storeUserGroups(service.app.context.store, 'default', Object.fromEntries(groups));
    browser = stack.use(await launchBrowser());
  });

  async function open(screen: BrowserContextOptions = DESKTOP): Promise<Page> {
    const page = await browser.newPage({ ...screen, baseURL: service.url });
    await page.goto('/');
    return signIn(page);
  }

  async function signIn(page: Page, apiToken = service.token): Promise<Page> {
    await page.getByLabel('API token').fill(apiToken);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'User groups', level: 1 }).waitFor();
    return page;
  }

  /** Excludes the link of each row to edit the group. */
  const links = (page: Page) => page.locator('#rows a:not([href$="/edit"])');

  it('finds a rare name without a click', async () => {
    const page = await open();
    await page.getByLabel('Id or name').fill('rare');
    await page.getByRole('link', { name: 'customer-011999', exact: true }).waitFor();
    await page
      .getByRole('status')
      .filter({ hasText: /^1 user group$/ })
      .waitFor({ state: 'attached' });
    assert.equal(await links(page).count(), 1);
    assert.equal(await page.getByRole('button', { name: 'Stop' }).isVisible(), false);
    assert.deepEqual(await violationsOf(page), []);
    await page.close();
  });

  it('shows no rows of the environment that another tab has switched to under the header of the previous one', async () => {
    const { token } = await service.apiToken({ environment: 'Testing' });
    await service.get({ user_group_id: 'rare', name: 'A rare test' }, { token });
    const context = await browser.newContext({ ...DESKTOP, baseURL: service.url });
    const [page, tab] = [await context.newPage(), await context.newPage()];
    await page.goto('/');
    await signIn(page);
    await tab.goto('/console/sign-in?another=1');
    await signIn(tab, token);
    await page.getByLabel('Id or name').fill('rare');
    await page.getByRole('link', { name: 'rare', exact: true }).waitFor();
    assert.equal(await page.locator('.environment').textContent(), 'Testing');
    assert.equal(await page.getByLabel('Id or name').inputValue(), 'rare');
    await context.close();
  });

  it('follows the typing on a page that the browser has translated, except for names', async () => {
    const page = await open();
    await page.evaluate(TRANSLATE);
    await page.getByRole('searchbox').pressSequentially('rare');
    const found = page.getByRole('link', { name: 'customer-011999', exact: true });
    await found.waitFor();
    assert.equal(await page.locator('h1 font').count(), 1, 'the page was loaded again');
    await page.evaluate(TRANSLATE);
    assert.equal(await found.count(), 1, 'the id was translated');
    await page.close();
  });

  it('says that nothing is there when it has read everything', async () => {
    const page = await open();
    await page.getByLabel('Id or name').fill('nothing like it');
    await page.getByText('No user group here meets these conditions: ').waitFor();
    await page.close();
  });

  it('fills the page, each group once, and then offers the next page', async () => {
    const page = await open();
    await page.getByLabel('Id or name').fill('reseller');
    await page.getByRole('link', { name: 'customer-009800', exact: true }).waitFor();
    const ids = await links(page).allTextContents();
    assert.equal(ids.length, 50);
    assert.equal(new Set(ids).size, 50);
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByRole('link', { name: 'customer-011800', exact: true }).waitFor();
    assert.equal(await links(page).count(), GROUPS / RESELLERS - 50);
    await page.close();
  });

  it('shows its progress, stops when asked, goes on after a click, and forgets a search that was replaced', async () => {
    const page = await open();
    const isStep = (url: URL) => url.searchParams.has('shown');
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(isStep, async (route) => {
      await held;
      await route.continue().catch(() => {});
    });
    await page.getByLabel('Id or name').fill('rare');
    await page.getByText('Searched 2,000').waitFor();
    const stop = page.getByRole('button', { name: 'Stop' });
    await stop.waitFor();
    assert.equal(await page.getByRole('link', { name: 'Continue searching' }).isVisible(), false);
    assert.deepEqual(await violationsOf(page), []);
    await stop.click();
    const on = page.getByRole('link', { name: 'Continue searching' });
    await on.waitFor();
    assert.equal(await stop.isVisible(), false);
    await on.click();
    await stop.waitFor();
    await page.getByLabel('Id or name').fill('customer-000007');
    await page.getByRole('link', { name: 'customer-000007', exact: true }).waitFor();
    release();
    await page
      .getByRole('status')
      .filter({ hasText: /^1 user group$/ })
      .waitFor({ state: 'attached' });
    assert.equal(await links(page).count(), 1);
    await page.close();
  });

  it('stops when asked on a page that was opened by its address, and keeps the focus in its place', async () => {
    const page = await open();
    const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let count = 0;
    await page.route(
      (url) => url.searchParams.has('shown'),
      async (route) => {
        await steps[count++]?.promise;
        await route.continue().catch(() => {});
      },
    );
    // The script of the console arrives last.
    await page.route(/console\.js$/, async (route) => {
      await sleep(500);
      await route.continue();
    });
    await page.goto('/console/user-groups?search=rare');
    const stop = page.getByRole('button', { name: 'Stop' });
    await stop.press('Enter');
    const isFocused = (control: Locator) =>
      control.evaluate((each) => each === each.ownerDocument.activeElement);
    const on = page.getByRole('link', { name: 'Continue searching' });
    assert.equal(await isFocused(on), true);
    assert.equal(await page.locator('#search-status').textContent(), 'The search has stopped');
    steps[0]!.resolve();
    // Sends the next step: the stopped one no longer occupies the queue.
    await on.press('Enter', { timeout: 5_000 });
    assert.equal(await isFocused(stop), true);
    await eventually('the second step', () => count === 2);
    steps[1]!.resolve();
    await page.getByText('The rare one').waitFor();
    await stop.waitFor({ state: 'hidden' });
    assert.equal(await isFocused(page.locator('#search-progress')), true);
    await page.close();
  });

  it('dims the rows of the previous search while the next one takes long', async () => {
    const page = await open();
    const held = Promise.withResolvers<void>();
    await page.route(
      (url) => url.searchParams.has('search'),
      async (route) => {
        await held.promise;
        await route.continue();
      },
    );
    const opacity = (expected: string) =>
      eventually(`opacity ${expected}`, async () => {
        const shown = await page.evaluate("getComputedStyle(document.getElementById('results')).opacity");
        return shown === expected || null;
      });
    await page.getByLabel('Id or name').fill('rare');
    await opacity('0.4');
    held.resolve();
    await opacity('1');
    await page.close();
  });

  it('follows a link although the request of a search then fails, as in Firefox', async () => {
    const page = await open();
    const [search, link] = [Promise.withResolvers<Route>(), Promise.withResolvers<Route>()];
    await page.route(/search=/, search.resolve);
    await page.route('**/console/events', link.resolve);
    await page.getByLabel('Id or name').fill('rare');
    const request = await search.promise;
    await page.getByRole('link', { name: 'Events', exact: true }).click({ noWaitAfter: true });
    const target = await link.promise;
    const failed = page.waitForEvent('requestfailed');
    await request.abort();
    await failed;
    await target.continue();
    await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
    await page.close();
  });

  it('replaces the page with the response of a proxy, or with the error of the browser', async () => {
    const page = await open();
    const isSearch = (url: URL) => url.searchParams.has('search');
    await page.route(isSearch, (route) =>
      route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' }),
    );
    await page.getByLabel('Id or name').fill('rare');
    await page.getByRole('heading', { name: 'Bad Gateway' }).waitFor();
    await page.unroute(isSearch);
    await page.reload();
    await page.getByRole('link', { name: 'customer-011999', exact: true }).waitFor();
    await page.route(isSearch, (route) => route.abort('connectionrefused'));
    await page.getByLabel('Id or name').fill('reseller');
    await links(page).first().waitFor({ state: 'detached' });
    await page.close();
  });

  for (const [name, screen] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    it(`shows the overview, and suspends checked rows, without an accessibility violation: ${name}`, async () => {
      const page = await open(screen);
      const check = async () => {
        const violations = await violationsOf(page);
        assert.deepEqual(
          violations.map(({ id, nodes }) => `${id} ${nodes.map(({ html }) => html).join(' ')}`),
          [],
        );
        const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        assert.equal(await page.evaluate(overflow), 0, page.url());
      };
      await page.goto('/console');
      // The figures may appear only after the page has loaded.
      await page.getByText('as of').waitFor();
      await check();
      await page.goto('/console/user-groups');
      const checked = page.getByRole('checkbox', { name: /^Select/, checked: true });
      await page.getByRole('button', { name: 'Check all' }).click();
      assert.equal(await checked.count(), await page.getByRole('checkbox').count());
      await page.getByLabel('Select customer-000001').uncheck();
      await page.getByRole('button', { name: 'Check all' }).click();
      await page.getByRole('button', { name: 'Uncheck all' }).click();
      assert.equal(await checked.count(), 0);
      await page.getByLabel('Select customer-000001').check();
      await page.getByRole('button', { name: 'Suspend checked' }).click();
      await page.getByRole('heading', { name: 'Suspend 1 user group' }).waitFor();
      await check();
      await page.getByRole('button', { name: 'Suspend' }).click();
      await page.getByRole('heading', { name: '1 of 1 suspended' }).waitFor();
      await check();
      await service.call('POST', '/v1/user-groups/customer-000001/resume');
      await page.close();
    });
  }
});
