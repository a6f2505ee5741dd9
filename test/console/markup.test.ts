// Contract: the console shows every id, name, key and value as plain text, and sends it back unchanged. One
// database is enough: rendering does not depend on it, and test/matrix/naughty-string.test.ts stores such texts
// on both.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { joined, markup, pathLike } from '../support/bad-input/markup.ts';
import { oddKeys, oddNames, oddNumbers, oddTexts } from '../support/bad-input/odd-value.ts';
import { ConsoleBrowser, fieldsOf } from '../support/console.ts';
import { checkMarkup } from '../support/console-page.ts';
import { sqlite } from '../support/database.ts';
import { elementsOf, textOfElement } from '../support/html.ts';
import type { TestResponse } from '../support/http.ts';
import { mapConcurrently } from '../support/http.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const HALF = pathLike.length / 2;
const LIST = '/console/user-groups';
/** Maximum number of entries in a mapping, and of members in properties. */
const MAX_ENTRIES = 100;
describe('markup in the console', () => {
  const service = TestService.of(sqlite);
  let browser: ConsoleBrowser;
  let admin: string;
  before(async () => {
    const { token } = await service.apiToken({ permission: 'read-write', name: markup[0]! });
    browser = await ConsoleBrowser.signIn(service, token);
    admin = (await service.apiToken({ permission: 'admin' })).token;
    for (const [index, id] of joined(markup).entries()) {
      const settings = { audience: id };
      const claims = { [id]: { field: 'name' } };
      const body = index % 2 === 0 ? { type: 'jwt', settings, claims } : { type: 'jwt', settings };
      await putIntegration(id, body);
    }
  });

  async function putIntegration(id: string, body: object): Promise<void> {
    const path = `/v1/integrations/${encodeURIComponent(id)}`;
    const { status, text } = await served(() => service.call('PUT', path, body, { token: admin }));
    assert.ok(status < 300, text);
  }

  function pathOf(id: string, action = ''): string {
    return `${LIST}/${encodeURIComponent(id)}${action && '/'}${action}`;
  }

  async function checkedPage(path: string): Promise<TestResponse> {
    const page = await browser.get(path);
    checkMarkup(page);
    return page;
  }

  async function create(id: string, name: string, fields: { mapping?: string; properties?: string } = {}) {
    const { mapping = 'null', properties = 'null' } = fields;
    const body = `{"user_group_id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"mapping":${mapping},"properties":${properties}}`;
    const { status, text } = await service.get(body);
    assert.equal(status, 200, text);
  }

  /** Returns the text of the list from the page at the path on; events are on several pages. */
  async function textOfPages(path: string): Promise<string> {
    const { text } = await checkedPage(path);
    const older = elementsOf(text).find((each) => each.text === 'Older events');
    const rest = older === undefined ? '' : await textOfPages(older.attributes.href!);
    return textOfElement(text, 'main') + rest;
  }

  /** Checks the claims that integrations would mint, and mints a token of one of them. */
  async function checkViewAs(id: string): Promise<void> {
    const path = pathOf(id, 'view-as');
    const page = await checkedPage(path);
    const shown = elementsOf(page.text).filter(({ name }) => name === 'code');
    assert(shown.some(({ text }) => text.includes(`"sub": ${JSON.stringify(id)}`)));
    const [integration = ''] = joined(markup);
    const minted = await mint(page, path, integration);
    assert.equal(minted.status, 200, minted.text);
    checkMarkup(minted);
  }

  /** Mints a token on the page, which has a form for each integration. */
  async function mint({ text }: TestResponse, path: string, integration: string): Promise<TestResponse> {
    const [csrf] = elementsOf(text).filter(({ attributes }) => attributes.name === 'csrf');
    return browser.post(path, { csrf: csrf!.attributes.value!, integration });
  }

  /** Submits the edit form unchanged, and returns the review. */
  async function reviewUnchanged(id: string): Promise<TestResponse> {
    const page = await browser.get(pathOf(id, 'edit'));
    checkMarkup(page);
    return browser.submitFrom(page, pathOf(id, 'review'));
  }

  it('shows ids, names, keys and values that are markup as text, and acts on exactly these groups', async () => {
    for (const text of joined(markup)) {
      const fields = JSON.stringify({ [text]: text });
      await create(text, text, { properties: fields, mapping: fields });
      const page = await browser.get(pathOf(text));
      checkMarkup(page);
      assert.equal(textOfElement(page.text, 'h1'), text);
      for (const action of ['edit', 'rotate', 'suspend', 'delete', 'events'])
        checkMarkup(await browser.get(pathOf(text, action)));
      await checkViewAs(text);
      const same = await reviewUnchanged(text);
      checkMarkup(same);
      assert.match(same.text, /Nothing differs/, text);
      const typed = {
        name: `2${text}`.slice(0, 250),
        properties: `{"x": ${JSON.stringify(text)}}`,
        mapping: '',
      };
      const review = await browser.submit(`${pathOf(text, 'edit')}?as=json`, pathOf(text, 'review'), typed);
      checkMarkup(review);
      await service.put({ user_group_id: text, name: `3${text}`.slice(0, 250) });
      const conflict = await browser.submitFrom(review, pathOf(text, 'save'));
      assert.equal(conflict.status, 412);
      checkMarkup(conflict);
      assert.equal((await browser.submitFrom(conflict, pathOf(text, 'save'))).status, 303);
      const { json } = await service.call('GET', pathOf(text).replace('/console', '/v1'));
      assert.deepEqual([json.user_group.name, json.user_group.properties], [typed.name, { x: text }]);
    }
    for (const path of ['/console/events', LIST]) {
      const text = await textOfPages(path);
      for (const id of joined(markup)) assert(text.includes(id), id);
    }
  });

  it('names the invisible characters of ids, which would otherwise look the same', async () => {
    const id = 'z\u200bw\u202e';
    await service.get({ user_group_id: id, name: 'Z' });
    for (const path of [`${LIST}?search=${encodeURIComponent(id)}`, `${LIST}/${encodeURIComponent(id)}`]) {
      const marks = elementsOf((await browser.get(path)).text)
        .filter(({ attributes }) => attributes.class === 'invisible')
        .map(({ attributes }) => attributes.title);
      assert.deepEqual(marks.slice(0, 2), ['U+200B', 'U+202E'], path);
    }
  });

  it('acts on exactly the group whose id is like a path or a URL', async () => {
    const read = (id: string) => service.call('GET', pathOf(id).replace('/console', '/v1'));
    for (const id of pathLike) await create(id, id);
    for (const id of pathLike) {
      const page = await browser.get(pathOf(id));
      checkMarkup(page);
      assert.equal(textOfElement(page.text, 'h1'), id);
      const review = await browser.submit(pathOf(id, 'edit'), pathOf(id, 'review'), { name: `${id}2` });
      assert.equal((await browser.submitFrom(review, pathOf(id, 'save'))).headers.location, pathOf(id));
      assert.equal((await read(id)).json.user_group.name, `${id}2`);
    }
    const [deleted, kept] = [pathLike.slice(0, HALF), pathLike.slice(HALF)];
    for (const id of deleted) {
      const rejected = await browser.submit(pathOf(id, 'delete'), pathOf(id, 'delete'), {
        user_group_id: `${id}"<i>`,
      });
      checkMarkup(rejected);
      const response = await browser.submitFrom(rejected, pathOf(id, 'delete'), { user_group_id: id });
      assert.equal(response.status, 303, response.text);
    }
    for (const id of deleted) assert.equal((await read(id)).status, 404, id);
    for (const id of kept) assert.equal((await read(id)).status, 200, id);
  });

  it('shows what was typed into forms and URLs as text', async () => {
    for (const text of joined(markup)) {
      const typed = { user_group_id: ` ${text}`, name: text, mapping: text, properties: text };
      const rejected = await browser.submit(`${LIST}/-/new?as=json`, `${LIST}/-/new`, typed);
      assert.equal(rejected.status, 400);
      checkMarkup(rejected);
      const shown = fieldsOf(rejected.text, `${LIST}/-/new`);
      for (const [name, value] of Object.entries(typed)) assert.equal(shown[name], value);
      const conditions = { search: text, match: text, data_source: text, suspended: text, done: text };
      const filter = { type: text, target_type: text, target_id: text };
      await checkedPage(`${LIST}?${new URLSearchParams(conditions)}`);
      await checkedPage(`/console/events?${new URLSearchParams(filter)}`);
      for (const path of [LIST, '/console/events'])
        await checkedPage(`${path}?${new URLSearchParams({ cursor: text })}`);
    }
  });

  it('shows the catalogue and the name of the workspace as text', async () => {
    const [workspaceName] = markup;
    const { token } = await service.apiToken({ permission: 'admin', workspaceName: workspaceName! });
    const person = await ConsoleBrowser.signIn(service, token);
    const paths = ['/catalogue', '/catalogue/schemas', '/catalogue/data-sources'];
    for (const [index, text] of joined(markup).entries()) {
      const schema = { name: text, default_data_source: text };
      const dataSource = { schema_id: text, name: text, attributes: { [text]: text }, user_group_id: text };
      const bodies = {
        schemas: schema,
        'data-sources': index % 2 === 0 ? dataSource : { ...dataSource, user_group_id: null },
      };
      for (const [kind, body] of Object.entries(bodies)) {
        const path = `/${kind}/${encodeURIComponent(text)}`;
        const { status, text: problem } = await service.call('PUT', `/v1${path}`, body, { token });
        assert.equal(status, 201, problem);
        for (const action of ['', '/edit']) paths.push(`/catalogue${path}${action}`);
      }
    }
    await mapConcurrently(paths, async (path) => {
      const page = await person.get(`/console${path}`);
      assert.equal(page.status, 200, path);
      checkMarkup(page);
    });
  });

  it('shows the names of properties that a user group lacks as text', async () => {
    await create('lacking', 'Acme');
    const path = pathOf('lacking', 'view-as');
    for (const [index, property] of joined(markup).entries()) {
      const integration = `lacks ${index}`;
      const settings = { audience: 'a', properties: [property] };
      await putIntegration(integration, { type: 'jwt', settings, claims: { x: { property } } });
      const refused = await mint(await checkedPage(path), path, integration);
      assert.equal(refused.status, 422, refused.text);
      checkMarkup(refused);
    }
  });

  it('sends unusual names, keys, values and numbers back unchanged', async () => {
    const chunks = <Item>(items: readonly Item[]) =>
      Array.from({ length: Math.ceil(items.length / MAX_ENTRIES) }, (_, index) =>
        items.slice(index * MAX_ENTRIES, (index + 1) * MAX_ENTRIES),
      );
    const entries = (keys: readonly string[]) =>
      `{${[...new Set(keys)].map((key) => `${JSON.stringify(key)}:${JSON.stringify(key)}`).join(',')}}`;
    const keys = chunks([...new Set([...oddKeys, ...markup])].filter((key) => key !== '__proto__'));
    for (const [index, chunk] of keys.entries()) {
      await create(`keys ${index}`, 'Acme', { properties: entries(chunk) });
      await checkedPage(pathOf(`keys ${index}`));
      assert.match((await reviewUnchanged(`keys ${index}`)).text, /Nothing differs/);
    }
    await create('numbers', 'Acme', { properties: `{"x":[${oddNumbers.join(',')}]}` });
    assert.match((await reviewUnchanged('numbers')).text, /Nothing differs/);
    await mapConcurrently([...new Set([...oddNames, ...oddTexts])], async (name, index) => {
      await create(`name ${index}`, name);
      const page = await browser.get(pathOf(`name ${index}`, 'edit'));
      assert.equal(fieldsOf(page.text, pathOf(`name ${index}`, 'review')).name, name);
    });
    await mapConcurrently(oddTexts, async (id) => {
      // A URL path cannot contain these segments.
      if (id === '.' || id === '..') return;
      await create(id, 'Acme');
      const page = await browser.get(pathOf(id, 'delete'));
      assert(textOfElement(page.text, 'main').includes(id), id);
    });
  });
});
