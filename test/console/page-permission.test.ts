// Every page and action of the console requires a permission. The lists below name those that another permission than
// admin allows.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import type { Page } from '../../src/console/page.ts';
import { pages } from '../../src/console/routes.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { send } from '../support/http.ts';
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
  const service = TestService.of(database);
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
