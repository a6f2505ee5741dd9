// Contract: every string of the Big List of Naughty Strings, in every field that a caller can set, is stored
// and shown unchanged as text, or rejected with a reason.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isolated } from '../../src/console/markup/html.ts';
import { joined } from '../support/bad-input/markup.ts';
import { naughtyStrings } from '../support/bad-input/naughty-string.ts';
import { ConsoleBrowser, fieldsOf } from '../support/console.ts';
import { checkMarkup } from '../support/console-page.ts';
import { type DatabaseKind, describeOnEachDatabase } from '../support/database.ts';
import type { Element } from '../support/html.ts';
import { mapConcurrently, type TestResponse } from '../support/http.ts';
import { eventually, served } from '../support/process.ts';
import { TestService } from '../support/service.ts';

type Body = Record<string, unknown>;

/** Kind of resource that `PUT` creates under an id chosen by the caller. */
interface Kind {
  name: string;
  /** Path in the API. */
  path: string;
  /** Path of the list in the console. */
  list: string;
  /** Bodies to try in order: the text in all fields first, then in fewer, in case it is not valid in each. */
  bodies(text: string): Body[];
  /** Paths below the page of a resource. */
  pages: readonly string[];
  /** Number created before they are deleted: every change of a document reads its whole environment again. */
  limit: number;
}

/** Disabled, because each change would be delivered to all that exist. */
const WEBHOOK = { event_types: ['*'], enabled: false };
const JWT = { type: 'jwt', settings: { audience: 'x' }, claims: { name: { field: 'name' } } };

const kinds: readonly Kind[] = [
  {
    name: 'user group',
    path: '/v1/user-groups',
    list: '/console/user-groups',
    bodies: (text) => [
      { name: text, properties: { [text]: text }, mapping: { [text]: text } },
      { name: text },
      { name: 'Acme', properties: { [text]: text } },
      { name: 'Acme', mapping: { [text]: text } },
      { name: 'Acme' },
    ],
    pages: ['', '/edit', '/rotate', '/suspend', '/delete', '/events', '/view-as'],
    limit: 1_000,
  },
  {
    name: 'schema',
    path: '/v1/schemas',
    list: '/console/catalogue/schemas',
    bodies: (text) => [
      { name: text, default_data_source: text },
      { name: text },
      { name: 'Orders', default_data_source: text },
      { name: 'Orders' },
    ],
    pages: ['', '/edit', '/delete'],
    limit: 100,
  },
  {
    name: 'data source',
    path: '/v1/data-sources',
    list: '/console/catalogue/data-sources',
    bodies: (text) => [
      { schema_id: text, name: text, attributes: { [text]: text } },
      { schema_id: '40', name: text },
      { schema_id: text, name: 'Acme' },
      { schema_id: '40', name: 'Acme', attributes: { [text]: text } },
      { schema_id: '40', name: 'Acme' },
    ],
    pages: ['', '/edit', '/delete'],
    limit: 100,
  },
  {
    name: 'integration',
    path: '/v1/integrations',
    list: '/console/integrations',
    bodies: (text) => [
      { ...JWT, settings: { audience: text, properties: [text] }, claims: { [text]: { constant: text } } },
      { ...JWT, settings: { audience: text, properties: [text] } },
      { ...JWT, claims: { ...JWT.claims, [text]: { constant: text } } },
      JWT,
    ],
    pages: ['', '/edit', '/delete'],
    limit: 100,
  },
  {
    name: 'webhook endpoint',
    path: '/v1/webhook-endpoints',
    list: '/console/webhooks',
    bodies: (text) => [
      { ...WEBHOOK, url: text },
      { ...WEBHOOK, url: `https://x.example/?${text}` },
      { ...WEBHOOK, url: `https://x.example/?'<>${encodeURIComponent(text)}` },
      { ...WEBHOOK, url: 'https://x.example/' },
    ],
    pages: ['', '/edit', '/rotate', '/delete'],
    limit: 100,
  },
];

/** Reads pages on one database only: both return the same text, so their pages are the same too. */
const showsPages = ({ name }: DatabaseKind) => name === 'SQLite';

/** All documents share their statements, so two kinds are enough for the other database. */
const kindsOn = ({ name }: DatabaseKind) => (name === 'SQLite' ? kinds : kinds.slice(0, 2));

