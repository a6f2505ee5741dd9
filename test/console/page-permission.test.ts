// Every page and action of the console requires a permission. The lists below name those that another permission than
// admin allows.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import type { Page } from '../../src/console/page.ts';
import { pages } from '../../src/console/routes.ts';
import { ConsoleBrowser, fieldsOf } from '../support/console.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { integrations } from '../support/embed-token/site.ts';
import { send } from '../support/http.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const READ = [
  'GET ',
  'GET /user-groups',
  'GET /user-groups/-/export',
  'GET /user-groups/-/find-by-token',
  'POST /user-groups/-/find-by-token',
  'GET /user-groups/:user_group_id',
  'GET /user-groups/:user_group_id/events',
  'GET /user-groups/:user_group_id/data-sources',
  'GET /user-groups/:user_group_id/view-as',
  'GET /events',
  'GET /catalogue',
  'GET /catalogue/property-schema',
  'GET /catalogue/schemas',
  'GET /catalogue/schemas/:schema_id',
  'GET /catalogue/data-sources',
  'GET /catalogue/data-sources/:provided_id',
  'GET /sessions',
  'POST /sessions/switch',
  'POST /sign-out',
];
const WRITE = [
  'POST /user-groups/-/selection',
  'POST /user-groups/-/selection/apply',
  'GET /user-groups/-/new',
  'POST /user-groups/-/new',
  'POST /user-groups/-/new/form',
  'POST /user-groups/:user_group_id/token',
  'GET /user-groups/:user_group_id/edit',
  'POST /user-groups/:user_group_id/edit',
  'POST /user-groups/:user_group_id/review',
  'POST /user-groups/:user_group_id/save',
  'GET /user-groups/:user_group_id/restore',
  'GET /user-groups/:user_group_id/rotate',
  'POST /user-groups/:user_group_id/rotate',
  'GET /user-groups/:user_group_id/rename',
  'POST /user-groups/:user_group_id/rename',
  'GET /user-groups/:user_group_id/suspend',
  'POST /user-groups/:user_group_id/suspend',
  'POST /user-groups/:user_group_id/resume',
  'GET /user-groups/:user_group_id/delete',
  'POST /user-groups/:user_group_id/delete',
  'POST /user-groups/:user_group_id/view-as',
];
const permitted = { 'read-only': READ, 'read-write': [...READ, ...WRITE] };

/** Returns the path of the page with an id in the place of each parameter. */
function pathOf({ path }: Page): string {
  return `/console${path.replace(/:\w+/g, '1')}`;
}

function nameOf({ method, path }: Page): string {
  return `${method} ${path}`;
}

describeOnEachDatabase('A page of the console', (database) => {
  const service = TestService.of(database, { env: { UGS_WEBHOOK_ALLOW_PRIVATE: 'on' } });
  before(async () => {
    await service.get({ user_group_id: '1', name: 'Acme' });
  });

  for (const [permission, names] of Object.entries(permitted) as ['read-only' | 'read-write', string[]][]) {
    it(`is refused to ${permission} unless it is one of those that this permission allows`, async () => {
      const { token } = await service.apiToken({ permission });
      const browser = await ConsoleBrowser.signIn(service, token);
      const allowed: string[] = [];
      for (const page of pages) {
        const path = pathOf(page);
        // Refused without the token of a form, but only after the permission.
        const { status, text } = await (page.method === 'GET' ? browser.get(path) : browser.post(path, {}));
        const isRefused = status === 403 && /may not .*; this requires /.test(text);
        if (!isRefused) allowed.push(nameOf(page));
      }
      assert.deepEqual(allowed.toSorted(), names.toSorted());
    });
  }

  it('shows an object of another workspace like one that does not exist, and acts on neither', async () => {
    const { token, id } = await service.apiToken({ permission: 'admin' });
    const call = (method: string, path: string, body?: object) =>
      served(() => service.call(method, path, body, { token }));
    const endpoint = '/v1/webhook-endpoints/their-id';
    await call('PUT', endpoint, { url: 'http://127.0.0.1:1025/', event_types: ['*'] });
    await call('PUT', '/v1/schemas/their-id', { name: 'Orders' });
    await call('PUT', '/v1/data-sources/their-id', { schema_id: 'their-id', name: 'Orders' });
    await call('PUT', '/v1/integrations/their-id', integrations.jwt);
    await call('POST', '/v1/user-groups', { user_group_id: 'their-id', name: 'Acme' });
    const [delivery] = (await call('GET', `${endpoint}/deliveries`)).json.deliveries;
    const before = (await call('GET', '/v1/events?limit=1000')).text;

    const other = await service.apiToken({ permission: 'admin', workspaceName: 'elsewhere' });
    const browser = await ConsoleBrowser.signIn(service, other.token);
    const { csrf = '' } = fieldsOf((await browser.get('/console/user-groups')).text, '/console/sign-out');
    const theirs = { api_token_id: String(id), event_id: delivery.event_id };
    const missing = { api_token_id: '98765', event_id: `evt_${'a1b2'.repeat(8)}` };
    type Ids = Record<string, string>;

    /** Returns what the page with these ids, or with `name` as any other id, shows. */
    async function shown({ method, path }: Page, ids: Ids, name: string): Promise<unknown[]> {
      const to = `/console${path.replace(/:(\w+)/g, (_, parameter: string) => ids[parameter] ?? name)}`;
      const { status, headers, text } = await served(() =>
        method === 'GET' ? browser.get(to) : browser.post(to, { csrf, type: 'jwt' }),
      );
      const [main = ''] = /<main[\s\S]*<\/main>/.exec(text) ?? [];
      const anyId = new RegExp(`(?<!\\w)(?:${[name, ...Object.values(ids)].join('|')})(?!\\w)`, 'g');
      // The id of the request and the token of the form differ each time.
      const comparable = main.replaceAll(anyId, 'ID').replace(/Request [^<]*|"[0-9a-f]{64}[^"]*"/g, '');
      return [status, headers.location, comparable];
    }
    for (const page of pages.filter(({ path }) => path.includes(':')))
      assert.deepEqual(
        await shown(page, theirs, 'their-id'),
        await shown(page, missing, 'other-id'),
        nameOf(page),
      );
    assert.equal((await call('GET', '/v1/events?limit=1000')).text, before);

    /** Returns the lists that show an object of `call`. */
    async function listsOf(reader: ConsoleBrowser): Promise<string[]> {
      const lists = pages.filter(({ method, path }) => method === 'GET' && !path.includes(':'));
      const found: string[] = [];
      for (const { path } of lists) {
        const { text } = await served(() => reader.get(`/console${path}`));
        if (/their-id|Orders/.test(text)) found.push(path);
      }
      return found;
    }
    assert.deepEqual(await listsOf(browser), []);
    const populated = ['', '/user-groups', '/events', '/catalogue', '/integrations', '/webhooks'];
    const own = await listsOf(await ConsoleBrowser.signIn(service, token));
    assert.deepEqual(
      populated.filter((path) => !own.includes(path)),
      [],
    );
  });

  it('is not shown without a session', async () => {
    for (const page of pages) {
      const headers = { origin: service.url, 'sec-fetch-site': 'same-origin' };
      const response = await send(service.url, { method: page.method, path: pathOf(page), headers });
      // The sign-in form keeps what was typed.
      const asks =
        /^\/console\/sign-in/.test(response.headers.location ?? '') || /name="api_token"/.test(response.text);
      assert.ok(asks, `${nameOf(page)}: ${response.status}`);
    }
  });
});
