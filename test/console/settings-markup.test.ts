// Contract: the pages of settings show every id, name, key and value as the text that it is, and send it back unchanged.
// One database is enough, as in markup.test.ts.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { joined, markup, pathLike } from '../support/bad-input/markup.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { checkMarkup } from '../support/console-page.ts';
import { sqlite } from '../support/database.ts';
import { textOfElement } from '../support/html.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';

interface Kind {
  /** In the console. */
  path: string;
  api: string;
  body(text: string): object;
}

const kinds: readonly Kind[] = [
  {
    path: '/console/catalogue/schemas',
    api: '/v1/schemas',
    body: (text) => ({ name: text, default_data_source: text }),
  },
  {
    path: '/console/catalogue/data-sources',
    api: '/v1/data-sources',
    body: (text) => ({ schema_id: text, name: text, attributes: { [`${text}.`]: [text] } }),
  },
  {
    path: '/console/integrations',
    api: '/v1/integrations',
    body: (text) => ({
      type: 'jwt',
      settings: { audience: text, properties: [text] },
      claims: { [text]: { property: text }, constant: { constant: text } },
    }),
  },
  {
    path: '/console/webhooks',
    api: '/v1/webhook-endpoints',
    body: (text) => ({ url: `https://x.example/?${encodeURIComponent(text)}'<>`, event_types: ['*'] }),
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

  for (const { path, api, body } of kinds) {
    it(`is shown as text, and sent back unchanged: ${api}`, async () => {
      // The paths of all kinds are made by the same code.
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
        assert.equal(conflict.status, 412);
        checkMarkup(conflict);
        assert.match((await browser.submitFrom(conflict, edit)).headers.location!, /^\/console\//);
      }
      checkMarkup(await browser.get(path));
    });
  }
});