/** Minimum accepted; most rejected strings have control characters, or white space at an end. */
const MIN_ACCEPTED = naughtyStrings.length * 0.85;
/** Elements of the chart. */
const CHART = ['svg', 'desc', 'rect', 'text', 'path'];
/** Query parameters of pages. */
const QUERIES = {
  '/console/user-groups': ['search', 'match', 'data_source', 'suspended', 'seen_before', 'cursor', 'done'],
  '/console/events': ['type', 'target_type', 'target_id', 'cursor'],
} as const;

/** Members per property schema: its page has an input for each. */
const INPUTS = 50;
const isTrimmed = (text: string) => text !== '' && text.trim() === text;
const at = (id: string) => `/${encodeURIComponent(id)}`;

/** Changes of one environment conflict with each other, so higher concurrency is slower. */
const CONCURRENCY = 4;
const forEach = <Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>) =>
  mapConcurrently(items, work, CONCURRENCY);

describeOnEachDatabase('The Big List of Naughty Strings', (database) => {
  const service = TestService.of(database);
  let browser: ConsoleBrowser;
  let token: string;

  /** Signs in to a workspace of its own. */
  async function signIn(workspaceName: string): Promise<void> {
    ({ token } = await service.apiToken({ permission: 'admin', workspaceName }));
    browser = await ConsoleBrowser.signIn(service, token, { hasAnyText: true });
  }

  const call = (method: string, path: string, body?: unknown) =>
    served(() => service.call(method, path, body, { token }));

  async function elementsAt(path: string): Promise<Element[]> {
    const page = await served(() => browser.get(path));
    assert.equal(page.status, 200, `${path}: ${page.text}`);
    return checkMarkup(page);
  }

  /** Asserts that each text is the whole text of an element in the list. */
  async function assertLists(list: string, texts: readonly string[]): Promise<void> {
    const shown = new Set<string>();
    for (let path: string | undefined = list; path !== undefined; ) {
      const elements: Element[] = await elementsAt(path);
      for (const { text } of elements) shown.add(text);
      const isNext = ({ name, text }: Element) => name === 'a' && /^(?:Next page|Older events)$/.test(text);
      path = elements.find(isNext)?.attributes.href;
    }
    for (const text of texts) assert.ok(shown.has(text), `${list} does not list ${JSON.stringify(text)}`);
  }

  /** Returns the resource, or null if the API rejects it with a reason. */
  async function put(path: string, body: Body): Promise<Body | null> {
    const { status, json } = await call('PUT', path, body);
    if (status >= 300) {
      assert.ok(status === 400 || (status === 404 && path.endsWith('/')), `${status} ${path}`);
      assert.ok(json.detail.length > 10);
      return null;
    }
    const resource = Object.values(json)[1] as Body;
    for (const [name, value] of Object.entries(body)) assert.deepEqual(resource[name], value);
    return resource;
  }

  /** Puts the first of the bodies that the API accepts, and returns the resource; null if it accepts none. */
  async function putFirst(path: string, bodies: readonly Body[]): Promise<Body | null> {
    for (const body of bodies) {
      const resource = await put(path, body);
      if (resource !== null) return resource;
    }
    if (path.endsWith('/')) return null;
    assert.notEqual((await call('GET', path)).status, 200);
    return null;
  }

  /**
   * Creates resources of a kind, up to its limit at a time, and checks their lists. Returns the texts that
   * are valid ids.
   */
  async function listEach({ path, list, bodies, limit }: Kind): Promise<string[]> {
    const ids: string[] = [];
    for (let start = 0; start < naughtyStrings.length; start += limit) {
      const shown = new Map<string, string>();
      await forEach(naughtyStrings.slice(start, start + limit), async (text) => {
        const resource = await putFirst(path + at(text), bodies(text));
        if (resource !== null) shown.set(text, String(resource.name ?? resource.url ?? text));
        // The text is not an id, but may be a valid value in the fields of a resource with another id.
        else for (const body of bodies(text)) await put(path + at('x'), body);
      });
      await assertLists(list, [...shown].flat());
      await forEach([...shown.keys(), 'x'], (text) => call('DELETE', path + at(text)));
      ids.push(...shown.keys());
    }
    await assertLists('/console/events', ids);
    return ids;
  }

  for (const kind of kindsOn(database)) {
    const { name, path, list, bodies, pages } = kind;
    it(`is the text of every ${name}, or is rejected`, async () => {
      await signIn(name);
      const ids = await listEach(kind);
      assert.ok(ids.length > MIN_ACCEPTED);
      if (!showsPages(database)) return;
      await forEach(joined(ids), async (text) => {
        assert.ok(await putFirst(path + at(text), bodies(text)), text);
        for (const page of pages) {
          const elements = await elementsAt(`${list}${at(text)}${page}`);
          assert.ok(
            elements.some((each) => each.text.includes(text)),
            `${page} ${text}`,
          );
        }
        await call('DELETE', path + at(text));
      });
    });
  }

  it('is the name of an API token, including the one that a person is signed in with', async () => {
    await signIn('API tokens');
    const names: string[] = [];
    await forEach(naughtyStrings, async (name) => {
      const { status, json } = await call('POST', '/v1/api-tokens', { name, permission: 'read-only' });
      if (status === 201) names.push(name);
      else assert.deepEqual([status, json.errors[0].pointer], [400, '/name'], name);
    });
    assert.ok(names.length > MIN_ACCEPTED);
    await assertLists('/console/api-tokens', names);
    await assertLists(
      '/console/events',
      names.map((name) => JSON.stringify(name)),
    );
    if (!showsPages(database)) return;
    await forEach(joined(names), async (name) => {
      const { json } = await call('POST', '/v1/api-tokens', { name, permission: 'read-only' });
      const visitor = await ConsoleBrowser.signIn(service, json.api_token.token, { hasAnyText: true });
      const elements = checkMarkup(await visitor.get('/console/catalogue'));
      assert.ok(
        elements.some((each) => each.name === 'strong' && each.text === name),
        name,
      );
    });
  });

  it('is a member, a title and a choice of the property schema, with an input that keeps the value', async () => {
    await signIn('property schema');
    const keys = naughtyStrings.filter((text) => text !== '' && [...text].length <= 255);
    for (let start = 0; start < keys.length; start += INPUTS) {
      const chunk = keys.slice(start, start + INPUTS);
      const member = (text: string) => ({ type: 'string', title: text, description: text, enum: [text] });
      const properties = Object.fromEntries(chunk.map((text) => [text, member(text)]));
      const schema = { mode: 'report', schema: { type: 'object', properties } };
      const stored = await call('PUT', '/v1/property-schema', schema);
      assert.ok(stored.status < 300, stored.text);
      const values = Object.fromEntries(chunk.map((text) => [text, text]));
      assert.ok(await put('/v1/user-groups/x', { name: 'Acme', properties: values }));
      if (!showsPages(database)) continue;
      await elementsAt('/console/catalogue/property-schema');
      const form = await browser.get('/console/user-groups/x/edit');
      checkMarkup(form);
      const typed = fieldsOf(form.text, '/console/user-groups/x/review');
      assert.deepEqual(new Set(chunk.map((_, index) => typed[`property-${index}-key`])), new Set(chunk));
      const review = await browser.submitFrom(form, '/console/user-groups/x/review');
      assert.match(review.text, /Nothing differs/);
    }
  });

  /** Requests a page again while a busy machine refuses the search with 503. */
  const pageAt = (path: string): Promise<TestResponse> =>
    eventually(path, async () => {
      const page = await browser.get(path);
      return page.status !== 503 && page;
    });

  it('is shown again as it was typed into a form or an address', async () => {
    await signIn('forms');
    const path = '/console/user-groups/-/new';
    await forEach(joined(naughtyStrings), async (text) => {
      if (showsPages(database)) {
        const typed = { user_group_id: ` ${text}`, name: text, mapping: text, properties: text };
        const rejected = await browser.submit(path, path, typed);
        assert.equal(rejected.status, 400, text);
        checkMarkup(rejected);
        const shown = fieldsOf(rejected.text, path);
        for (const [name, value] of Object.entries(typed)) assert.equal(shown[name], value);
      }
      for (const [page, names] of Object.entries(QUERIES)) {
        const query = new URLSearchParams(names.map((name) => [name, text.slice(0, 255)]));
        checkMarkup(await pageAt(`${page}?${query}`));
      }
    });
  });

  if (showsPages(database)) {
    it('is the name of a customer on the chart of the sample dashboard', async () => {
      await signIn('demo');
      const [csrf] = (await elementsAt('/console/user-groups')).filter(
        ({ attributes }) => attributes.name === 'csrf',
      );
      const created = await browser.post('/console/demo', { csrf: csrf!.attributes.value! });
      assert.equal(created.status, 303, created.text);
      for (const name of joined(naughtyStrings.filter(isTrimmed))) {
        const { status } = await call('PATCH', '/v1/user-groups/demo-alpenglow', { name });
        if (status === 400) continue;
        const page = await browser.get(created.headers.location!);
        const titles = checkMarkup(page, CHART).filter((each) => each.name === 'title');
        assert.equal(titles.at(-1)!.text, `Revenue of ${isolated(name)} by month`);
      }
    });
  }
});
