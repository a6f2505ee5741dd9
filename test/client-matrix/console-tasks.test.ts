// What support does in the console, in a real browser, counting clicks; and links from elsewhere.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { DESKTOP, launchBrowser, skipsBrowser } from '../support/browser.ts';
import { sqlite } from '../support/database.ts';
import { TestService } from '../support/service.ts';

describe('A support person in a browser', { skip: skipsBrowser }, () => {
  let service: TestService;
  let browser: Browser;
  before(async () => {
    service = await TestService.start(sqlite);
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await service?.end();
  });

  async function signIn(page: Page, token = service.token): Promise<void> {
    await page.getByLabel('API token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  async function open(javaScriptEnabled = true): Promise<{ context: BrowserContext; page: Page }> {
    const context = await browser.newContext({ ...DESKTOP, baseURL: service.url, javaScriptEnabled });
    return { context, page: await context.newPage() };
  }

  for (const javaScriptEnabled of [true, false]) {
    it(`follows a link from a chat, signed in or not, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
      await service.get({ user_group_id: 'linked', name: 'Linked Ltd.' });
      const { context, page } = await open(javaScriptEnabled);
      const link = `${service.url}/console/user-groups/linked`;
      await context.route('http://chat.test/', (route) =>
        route.fulfill({ contentType: 'text/html', body: `<a href="${link}">the customer</a>` }),
      );
      await page.goto('http://chat.test/');
      await page.getByRole('link').click();
      await signIn(page);
      await page.getByRole('heading', { name: 'Linked Ltd.', level: 1 }).waitFor();
      assert.equal(page.url(), link);
      await page.goto('http://chat.test/');
      await page.getByRole('link').click();
      await page.getByRole('heading', { name: 'Linked Ltd.', level: 1 }).waitFor();
      assert.equal(page.url(), link);
      await context.close();
    });
  }
});
