// Contract: settings pages show every id, name, key and value as plain text, and send it back unchanged. One
// database is enough, as in markup.test.ts.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { joined, markup, pathLike } from '../support/bad-input/markup.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { checkMarkup, unescaped } from '../support/console-page.ts';
import { sqlite } from '../support/database.ts';
import { textOfElement } from '../support/html.ts';
import type { TestResponse } from '../support/http.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';

/** Breaks out of text, of attributes in either kind of quotes, and of text areas. */
const MARKUP = `</textarea></title><script>alert(1)</script>"'><img src=x onerror=alert(1)>`;

interface Kind {
  /** Path in the console. */
  path: string;
  api: string;
  body(text: string): object;
  /** Fields that the form rejects. */
  rejected(text: string): Record<string, string>;
}

const kinds: readonly Kind[] = [
  {
    path: '/console/catalogue/schemas',
    api: '/v1/schemas',
    body: (text) => ({ name: text, default_data_source: text }),
    rejected: (text) => ({ name: '', default_data_source: text }),
  },
  {
    path: '/console/catalogue/data-sources',
    api: '/v1/data-sources',
    body: (text) => ({ schema_id: text, name: text, attributes: { [`${text}.`]: [text] } }),
    rejected: (text) => ({ schema_id: text, name: text, attributes: text }),
  },
  {
    path: '/console/integrations',
    api: '/v1/integrations',
    body: (text) => ({
      type: 'jwt',
      settings: { audience: text, properties: [text] },
      claims: { [text]: { property: text }, constant: { constant: text } },
    }),
    rejected: (text) => ({ settings: text, claims: text, ttl_seconds: text }),
  },
  {
    path: '/console/webhooks',
    api: '/v1/webhook-endpoints',
    body: (text) => ({ url: `https://x.example/?${encodeURIComponent(text)}'<>`, event_types: ['*'] }),
    rejected: (text) => ({ url: text }),
  },
];

describe('markup in settings of the console', () => {
  const service = TestService.of(sqlite);
  let browser: ConsoleBrowser;
  let token: string;
  before(async () => {
    ({ token } = await service.apiToken({ permission: 'admin', name: markup[0]! }));
    browser = await ConsoleBrowser.signIn(service, token);
  });

  for (const { path, api, body, rejected } of kinds) {
    it(`is shown as text, and sent back unchanged: ${api}`, async () => {
      // One code path builds the URLs of all kinds.
      for (const text of [...joined(markup), ...(api === '/v1/schemas' ? pathLike : [])]) {
        const id = encodeURIComponent(text);
        const read = () => service.call('GET', `${api}/${id}`, undefined, { token });
        const stored = await served(() => service.call('PUT', `${api}/${id}`, body(text), { token }));
        assert.equal(stored.status, 201, stored.text);
        const page = await browser.get(`${path}/${id}`);
        checkMarkup(page);
        assert.ok(textOfElement(page.text, 'h1').endsWith(` ${text}`));
        checkMarkup(await browser.get(`${path}/${id}/delete`));
        const edit = `${path}/${id}/edit`;
        const form = await browser.get(edit);
        checkMarkup(form);
        assertShown(await browser.submitFrom(form, edit, rejected(text)), 400, text);
        const saved = await browser.submitFrom(form, edit);
        assert.equal(saved.status, 303, saved.text);
        const { version, updated_at, ...same } = Object.values((await read()).json)[1] as Record<
          string,
          unknown
        >;
        const { version: _, updated_at: __, ...before } = Object.values(stored.json)[1] as typeof same;
        assert.deepEqual(same, before);
        await served(() => service.call('PUT', `${api}/${id}`, body(`${text}2`), { token }));
        const conflict = await browser.submitFrom(form, edit);
        assertShown(conflict, 412, text);
        assert.match((await browser.submitFrom(conflict, edit)).headers.location!, /^\/console\//);
      }
      checkMarkup(await browser.get(path));
      const query = new URLSearchParams({ type: MARKUP, schema: MARKUP, done: MARKUP });
      checkMarkup(await browser.get(`${path}/-/new?${query}`));
    });
  }

  it('is shown as text on the page of another data source with the same id', async () => {
    const { path, api, body } = kinds[1]!;
    await service.call('PUT', `${api}/${encodeURIComponent(MARKUP)}`, body(MARKUP), { token });
    const fields = { id: MARKUP, schema_id: MARKUP, name: MARKUP, attributes: '{}' };
    assertShown(await browser.submit(`${path}/-/new`, `${path}/-/new`, fields), 412, MARKUP);
  });

  it('is shown as text on the page with a new secret of a webhook endpoint', async () => {
    const { path, api, body } = kinds[3]!;
    const id = encodeURIComponent(MARKUP);
    await service.call('PUT', `${api}/${id}`, body(MARKUP), { token });
    const rotate = `${path}/${id}/rotate`;
    assertShown(await browser.get(rotate), 200, MARKUP);
    assertShown(await browser.submit(rotate, rotate), 200, MARKUP);
    checkMarkup(await browser.get(`${path}/${id}?done=${id}&cursor=`));
  });

  it('is shown as text on the pages of the catalogue and of the property schema', async () => {
    const schema = { schema: { title: MARKUP }, mode: 'off' };
    await service.call('PUT', '/v1/property-schema', schema, { token });
    const group = { user_group_id: MARKUP, name: 'x', mapping: { 40: MARKUP } };
    await service.call('POST', '/v1/user-groups', group, { token });
    checkMarkup(await browser.get('/console/catalogue'));
    assertShown(await browser.get('/console/catalogue/property-schema'), 200, markup[0]!);
  });

  it('is shown as text in names of API tokens', async () => {
    const form = '/console/api-tokens/-/new';
    const issued = await browser.submit(form, form, { name: MARKUP, permission: 'admin' });
    assertShown(issued, 200, MARKUP);
    const [, path] = /href="(\/console\/api-tokens\/\d+)"/.exec(issued.text)!;
    for (const page of ['/console/api-tokens', path, `${path}/rotate`, `${path}/revoke`])
      assertShown(await browser.get(page!), 200, MARKUP);
    assertShown(await browser.submit(form, form, { name: MARKUP, permission: MARKUP }), 400, MARKUP);
  });
});

function assertShown(page: TestResponse, status: number, text: string): void {
  assert.equal(page.status, status, page.text);
  checkMarkup(page);
  assert.ok(unescaped(page.text).includes(text));
}
