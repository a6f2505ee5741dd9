// /docs and /errors in a real browser.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser, PHONE, skipsBrowser } from '../support/browser.ts';
import { sqlite } from '../support/database.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';

/** Page, with everything that the browser has reported about it. */
interface Visit {
  page: Page;
  /** Errors on the console, including violations of the Content-Security-Policy. */
  errors: string[];
  requests: URL[];
}

const WIDTH = 'document.documentElement.scrollWidth';

describe('The documentation in a browser', { skip: skipsBrowser }, () => {
  const stack = suiteStack();
  let service: TestService;
  let browser: Browser;
  before(async () => {
    service = stack.use(await TestService.start(sqlite));
    browser = stack.use(await launchBrowser());
  });

  async function visit(path: string, options: BrowserContextOptions = {}): Promise<Visit> {
    const page = await browser.newPage(options);
    const visited: Visit = { page, errors: [], requests: [] };
    page.on('console', (message) => message.type() === 'error' && visited.errors.push(message.text()));
    page.on('pageerror', (error) => visited.errors.push(error.message));
    page.on('request', (request) => visited.requests.push(new URL(request.url())));
    await page.goto(service.url + path);
    await page
      .getByText(path.startsWith('/docs') ? 'Rotate a token' : 'user_group_not_found')
      .first()
      .waitFor();
    return visited;
  }

  const search = (page: Page) => page.getByLabel('Search the operations');
  const operations = (page: Page) => page.locator('.opblock-tag-section .opblock-summary-description');
  const background = (page: Page) => page.evaluate('getComputedStyle(document.body).backgroundColor');

  it('shows every operation, and its details on a click, without violating the Content-Security-Policy', async () => {
    const { page, errors, requests } = await visit('/docs');
    assert.ok((await operations(page).count()) > 10);
    await page.getByText('Rotate a token', { exact: true }).click();
    await page.getByText('Safe to retry.').waitFor();
    await page.getByText('current_token').first().waitFor();
    assert.equal(await page.getByRole('button', { name: /try it out|authorize/i }).count(), 0);
    assert.deepEqual(errors, []);
    const foreign = requests.filter(({ protocol, origin }) => protocol !== 'data:' && origin !== service.url);
    assert.deepEqual(foreign, []);
    await page.close();
  });

  it('searches operations by title, description, method and path, and shows none without a match', async () => {
    const { page, errors } = await visit('/docs');
    const all = await operations(page).count();
    for (const [phrase, summary] of [
      ['rotate', 'Rotate a token'],
      ['MERGE patch', 'Change parts of a user group'],
      ['delete /v1', 'Delete a user group'],
    ] as const) {
      await search(page).fill(phrase);
      await operations(page)
        .nth(all - 1)
        .waitFor({ state: 'detached' });
      assert.ok((await operations(page).allTextContents()).includes(summary), phrase);
      await search(page).fill('');
      await operations(page)
        .nth(all - 1)
        .waitFor();
    }
    await search(page).fill('no operation has these words');
    await operations(page).first().waitFor({ state: 'detached' });
    assert.deepEqual(errors, []);
    await page.close();
  });

  for (const path of ['/docs', '/errors']) {
    it(`follows the colour scheme of the system: ${path}`, async () => {
      const { page, errors } = await visit(path, { colorScheme: 'light' });
      const light = await background(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      const dark = await background(page);
      assert.deepEqual([light, dark], ['rgb(255, 255, 255)', 'rgb(28, 32, 34)']);
      assert.deepEqual(errors, []);
      await page.close();
    });
  }

  it('opens the operation in the URL fragment, which fits the width of a phone', async () => {
    const { page } = await visit('/docs#/User%20group%20tokens/rotateUserGroupToken', PHONE);
    await page.getByText('Safe to retry.').waitFor();
    assert.equal(await page.evaluate(WIDTH), PHONE.viewport.width);
    await page.close();
  });

  it('scrolls to the error that the type of a problem links to, which fits the width of a phone', async () => {
    const { page } = await visit('/errors#user_group_not_found', PHONE);
    assert.equal(await page.evaluate(WIDTH), PHONE.viewport.width);
    const top = await page.evaluate(`document.querySelector(':target').getBoundingClientRect().top`);
    assert.ok(Number(top) >= 0 && Number(top) < 200, String(top));
    await page.close();
  });
});
