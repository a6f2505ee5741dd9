// Contract: the overview says how many user groups need attention, counted in the background, and each number
// links to the list of what it counts.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { limits } from '../../src/domain/field.ts';
import { DAY_MS } from '../../src/domain/instant.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { copyApiToken } from '../support/api-token.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { textOf } from '../support/console-page.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { elementsOf } from '../support/html.ts';
import type { TestResponse } from '../support/http.ts';
import { eventually, served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { executeSql } from '../support/sql.ts';
import { storeUserGroups } from '../support/user-group/stored-user-group.ts';

const GROUP = /^\/console\/user-groups\/[^-][^/]*$/;
const HOUR_MS = 3_600_000;
const now = Date.now();
const seen = { createdAt: now - 100 * DAY_MS, lastSeenAt: now };
const good = { ...seen, mapping: '{"40":"eu"}' as JsonText, properties: '{"plan":"gold"}' as JsonText };
const GROUPS = {
  new: { ...good, createdAt: now },
  suspended: { ...good, suspendedAt: now },
  unseen: { ...good, lastSeenAt: now - 40 * DAY_MS },
  never: { ...good, lastSeenAt: null },
  'broken mapping': { ...good, mapping: '{"40":"gone"}' as JsonText },
  'by default': { ...good, mapping: null },
  'wrong property': { ...good, properties: '{"plan":5}' as JsonText },
};

describeOnEachDatabase('the overview of the console', (database) => {
  const service = TestService.of(database);
  let browser: ConsoleBrowser;
  let admin: string;
  before(async () => {
    ({ token: admin } = await service.apiToken({ permission: 'admin' }));
    browser = await ConsoleBrowser.signIn(service, admin);
    await storeUserGroups(service.app.context.store, 'default', GROUPS);
    const put = async (path: string, body: object) => {
      const response = await served(() => service.call('PUT', path, body, { token: admin }));
      assert.ok(response.status < 300, response.text);
    };
    await put('/v1/data-sources/eu', { schema_id: '40', name: 'EU', attributes: {} });
    await put('/v1/schemas/40', { name: 'Orders', default_data_source: 'eu' });
    await put('/v1/property-schema', {
      schema: { properties: { plan: { type: 'string' } } },
      mode: 'report',
    });
  });

  /** Returns the page once its figures are counted: immediately, unless the machine is busy. */
  function counted(path: string): Promise<TestResponse> {
    return eventually(`figures on ${path}`, async () => {
      const page = await browser.get(path);
      return /as of/.test(textOf(page)) ? page : null;
    });
  }

  const figures = [
    ['Total', 7, Object.keys(GROUPS)],
    ['New this week', 1, ['new']],
    ['Suspended', 1, ['suspended']],
    ['Never seen', 1, ['never']],
    ['Not seen for 30 days, or never', 2, ['never', 'unseen']],
    ['With a broken mapping', 1, ['broken mapping']],
    ['With properties that violate the schema', 1, ['wrong property']],
  ] as const;
  for (const [name, count, ids] of figures) {
    it(`counts the groups “${name}”, and leads to them`, async () => {
      const elements = elementsOf((await counted('/console')).text);
      const term = elements.findIndex((element) => element.name === 'dt' && element.text === name);
      const figure = elements.slice(term).find((element) => element.name === 'a')!;
      assert.equal(figure.text, String(count));
      const list = await browser.get(figure.attributes.href!.replaceAll('&#38;', '&'));
      const listed = elementsOf(list.text).filter(({ attributes }) => GROUP.test(attributes.href ?? ''));
      assert.deepEqual(listed.map(({ text }) => text).sort(), [...ids].sort());
    });
  }

  it('says on the page of a data source how many user groups use it, including as a default', async () => {
    const page = await counted('/console/catalogue/data-sources/eu');
    assert.match(textOf(page), /Used by 6 user groups , including as a default/);
    assert.ok(page.text.includes('/console/user-groups?data_source&#61;eu'), page.text);
  });

  it('shows resolves and changes by day as charts and tables', async () => {
    const { json } = await service.get({ user_group_id: 'resolved', name: 'Resolved' });
    for (let count = 0; count < 3; count++) await service.resolve(json.user_group.token);
    await service.writeUsage();
    const today = new Date().toISOString().slice(0, 10);
    // Makes the figures stale.
    service.clockAheadMs += HOUR_MS + 1_000;
    await eventually('the charts', async () => {
      const text = textOf(await browser.get('/console'));
      const resolves = new RegExp(`Resolves per day .* Day \\(UTC\\) Resolves .*?${today} (\\d+) `).exec(
        text,
      );
      return resolves?.[1] === '3' ? true : null;
    });
    const page = await browser.get('/console');
    const charts = elementsOf(page.text).filter((element) => element.name === 'svg');
    assert.equal(charts.length, 2);
    assert.ok(charts.every(({ attributes }) => attributes.role === 'img'));
  });

  it('shows administrators API tokens that expire soon or were never used, and others none', async () => {
    const { json } = await service.call(
      'POST',
      '/v1/api-tokens',
      { name: 'short lived', permission: 'resolve', expires_in_seconds: 5 * 86_400 },
      { token: admin },
    );
    const { api_token_id: id } = json.api_token;
    // Hides the token among older, revoked ones: more than fit on a page.
    await copyApiToken(service.database, id, limits.pageEntries + 1);
    await executeSql(
      service.database,
      `update api_tokens set revoked_at = created_at where name = 'short lived' and api_token_id <> ${id};
       update api_tokens set api_token_id = ${id} * 10000000 where api_token_id = ${id}`,
    );
    assert.match(textOf(await browser.get('/console')), /expires API token short lived at/);
    for (let days = 4; days < 14; days++)
      await service.apiToken({
        permission: 'resolve',
        name: `for ${days} days`,
        expiresAt: now + days * DAY_MS,
      });
    // Shows ten: those that expire first.
    assert.match(
      textOf(await browser.get('/console')),
      /expires API token for 4 days at .* short lived at .* for 12 days at [^a-z]* 1 more: see/,
    );
    service.clockAheadMs += 2 * DAY_MS;
    browser = await ConsoleBrowser.signIn(service, admin);
    assert.match(textOf(await browser.get('/console')), /never used API token short lived , created/);
    const reader = await ConsoleBrowser.signIn(
      service,
      (await service.apiToken({ permission: 'read-only' })).token,
    );
    assert.doesNotMatch(textOf(await reader.get('/console')), /short lived/);
  });
});
