// Support tasks in the console, in a real browser, with their clicks counted; and links from other sites.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { DESKTOP, launchBrowser, skipsBrowser } from '../support/browser.ts';
import { sqlite } from '../support/database.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';

/**
 * Counts clicks on all pages of a tab (a choice in a list is one click), and names the fields that are typed
 * into. `isTrusted` tells events of the person from those of scripts.
 */
const COUNT = `(() => {
  const counts = { clicks: 0, fields: [], ...JSON.parse(sessionStorage.counts ?? '{}') };
  const store = () => { sessionStorage.counts = JSON.stringify(counts); };
  const click = () => { counts.clicks++; store(); };
  addEventListener('click', ({ isTrusted }) => isTrusted && click(), true);
  addEventListener('change', ({ target }) => target instanceof HTMLSelectElement && click(), true);
  addEventListener('input', ({ target, isTrusted }) => {
    if (!isTrusted || !(target instanceof HTMLInputElement) || counts.fields.includes(target.name)) return;
    counts.fields.push(target.name);
    store();
  }, true);
})()`;

describe('A support person in a browser', { skip: skipsBrowser }, () => {
  const stack = suiteStack();
  let service: TestService;
  let browser: Browser;
  before(async () => {
    service = stack.use(await TestService.start(sqlite));
    browser = stack.use(await launchBrowser());
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

  describe('who knows only what the pages say', () => {
    before(fill);

    async function fill(): Promise<void> {
      const { token } = await service.apiToken({ permission: 'admin' });
      const call = async (method: string, path: string, body?: object) => {
        const response = await service.call(method, path, body, { token });
        assert.ok(response.status < 300, response.text);
      };
      await call('PUT', '/v1/schemas/40', { name: 'Orders' });
      for (const id of ['eu', 'us'])
        await call('PUT', `/v1/data-sources/orders-${id}`, {
          schema_id: '40',
          name: `Orders ${id}`,
          attributes: {},
        });
      for (let index = 0; index < 60; index++)
        await call('POST', '/v1/user-groups', { user_group_id: `other-${index}`, name: `Other ${index}` });
      await call('POST', '/v1/user-groups', {
        user_group_id: 'customer-17',
        name: 'Umbrella Corporation',
        mapping: { 40: 'orders-eu' },
        properties: { plan: 'gold' },
      });
      await call('POST', '/v1/user-groups', {
        user_group_id: 'empty',
        name: 'Empty Ltd.',
        mapping: { 40: 'gone' },
      });
    }

    /** Support person who acts on a page. The browser counts the actions: see `COUNT`. */
    class Person {
      readonly page: Page;

      constructor(page: Page) {
        this.page = page;
      }

      async type(label: string, text: string): Promise<void> {
        await this.page.getByLabel(label, { exact: true }).pressSequentially(text);
      }

      /**
       * Waits for the result of the whole text: the result of its first letters is replaced, perhaps during a
       * click.
       */
      async search(text: string): Promise<void> {
        await this.type('Id or name', text);
        await this.page.waitForURL((url) => url.searchParams.get('search') === text);
        await this.page.getByRole('link', { name: 'other-1', exact: true }).waitFor({ state: 'detached' });
      }

      async link(name: string | RegExp): Promise<void> {
        await this.page.getByRole('link', { name, exact: true }).first().click();
      }

      async button(name: string): Promise<void> {
        await this.page.getByRole('button', { name, exact: true }).click();
      }

      async choose(label: string, option: string): Promise<void> {
        await this.page.getByLabel(label).selectOption({ label: option });
      }

      async sees(text: string | RegExp): Promise<void> {
        await this.page.getByText(text).first().waitFor();
      }

      counts(): Promise<{ clicks: number; fields: string[] }> {
        return this.page.evaluate(
          `({ clicks: 0, fields: [], ...JSON.parse(sessionStorage.counts ?? '{}') })`,
        );
      }
    }

    const find = async (person: Person, text: string, id = 'customer-17') => {
      await person.search(text);
      await person.link(id);
      await person.page.getByRole('heading', { level: 1 }).waitFor();
    };

    const TASKS: Record<string, (person: Person) => Promise<void>> = {
      'why a dashboard is empty': async (person) => {
        await find(person, 'Empty', 'empty');
        await person.sees(/an error is shown for the schema 40/);
      },
      'find a customer by a part of the name': (person) => find(person, 'rella Corp'),
      'find a customer by a property': (person) => find(person, 'plan: gold'),
      'rotate a token that leaked': async (person) => {
        await find(person, 'customer-17');
        await person.link('Rotate token');
        await person.choose('Reason', 'the token has leaked, or may have');
        await person.button('Rotate');
        await person.sees('The token was rotated.');
      },
      'suspend a customer and resume it': async (person) => {
        await find(person, 'customer-17');
        await person.link('Suspend');
        await person.button('Suspend');
        await person.sees('The user group is suspended');
        await person.button('Resume');
        await person.sees('The user group is resumed');
      },
      'move a customer to another database': async (person) => {
        await person.search('customer-17');
        await person.link('Edit customer-17');
        await person.choose('Orders (40)', 'Orders us (orders-us)');
        await person.button('Review changes');
        await person.button('Save');
        await person.sees('The changes were saved.');
      },
      'who changed this mapping': async (person) => {
        await find(person, 'customer-17');
        await person.link('History of mapping.40 of customer-17');
        await person.sees('"orders-us"');
        await person.sees(/API token \d+, by console/);
      },
      'see what the customer sees': async (person) => {
        await find(person, 'customer-17');
        await person.link('View as');
        await person.sees('What a dashboard server gets');
      },
      'who uses this data source': async (person) => {
        await person.page.locator('summary', { hasText: 'Filters' }).click();
        await person.type('Data source', 'orders-us');
        await person.page.getByRole('link', { name: 'other-1', exact: true }).waitFor({ state: 'detached' });
        await person.page.getByRole('link', { name: 'customer-17', exact: true }).waitFor();
      },
      'undo the last change': async (person) => {
        await find(person, 'customer-17');
        await person.link(/^Undo version \d+ of customer-17$/);
        await person.button('Save');
        await person.sees('The changes were saved.');
      },
    };

    for (const [task, perform] of Object.entries(TASKS)) {
      it(`needs at most four clicks and one typed field to: ${task}`, async () => {
        const { context, page } = await open();
        await page.goto('/console/user-groups');
        await signIn(page);
        await page.getByRole('heading', { name: 'User groups', level: 1 }).waitFor();
        await context.addInitScript(COUNT);
        const person = new Person(page);
        await page.reload();
        await perform(person);
        const { clicks, fields } = await person.counts();
        assert.ok(clicks <= 4 && fields.length === 1, `${clicks} clicks, fields: ${fields}`);
        await context.close();
      });
    }
  });

  it('creates and edits a user group with the Enter key', async () => {
    const { context, page } = await open();
    await page.goto('/console/user-groups/-/new');
    await signIn(page);
    await page.getByLabel('Id', { exact: true }).fill('entered');
    await page.getByLabel('Name', { exact: true }).fill('Entered');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Entered', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('Entered Ltd.');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Review changes', level: 1 }).waitFor();
    await context.close();
  });

  it('shows forms as the service has them after going back, without part of earlier choices', async () => {
    for (const id of ['back-1', 'back-2']) await service.get({ user_group_id: id, name: id });
    const { context, page } = await open();
    await page.goto('/console/user-groups?search=back');
    await signIn(page);
    await page.getByLabel('Select back-1').check();
    await page.getByRole('button', { name: 'Suspend checked' }).click();
    await page.getByRole('heading', { name: 'Suspend 1 user group' }).waitFor();
    await service.get({ user_group_id: 'back-0', name: 'Not checked' });
    await page.goBack();
    await page.getByLabel('Select back-0').waitFor();
    assert.equal(await page.locator('input:checked').count(), 0);
    await page.goto('/console/user-groups/back-2/edit?as=json');
    await page.getByLabel('Properties').fill('{"plan": "typed"}');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('heading', { name: 'Review changes' }).waitFor();
    const stored = { user_group_id: 'back-2', name: 'Theirs', properties: { plan: 'stored' } };
    assert.equal((await service.put(stored)).status, 200);
    await page.goBack();
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Theirs');
    assert.match(await page.getByLabel('Properties').inputValue(), /stored/);
    await context.close();
  });

  it('goes back from a saved edit to the user group, and not to a page of the browser about a missing form', async () => {
    await service.get({ user_group_id: 'saved', name: 'Before' });
    const { context, page } = await open();
    await page.goto('/console/user-groups/saved/edit');
    await signIn(page);
    await page.getByLabel('Name', { exact: true }).fill('After');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The changes were saved').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'After', level: 1 }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/console/user-groups/saved');
    await context.close();
  });

  it('goes back to a user group whose token was shown without showing it again, whichever link it left by', async () => {
    const { json } = await service.get({ user_group_id: 'shown', name: 'Shown' });
    const { context, page } = await open();
    await page.goto('/console/user-groups/shown');
    await signIn(page);
    for (const name of ['Hide', 'View as', 'Overview']) {
      await page.getByRole('button', { name: 'Show token' }).click();
      await page.getByText(json.user_group.token).waitFor();
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByText(json.user_group.token).waitFor({ state: 'detached' });
      await page.goBack();
      await page.getByRole('button', { name: 'Show token' }).waitFor();
      assert.equal(new URL(page.url()).pathname, '/console/user-groups/shown');
    }
    await context.close();
  });

  it('reads times in their own time zone, or in UTC if asked, on all pages', async () => {
    await service.get({ user_group_id: 'times', name: 'Times' });
    const context = await browser.newContext({ ...DESKTOP, baseURL: service.url, timezoneId: 'Asia/Tokyo' });
    const page = await context.newPage();
    await page.goto('/console/user-groups/times');
    await signIn(page);
    const time = page.locator('dd time').first();
    const button = page.getByRole('button', { name: 'Show times in UTC' });
    await button.waitFor();
    assert.match((await time.textContent())!, /^\d{4}-\d\d-\d\d \d\d:\d\d GMT\+9$/);
    assert.match((await time.getAttribute('title'))!, /(?:ago|now), \d{4}-\d\d-\d\dT/);
    await button.press('Enter');
    assert.match((await time.textContent())!, / UTC$/);
    const back = page.getByRole('button', { name: 'Show local times' });
    assert.ok(await back.evaluate((element) => element === element.ownerDocument.activeElement));
    await page.reload();
    await back.waitFor();
    assert.match((await time.textContent())!, / UTC$/);
    await back.click();
    assert.match((await time.textContent())!, / GMT\+9$/);
    await context.close();
  });

  it('reads times in the language of the page, whatever the locale of the browser', async () => {
    await service.get({ user_group_id: 'times', name: 'Times' });
    const persian = { locale: 'fa-IR', timezoneId: 'Asia/Tehran' };
    const context = await browser.newContext({ ...DESKTOP, baseURL: service.url, ...persian });
    const page = await context.newPage();
    await page.goto('/console/user-groups/times');
    await signIn(page);
    await page.getByRole('button', { name: 'Show times in UTC' }).waitFor();
    const time = page.locator('dd time').first();
    assert.match((await time.textContent())!, /^20\d\d-\d\d-\d\d \d\d:\d\d GMT\+3:30$/);
    assert.match((await time.getAttribute('title'))!, /^(?:now|\d+ \w+ ago), 20/);
    await context.close();
  });
});
