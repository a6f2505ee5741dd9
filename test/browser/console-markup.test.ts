// The Big List of Naughty Strings in a real browser, with JavaScript: the pages of the console show every
// string, run none, and load nothing from other origins.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { isolated } from '../../src/console/markup/html.ts';
import { joined } from '../support/bad-input/markup.ts';
import { naughtyStrings } from '../support/bad-input/naughty-string.ts';
import { launchBrowser, skipsBrowser } from '../support/browser.ts';
import { sqlite } from '../support/database.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: ids have none of these.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
/** Strings that a URL cannot have as a segment of its path. */
const NO_IDS = new Set(['', '.']);
const ids = naughtyStrings.filter(
  (text) => text.trim() === text && !CONTROL.test(text) && text.length <= 255 && !NO_IDS.has(text),
);
const texts = joined(ids);
/** Sample for kinds with a low limit, and for pages of one resource; test/matrix/naughty-string.test.ts uses all texts there. */
const some = texts.filter((_, index) => index % 10 === 0);

/** Selects what the console never contains: inline scripts, handlers, styles, and URLs of other origins. */
const FOREIGN = `[...document.querySelectorAll('*')].flatMap((element) =>
  element.getAttributeNames()
    .map((name) => [name, element.getAttribute(name)])
    .filter(([name, value]) =>
      /^on|^style$|^srcdoc$/.test(name) ||
      (/^(?:href|src|action|formaction|data|hx-get|xlink:href)$/.test(name) &&
        new URL(value, document.baseURI).origin !== location.origin && value !== 'data:,'))
    .map(([name, value]) => element.localName + ' ' + name + ' ' + value)
    .concat(/^(?:iframe|object|embed|img|base|style|audio|video|math|animate)$/.test(element.localName) ||
      (element.localName === 'script' && !element.src) ? [element.outerHTML] : []))`;

/** Warning of Swagger UI about every address that contains a space. */
const DEPRECATION = /^Deprecated: escaping deep link whitespace/;

describe('The Big List of Naughty Strings in a browser', { skip: skipsBrowser }, () => {
  const stack = suiteStack();
  let service: TestService;
  let browser: Browser;
  let page: Page;
  /** Dialogs, errors, violations of the Content-Security-Policy, and requests to other origins. */
  const incidents: string[] = [];
  before(async () => {
    service = stack.use(await TestService.start(sqlite));
    const { token } = await service.apiToken({ permission: 'admin', name: texts[0]! });
    await fill(token);
    browser = stack.use(await launchBrowser());
    page = await browser.newPage({ baseURL: service.url });
    watch();
    await page.goto('/console/sign-in');
    await page.getByLabel('API token').fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'User groups', level: 1 }).waitFor();
  });

  function watch(): void {
    page.on('dialog', (dialog) => {
      incidents.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('console', (message) => {
      if (message.type() === 'error' && !DEPRECATION.test(message.text())) incidents.push(message.text());
    });
    page.on('pageerror', (error) => incidents.push(error.message));
    page.on('popup', (popup) => incidents.push(`popup ${popup.url()}`));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== 'data:' && origin !== service.url) incidents.push(`request to ${request.url()}`);
    });
  }

  async function fill(token: string): Promise<void> {
    const put = async (path: string, body: object): Promise<void> => {
      const { status, text } = await served(() => service.call('PUT', path, body, { token }));
      assert.ok(status < 300, text);
    };
    for (const text of texts) {
      const id = encodeURIComponent(text);
      await put(`/v1/schemas/${id}`, { name: text, default_data_source: text });
      await put(`/v1/data-sources/${id}`, { schema_id: text, name: text, attributes: { [text]: text } });
      const both = { [text]: text };
      await put(`/v1/user-groups/${id}`, { name: text, mapping: both, properties: both });
      const apiToken = { name: text, permission: 'read-only' };
      const created = await served(() => service.call('POST', '/v1/api-tokens', apiToken, { token }));
      assert.equal(created.status, 201, created.text);
    }
    for (const text of some) {
      const claims = { [text]: { constant: text } };
      const settings = { audience: text, properties: [text] };
      await put(`/v1/integrations/${encodeURIComponent(text)}`, { type: 'jwt', settings, claims });
      const webhook = {
        url: `https://x.example/?'<>${encodeURIComponent(text).slice(0, 2_000)}`,
        event_types: ['*'],
      };
      await put(`/v1/webhook-endpoints/${encodeURIComponent(text)}`, { ...webhook, enabled: false });
    }
  }

  /** Visits a page, checks that it is safe, and returns the texts of its elements. */
  async function visit(path: string): Promise<string[]> {
    await page.goto(path);
    assert.deepEqual(await page.evaluate(FOREIGN), [], path);
    assert.deepEqual(incidents.splice(0), [], path);
    return (await page.evaluate(
      `[...document.querySelectorAll('a, th, td, h1, code')].map((each) => each.textContent)`,
    )) as string[];
  }

  it('is shown unchanged in every list', async () => {
    for (const [list, expected] of [
      ['/console/user-groups', texts],
      ['/console/events', texts],
      ['/console/catalogue/schemas', texts],
      ['/console/catalogue/data-sources', texts],
      ['/console/integrations', some],
      ['/console/webhooks', some],
      ['/console/api-tokens', texts],
    ] as const) {
      const shown = new Set(await visit(list));
      const next = page.getByRole('link', { name: /^(?:Next page|Older events)$/ });
      while ((await next.count()) > 0)
        for (const text of await visit((await next.getAttribute('href'))!)) shown.add(text);
      assert.deepEqual(
        expected.filter((text) => !shown.has(text)),
        [],
        list,
      );
    }
  });

  it('is shown on the pages of the resource that has it as its id', async () => {
    for (const text of some) {
      const id = encodeURIComponent(text);
      for (const path of [`/console/user-groups/${id}`, `/console/catalogue/data-sources/${id}`]) {
        const shown = await visit(path);
        assert.ok(shown.includes(text), text);
        await visit(`${path}/edit`);
      }
      await visit(`/console/user-groups/${id}/view-as`);
    }
    for (const text of some)
      for (const list of ['/console/integrations', '/console/webhooks'])
        for (const action of ['', '/edit']) await visit(`${list}/${encodeURIComponent(text)}${action}`);
  });

  it('is text in the search, which follows the typing', async () => {
    await visit('/console/user-groups');
    for (const text of some) {
      await page.getByLabel('Id or name').fill(text);
      await page.getByRole('link', { name: text, exact: true }).waitFor();
      assert.deepEqual(await page.evaluate(FOREIGN), [], text);
      assert.deepEqual(incidents.splice(0), [], text);
    }
  });

  it('is the name of a customer on the chart of the sample dashboard', async () => {
    await service.createDemo();
    for (const name of some) {
      await service.call('PATCH', '/v1/user-groups/demo-alpenglow', { name });
      await visit('/console/user-groups/demo-alpenglow/view-as');
      assert.equal(await page.locator('#chart-title').textContent(), `Revenue of ${isolated(name)} by month`);
    }
  });

  it('does nothing in the address of the documentation', async () => {
    for (const text of [...texts.slice(0, 3), 'https://x.example/openapi.json']) {
      const value = encodeURIComponent(text);
      await visit('about:blank');
      await page.goto(`/docs?url=${value}&configUrl=${value}&urls.primaryName=${value}#/${value}/${value}`);
      await page.getByText('Rotate a token').first().waitFor();
      assert.deepEqual(incidents.splice(0), [], text);
    }
  });
});
