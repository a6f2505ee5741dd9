// Ids and tokens in the console, in a real browser: an id is shown and copied unchanged, and a token that is
// pasted into a filter is neither sent nor repeated.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { DESKTOP, launchBrowser, skipsBrowser } from '../support/browser.ts';
import { sqlite } from '../support/database.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { suiteStack } from '../support/suite.ts';
import { PATH as WEBHOOK_ENDPOINTS } from '../support/webhooks/tenant.ts';

const SPACES = 'two  spaces';
const LONG = `customer-${'0123456789'.repeat(5)}-end`;
const GROUPS = '/console/user-groups';
const VISIBLE_TEXT = `(() => {
  for (const choice of document.querySelectorAll('select')) choice.remove();
  return document.querySelector('main').innerText;
})()`;

/** Returns the right-to-left words in each line of code, with the distance of each from the left. */
const LINES_OF_CODE = `[...document.querySelectorAll('main code')].flatMap((code) => {
  const words = [];
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    for (const { 0: word, index } of text.data.matchAll(/[א-ת]+/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      const { left, top } = range.getBoundingClientRect();
      words.push({ word, left, top: Math.round(top) });
    }
  return Object.values(Object.groupBy(words, ({ top }) => top)).map((line) => line.map(({ word, left }) => [word, left]));
})`;

const NAME = 'שלום!';
/** Distances of the first and the last character of the name from the left. */
const PLACES = `(() => {
  const { firstChild: text } = [...document.querySelectorAll('h1, td')].find((each) => each.textContent === '${NAME}');
  return [0, text.length - 1].map((start) => {
    const range = document.createRange();
    range.setStart(text, start);
    range.setEnd(text, start + 1);
    return range.getBoundingClientRect().left;
  });
})()`;

/** Right-to-left text that also overrides the direction of the text after it, unless it is isolated. */
const RIGHT_TO_LEFT = '\u202eمفتاح';
/**
 * Selects the pieces of text in which something follows `RIGHT_TO_LEFT` and would be reordered. A piece ends
 * at its block, at an element that isolates its text, and at characters that isolate.
 */
const REORDERED = `(() => {
  const style = (element) => getComputedStyle(element);
  const isBlock = (element) => !/^(?:inline|contents)/.test(style(element).display);
  const ancestor = (node, isMatch) => {
    let element = node.parentElement;
    while (!isMatch(element)) element = element.parentElement;
    return element;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest('option, textarea, script')) texts.push(walker.currentNode);
  const pieces = texts.flatMap((text, index) => {
    if (!/\\u202e/.test(text.data)) return [];
    const piece = ancestor(text, (each) => style(each).unicodeBidi !== 'normal' || isBlock(each));
    const block = ancestor(text, isBlock);
    const after = texts.slice(index + 1).filter((each) => piece.contains(each) && ancestor(each, isBlock) === block);
    return [[text, ...after].map(({ data }) => data).join('')];
  });
  return [...pieces, ...Array.from(document.querySelectorAll('title, option'), (each) => each.textContent)]
    .map((piece) => piece.replaceAll(/\\u2068[^\\u2068\\u2069]*\\u2069/g, ''))
    .filter((piece) => /\\u202e\\p{sc=Arabic}+[^]*[^\\s"\\p{sc=Arabic}\\u202e]/u.test(piece));
})()`;

