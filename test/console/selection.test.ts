// Contract: the checked rows of a list are suspended and resumed after one review, each with an event, and
// the list can be exported as CSV that no spreadsheet evaluates.

import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import { before, it } from 'node:test';
import { parse } from 'csv-parse/sync';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { ConsoleBrowser, fieldsOf } from '../support/console.ts';
import { textOf } from '../support/console-page.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { elementsOf } from '../support/html.ts';
import type { TestResponse } from '../support/http.ts';
import { TestService } from '../support/service.ts';
import { storeUserGroups } from '../support/user-group/stored-user-group.ts';

const LIST = '/console/user-groups';
const SELECTION = `${LIST}/-/selection`;
const APPLY = `${SELECTION}/apply`;

describeOnEachDatabase('the list of user groups in the console', (database) => {
  const service = TestService.of(database);
  let browser: ConsoleBrowser;
  before(async () => {
    browser = await ConsoleBrowser.signIn(service);
  });

  async function create(...ids: string[]): Promise<void> {
    for (const user_group_id of ids) await service.get({ user_group_id, name: `Name of ${user_group_id}` });
  }

  async function csrf(): Promise<string> {
    return fieldsOf((await browser.get(LIST)).text, SELECTION).csrf!;
  }

  /** Submits what a browser sends if these rows are checked. */
  async function review(action: string, ...ids: string[]): Promise<TestResponse> {
    const fields = [['csrf', await csrf()], ['action', action], ...ids.map((id) => ['id', id])];
    return browser.postFields(SELECTION, fields as [string, string][]);
  }

  /** Confirms the review. */
  function apply(page: TestResponse): Promise<TestResponse> {
    const inputs = elementsOf(page.text).filter(({ name }) => name === 'input');
    const start = inputs.findIndex(({ attributes }) => attributes.name === 'action');
    const fields = inputs
      .slice(start - 1)
      .map(({ attributes }): [string, string] => [attributes.name!, attributes.value!]);
    return browser.postFields(APPLY, fields);
  }

  /** Sends a request with a browser whose session has ended, and signs in. */
  async function sendWithoutSession(
    path: string,
    send: (person: ConsoleBrowser) => Promise<TestResponse>,
  ): Promise<TestResponse> {
    const person = await ConsoleBrowser.signIn(service);
    person.forgetCookies();
    const asked = await send(person);
    assert.equal(asked.status, 401, asked.text);
    return person.submitFrom(asked, path, { api_token: service.token });
  }

  async function isSuspended(id: string): Promise<boolean> {
    return (await service.call('GET', `/v1/user-groups/${id}`)).json.user_group.suspended;
  }

  it('suspends the checked rows after a review, with an event each, and resumes them', async () => {
    await create('one', 'two', 'three');
    const page = await review('suspend', 'one', 'two');
    assert.match(textOf(page), /Suspend 2 user groups .*one.*two/);
    assert.equal(await isSuspended('one'), false);
    const done = await apply(page);
    assert.match(textOf(done), /2 of 2 suspended/);
    assert.deepEqual(await Promise.all(['one', 'two', 'three'].map(isSuspended)), [true, true, false]);
    for (const id of ['one', 'two']) {
      const { json } = await service.call('GET', `/v1/user-groups/${id}/events`);
      assert.equal(json.events[0].type, 'user_group.updated');
      assert.equal(json.events[0].actor.via, 'console');
    }
    assert.match(textOf(await apply(await review('resume', 'one', 'two'))), /2 of 2 resumed/);
    assert.equal(await isSuspended('one'), false);
  });

  it('reports the rows that were changed or deleted after the review, and changes the others', async () => {
    await create('kept', 'changed', 'deleted');
    const page = await review('suspend', 'kept', 'changed', 'deleted');
    await service.call('PATCH', '/v1/user-groups/changed', { name: 'Changed' });
    await service.call('DELETE', '/v1/user-groups/deleted');
    const done = await apply(page);
    assert.match(textOf(done), /1 of 3 suspended/);
    assert.match(textOf(done), /changed unchanged It was changed after you reviewed it/);
    assert.match(textOf(done), /deleted unchanged It was deleted or renamed after you reviewed it/);
    assert.equal(await isSuspended('kept'), true);
    assert.equal(await isSuspended('changed'), false);
  });

  it('keeps the selection when the session ends, before and after the review, and shows it to be reviewed', async () => {
    const ids = ['ended-1', 'ended-2'];
    await create(...ids);
    const conditions = '?search=ended';
    const [path, applyPath] = [`${SELECTION}${conditions}`, `${APPLY}${conditions}`];
    const [token, applyToken] = [await csrf(), await csrf()];
    const fields = (each: string) =>
      [['csrf', each], ['action', 'suspend'], ...ids.map((id) => ['id', id])] as [string, string][];
    const reviewed = await sendWithoutSession(path, (person) => person.postFields(path, fields(token)));
    const unchanged = await sendWithoutSession(applyPath, (person) =>
      person.postFields(applyPath, [...fields(applyToken), ['version', 'old'], ['version', 'old']]),
    );
    for (const page of [reviewed, unchanged]) {
      assert.equal(page.status, 200, page.text);
      assert.match(textOf(page), /nothing was done\. Check it, and send it again\. .*ended-1.*ended-2/);
      assert.ok(page.text.includes(`href="${LIST}?search&#61;ended"`), page.text);
    }
    assert.deepEqual(await Promise.all(ids.map(isSuspended)), [false, false]);
  });

  it('leads back to the list with its conditions, from the review and from the result', async () => {
    await create('back-1');
    const conditions = '?search=back&suspended=no';
    const listed = await browser.get(`${LIST}${conditions}`);
    const page = await browser.submitFrom(listed, `${SELECTION}${conditions}`, {
      action: 'suspend',
      id: 'back-1',
    });
    assert.match(textOf(page), /Suspend 1 user group/);
    const linksTo = (path: string, { text }: TestResponse) =>
      elementsOf(text).filter(({ attributes }) => attributes.href?.replaceAll('&amp;', '&') === path);
    assert.deepEqual(
      linksTo(`${LIST}${conditions}`, page).map(({ text }) => text),
      ['Cancel'],
    );
    const done = await browser.submitFrom(page, `${APPLY}${conditions}`);
    assert.match(textOf(done), /1 of 1 suspended/);
    assert.deepEqual(
      linksTo(`${LIST}${conditions}`, done).map(({ text }) => text),
      ['Back to the list'],
    );
  });

  it('stays on the list with its conditions if no row is checked', async () => {
    const listed = await browser.get(`${LIST}?suspended=no`);
    const sent = await browser.submitFrom(listed, `${SELECTION}?suspended=no`, { action: 'suspend' });
    assert.equal(sent.headers.location, `${LIST}?suspended=no`);
    assert.match(textOf(await browser.follow(sent)), /No user group is checked, so nothing was done\./);
  });

  it('refuses a review of more rows than a page has, a result without any, and readers', async () => {
    assert.equal((await browser.post(APPLY, { csrf: await csrf(), action: 'suspend' })).status, 400);
    assert.equal((await review('suspend', ...Array.from({ length: 51 }, (_, id) => `${id}`))).status, 400);
    assert.equal((await review('delete', 'one')).status, 400);
    const { token } = await service.apiToken({ permission: 'read-only' });
    const reader = await ConsoleBrowser.signIn(service, token);
    assert.doesNotMatch((await reader.get(LIST)).text, /checkbox/);
  });

  it('names each row by the id, also beside a check box', async () => {
    await create('named');
    const { token } = await service.apiToken({ permission: 'read-only' });
    for (const person of [browser, await ConsoleBrowser.signIn(service, token)]) {
      const elements = elementsOf((await person.get(`${LIST}?search=named`)).text);
      const header = elements.find(({ attributes }) => attributes.scope === 'row');
      assert.deepEqual([header?.text, header?.attributes['aria-label']], ['named', 'named']);
    }
  });

  it('exports all pages of the current list as CSV, with formulas escaped', async () => {
    const { token } = await service.apiToken({ workspaceName: 'exported', permission: 'read-only' });
    const names = ['=1+1', '+1', '-1', '@a', 'a;=1+1', 'a; "-1', 'a "quoted"; text', 'plain'];
    const groups = Array.from({ length: 1_000 }, (_, index) => [
      `id-${String(index).padStart(4, '0')}`,
      {
        name: names[index % names.length]!,
        properties: '{"a":"b;=1+1","plan":"go\\n=1+1","seats":[1]}' as JsonText,
        ...(index === 7 && { suspendedAt: 1 }),
      },
    ]);
    await storeUserGroups(service.app.context.store, 'exported', Object.fromEntries(groups));
    const reader = await ConsoleBrowser.signIn(service, token, { hasAnyText: true });
    const all = await reader.get(`${LIST}/-/export`);
    assert.equal(all.headers['content-type'], 'text/csv; charset=utf-8');
    assert.equal(all.headers['content-disposition'], 'attachment; filename="user-groups-customer.csv"');
    // Spreadsheets read a file without a byte order mark in the encoding of the system.
    assert.ok(all.text.startsWith('\ufeffuser_group_id,'), all.text.slice(0, 20));
    const rows = parse(all.text, { bom: true, columns: true }) as Record<string, string>[];
    assert.equal(rows.length, 1_000);
    assert.deepEqual(
      rows.slice(0, names.length).map(({ name }) => name),
      ["'=1+1", "'+1", "'-1", "'@a", "a;'=1+1", `a; "'-1`, 'a "quoted"; text', 'plain'],
    );
    assert.deepEqual(JSON.parse(rows[0]!.properties!), { a: 'b;=1+1', plan: 'go\n=1+1', seats: [1] });
    // Spreadsheets whose separator is a semicolon also split the lines at those within a cell.
    assert.doesNotMatch(all.text, /;["\s]*[=+@-]/);
    const columns = new URLSearchParams({ suspended: 'yes', columns: 'a, plan, seats, none, ;=1+1' });
    const chosen = await reader.get(`${LIST}/-/export?${columns}`);
    assert.doesNotMatch(chosen.text, /[;\n]["\s]*[=+@-]/);
    const [header, cells] = parse(chosen.text, { bom: true }) as string[][];
    assert.deepEqual(
      [header!.slice(-5), cells!.slice(-5)],
      [
        ['properties.a', 'properties.plan', 'properties.seats', 'properties.none', "properties.;'=1+1"],
        ["b;'=1+1", 'go =1+1', '[1]', '', ''],
      ],
    );
    const suspended = await reader.get(`${LIST}/-/export?suspended=yes`);
    assert.deepEqual(
      (parse(suspended.text, { bom: true, columns: true }) as Record<string, string>[]).map(
        (row) => row.user_group_id,
      ),
      ['id-0007'],
    );
  });

  it('ends an export that a browser reads slowly when its API token is revoked', async () => {
    const { id, token } = await service.apiToken({ workspaceName: 'revoked', permission: 'read-only' });
    const properties = JSON.stringify({ text: 'x'.repeat(32_000) }) as JsonText;
    const groups = Array.from({ length: 1_000 }, (_, index) => [`id-${index}`, { properties }]);
    await storeUserGroups(service.app.context.store, 'revoked', Object.fromEntries(groups));
    const { cookie } = await ConsoleBrowser.signIn(service, token);
    const [response] = (await once(
      get(`${service.url}${LIST}/-/export`, { headers: { cookie } }),
      'response',
    )) as [IncomingMessage];
    await once(response, 'readable');
    await service.revokeApiToken(id);
    await assert.rejects(response.toArray(), { code: 'ECONNRESET' });
  });

  it('does not report an export as a bug that a browser cancels before it begins', async () => {
    // The channel of nextResponse() has only the requests of this thread.
    await using service = await TestService.start(database, { env: { UGS_THREADS: '1' } });
    const { token } = await service.apiToken({ workspaceName: 'cancelled', permission: 'read-only' });
    const reader = await ConsoleBrowser.signIn(service, token);
    service.logLines.length = 0;
    for (let cancelled = 0; cancelled < 5; cancelled++) {
      const arrived = nextResponse();
      const request = get(`${service.url}${LIST}/-/export`, { headers: { cookie: reader.cookie } });
      request.on('error', () => {});
      const response = await arrived;
      request.destroy();
      await once(response, 'close');
    }
    assert.equal((await reader.get(`${LIST}/-/export`)).status, 200);
    const bugs = service.logEntries.filter(({ level }) => level >= 50);
    assert.deepEqual(bugs, []);
  });
});

/** Resolves when the next request arrives, with its response. */
function nextResponse(): Promise<ServerResponse> {
  const channel = 'http.server.request.start';
  return new Promise((resolve) => {
    const receive = (message: unknown) => {
      unsubscribe(channel, receive);
      resolve((message as { response: ServerResponse }).response);
    };
    subscribe(channel, receive);
  });
}