describe('Values in the console in a browser', { skip: skipsBrowser }, () => {
  const stack = suiteStack();
  let service: TestService;
  let browser: Browser;
  let token: string;
  before(async () => {
    service = stack.use(await TestService.start(sqlite));
    ({ token } = await service.apiToken({ permission: 'admin', name: 'support' }));
    const call = async (method: string, path: string, body: object) => {
      const { status, text } = await served(() => service.call(method, path, body, { token }));
      assert.ok(status < 300, text);
    };
    const id = encodeURIComponent(SPACES);
    await call('PUT', `/v1/schemas/${id}`, { name: 'Orders' });
    const dataSource = { schema_id: SPACES, name: 'EU', attributes: {}, user_group_id: SPACES };
    await call('PUT', `/v1/data-sources/${id}`, dataSource);
    await call('PUT', `${WEBHOOK_ENDPOINTS}/${id}`, { url: 'https://crm.example.com', event_types: ['*'] });
    for (const user_group_id of [SPACES, LONG])
      await call('POST', '/v1/user-groups', { user_group_id, name: 'Acme', mapping: { [SPACES]: SPACES } });
    browser = stack.use(await launchBrowser());
  });

  async function open(
    javaScriptEnabled = true,
    apiToken = token,
  ): Promise<{ context: BrowserContext; page: Page }> {
    const context = await browser.newContext({ ...DESKTOP, baseURL: service.url, javaScriptEnabled });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await context.newPage();
    await page.goto(GROUPS);
    await page.getByLabel('API token').fill(apiToken);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'User groups', level: 1 }).waitFor();
    return { context, page };
  }

  /**
   * Returns the text as rendered, with the spaces that a person sees, but without choices, where browsers
   * collapse spaces.
   */
  const visibleText = (page: Page) => page.evaluate<string>(VISIBLE_TEXT);
  const clipboard = (page: Page) => page.evaluate('navigator.clipboard.readText()');

  it('are copied as they are from every list of things', async () => {
    const { context, page } = await open();
    const lists = [
      ...[GROUPS, '/console/catalogue', '/console/catalogue/schemas', '/console/webhooks'],
      '/console/events?target_type=schema',
    ];
    for (const path of lists) {
      await page.goto(path);
      await page.evaluate('navigator.clipboard.writeText("")');
      const row = page.getByRole('row').filter({ hasText: SPACES }).first();
      await row.getByRole('button', { name: 'Copy two spaces', exact: true }).first().click();
      assert.equal(await clipboard(page), SPACES, path);
    }
    await page.goto(GROUPS);
    await page.getByRole('button', { name: `Copy ${LONG}`, exact: true }).click();
    assert.equal(await clipboard(page), LONG);
    await page.locator('[aria-live="polite"]').getByText('Copied').waitFor({ state: 'attached' });
    await page.getByLabel('Id or name').fill('customer-0');
    await page.getByRole('link', { name: SPACES, exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: `Copy ${LONG}`, exact: true }).click();
    await context.close();
  });

  it('are shown with all their spaces', async () => {
    const { context, page } = await open();
    const group = `${GROUPS}/${encodeURIComponent(SPACES)}`;
    const catalogue = (kind: string) => `/console/catalogue/${kind}/${encodeURIComponent(SPACES)}`;
    const actions = ['edit', 'rename', 'rotate', 'suspend', 'delete', 'view-as', 'events'];
    const paths = [
      ...[GROUPS, group, ...actions.map((action) => `${group}/${action}`)],
      ...[catalogue('schemas'), catalogue('data-sources'), `${catalogue('data-sources')}/delete`],
      ...['/console/catalogue', '/console/events', '/console/webhooks'],
      ...[`/console/webhooks/${encodeURIComponent(SPACES)}`],
    ];
    for (const path of paths) {
      await page.goto(path);
      const text = await visibleText(page);
      assert.ok(text.includes(SPACES), `${path}: ${text.slice(0, 300)}`);
      assert.doesNotMatch(text, /two spaces/, path);
    }
    await page.goto(`${group}/edit`);
    await page.getByLabel('Name', { exact: true }).fill('Another');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('heading', { name: 'Review changes' }).waitFor();
    assert.doesNotMatch(await visibleText(page), /two spaces/);
    await context.close();
  });

  it('that are written from right to left keep their places beside each other', async () => {
    const [key, value, member] = ['מפתח', 'ערך', 'איבר'];
    const properties = { [key]: value, [member]: { [key]: [value] } };
    const body = { user_group_id: 'rtl', name: value, properties };
    assert.equal((await service.call('POST', '/v1/user-groups', body)).status, 201);
    const { context, page } = await open();
    for (const path of ['', '/events', '/view-as']) {
      await page.goto(`${GROUPS}/rtl${path}`);
      const places = await page.evaluate<[string, number][][]>(LINES_OF_CODE);
      assert.ok(
        places.flat().some(([word]) => word === key),
        path,
      );
      for (const line of places) {
        const lefts = line.map(([, left]) => left);
        assert.deepEqual(
          lefts,
          lefts.toSorted((a, b) => a - b),
          `${path}: ${JSON.stringify(line)}`,
        );
      }
    }
    await context.close();
  });

  it('that are written from right to left have their own direction, where they are shown and typed', async () => {
    const id = 'own-direction';
    const properties = { text: NAME, list: [NAME] };
    const created = await service.call('POST', '/v1/user-groups', {
      user_group_id: id,
      name: NAME,
      properties,
    });
    assert.equal(created.status, 201);
    const { context, page } = await open();
    for (const path of [`?search=${id}`, `/${id}`]) {
      await page.goto(`${GROUPS}${path}`);
      const [letter, mark] = await page.evaluate<[number, number]>(PLACES);
      assert.ok(mark < letter, `${path}: ${mark}, ${letter}`);
    }
    await page.goto(`${GROUPS}/${id}/edit`);
    const field = page.getByLabel('Name', { exact: true });
    const direction = () => field.evaluate((input) => input.matches(':dir(rtl)'));
    assert.equal(await direction(), true);
    await field.fill('Hello!');
    assert.equal(await direction(), false);
    assert.deepEqual(
      await page
        .locator('textarea:not(:placeholder-shown):dir(rtl)')
        .evaluateAll((fields) => fields.map(({ ariaLabel, id: each }) => ariaLabel ?? each)),
      ['property-0'],
    );
    await context.close();
  });

  it('that are written from right to left do not reorder the text around them', async () => {
    const id = RIGHT_TO_LEFT;
    const environment = { workspaceName: id, permission: 'admin', name: id } as const;
    const { token: admin, id: apiTokenId } = await service.apiToken(environment);
    const call = async (method: string, path: string, body?: object) => {
      const response = await served(() => service.call(method, path, body, { token: admin }));
      assert.ok(response.status < 300, response.text);
    };
    const part = encodeURIComponent(id);
    const inside = { properties: { [id]: { properties: { [id]: { type: 'integer' } } } } };
    await call('PUT', '/v1/property-schema', {
      mode: 'report',
      schema: { type: 'object', properties: { [id]: inside, two: { enum: [id, 'two'] } } },
    });
    for (const schema of [id, 'ב', 'ג']) {
      const path = encodeURIComponent(schema);
      await call('PUT', `/v1/schemas/${path}`, { name: `Name of ${id}`, default_data_source: schema });
      await call('PUT', `/v1/data-sources/${path}`, { schema_id: schema, name: id, attributes: {} });
    }
    for (const integration of [id, 'jwt'])
      await call('PUT', `/v1/integrations/${encodeURIComponent(integration)}`, {
        type: 'jwt',
        settings: { audience: 'a', properties: [id] },
        claims: { [id]: { property: id } },
      });
    await call('PUT', `${WEBHOOK_ENDPOINTS}/${part}`, { url: 'https://crm.example.com', event_types: ['*'] });
    const mapping = { [id]: id, gone: id };
    const properties = { [id]: { [id]: { [id]: 'one' } }, two: id };
    await call('POST', '/v1/user-groups', { user_group_id: 'before', name: id, mapping, properties });
    await call('POST', '/v1/user-groups/before/rename', { user_group_id: id });
    await call('POST', '/v1/user-groups', { user_group_id: 'whole', name: id });
    const { context, page } = await open(true, admin);
    const paths = [
      ...['', '/user-groups', '/user-groups?search=before', '/user-groups/whole', '/events', '/sessions'],
      ...['/edit', '/rename', '/rotate', '/suspend', '/delete', '/view-as', '/events', ''].map(
        (action) => `/user-groups/${part}${action}`,
      ),
      ...['/catalogue', `/catalogue/schemas/${part}`, `/catalogue/data-sources/${part}`],
      ...[`/catalogue/schemas/${part}/delete`, `/catalogue/data-sources/${part}/edit`],
      ...['/integrations', `/integrations/${part}`, `/integrations/${part}/delete`],
      ...['/webhooks', `/webhooks/${part}`, `/webhooks/${part}/rotate`, `/webhooks/${part}/redeliver-failed`],
      ...['/api-tokens', `/api-tokens/${apiTokenId}`, `/api-tokens/${apiTokenId}/revoke`],
      ...[`/user-groups/missing-${part}`, `/user-groups/-/new`, `/webhooks/${part}/edit`],
    ];
    const reordered: Record<string, string[]> = {};
    const check = async (name: string) => {
      const found = await page.evaluate<string[]>(REORDERED);
      if (found.length > 0) reordered[name] = found;
    };
    for (const path of paths) {
      await page.goto(`/console${path}`);
      await check(path);
    }
    await page.goto(`/console/user-groups/${part}/edit`);
    await page.getByRole('button', { name: 'Edit as JSON' }).click();
    const json = page.getByLabel('Properties');
    await json.fill(JSON.stringify({ [id]: { [id]: { [id]: 'two' } } }));
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('heading', { name: 'Review changes' }).waitFor();
    await check('review');
    await page.getByRole('button', { name: 'Edit again' }).click();
    await json.fill(`{"${id}": {"${id}": 1, "${id}": 2}}`);
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('alert').waitFor();
    await check('rejected');
    assert.deepEqual(reordered, {});
    await context.close();
  });

  /** Text fields of a filter. */
  const FIELDS = 'form[method="get"] input:is([type="text"], [type="search"])';

  it('that are tokens are not sent by any filter, however they are typed', async () => {
    const { json } = await service.call('POST', '/v1/user-groups', { user_group_id: 'own', name: 'Own' });
    const secrets = [
      json.user_group.token as string,
      `Authorization: Token ${token}`,
      'it is eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJvd24ifQ.c2lnbmF0dXJl',
    ];
    const { context, page } = await open();
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    page.on('framenavigated', (frame) => urls.push(frame.url()));
    let fields = 0;
    for (const path of [GROUPS, '/console/events', `${GROUPS}/${LONG}/events`]) {
      await page.goto(path);
      const names = await page
        .locator(FIELDS)
        .evaluateAll((inputs) => inputs.map((input) => input.getAttribute('name')!));
      for (const name of names) {
        for (const secret of secrets) {
          await page.goto(path);
          if (path === GROUPS) await page.locator('summary').click();
          await page.locator(`input[name="${name}"]`).fill(secret);
          await page.getByRole('heading', { name: 'Find by token', level: 1 }).waitFor();
          assert.ok(!(await page.content()).includes(secret));
        }
        fields++;
      }
    }
    assert.ok(fields >= 7, String(fields));
    const parts = [secrets[0]!.slice(-20), token.slice(-20), 'eyJzdWIi'];
    assert.deepEqual(
      urls.filter((url) => parts.some((part) => url.includes(part))),
      [],
    );
    await context.close();
  });

  it('that are too long for an address are cut where they are pasted, and do not freeze the page', async () => {
    const { context, page } = await open();
    for (const path of [GROUPS, '/console/events']) {
      await page.goto(path);
      if (path === GROUPS) await page.locator('summary').click();
      for (const field of await page.locator(FIELDS).all()) {
        await field.focus();
        await page.keyboard.insertText('eyJ'.repeat(10_000));
        assert.equal((await field.inputValue()).length, 510);
      }
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.search.includes('eyJeyJ'));
      await page.getByText('Show all').waitFor();
    }
    await context.close();
  });

  it('that are tokens are not repeated by any page without JavaScript', async () => {
    const { context, page } = await open(false);
    const { json } = await service.call('GET', '/v1/user-groups/own');
    const secret = json.user_group.token as string;
    for (const path of [
      GROUPS,
      '/console/events',
      `${GROUPS}/${LONG}/events`,
      `/console/webhooks/${SPACES}`,
    ]) {
      for (const name of [
        'search',
        'data_source',
        'field',
        'actor',
        'target_id',
        'request_id',
        'state',
        'cursor',
        secret,
      ]) {
        await page.goto(`${path}?${new URLSearchParams({ [name]: secret })}`);
        assert.ok(!(await page.content()).includes(secret), `${path} ${name}`);
        assert.ok(!page.url().includes(secret), `${path} ${name}`);
      }
    }
    for (const path of [GROUPS, '/console/catalogue/schemas', '/console/nowhere', '/console/webhooks']) {
      await page.goto(`${path}/${secret}`);
      assert.ok(!(await page.content()).includes(secret), path);
    }
    await context.close();
  });
});
