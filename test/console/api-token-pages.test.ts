// API tokens in the console: their texts are shown once, to the form that issued them.

import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { ConsoleBrowser, fieldsOf, newWorkspace } from '../support/console.ts';
import { errorOf, openForm, textOf } from '../support/console-page.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { elementsOf } from '../support/html.ts';
import type { TestResponse } from '../support/http.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const LIST = '/console/api-tokens';
const NEW = `${LIST}/-/new`;
const HOUR_MS = 3_600_000;

/** Returns the text of the API token on the page, which is masked, and readable without JavaScript. */
function issuedOn(page: TestResponse): string {
  assert.equal(page.status, 200, page.text);
  const elements = elementsOf(page.text);
  const { type, value } = elements.find(({ attributes }) => attributes.id === 'secret')!.attributes;
  assert.equal(type, 'password');
  assert.match(value!, /^uga_/);
  assert.equal(elements.find(({ name }) => name === 'noscript')?.text.trim(), `Show${value}`);
  return value!;
}

describeOnEachDatabase('API tokens in the console', (database) => {
  const service = TestService.of(database);
  afterEach(() => {
    service.clockAheadMs = 0;
  });

  async function newAdmin() {
    const { workspaceName, id, token, browser, call } = await newWorkspace(service);
    const list = async () => (await call('GET', '/v1/api-tokens')).json.api_tokens;
    const other = async (permission: 'read-only' | 'read-write' | 'admin' = 'admin') =>
      service.apiToken({ permission, workspaceName, name: `other ${permission}` });
    return { id, token, browser, list, other };
  }

  /** Returns the status of a request that every permission allows. */
  async function statusWith(token: string): Promise<number> {
    return (await service.resolve('ugt_unknown', { token })).status;
  }

  it('creates an API token, and shows its text once', async () => {
    const { browser, list } = await newAdmin();
    const sent = {
      ...(await openForm(browser, NEW)),
      name: 'dashboard server',
      permission: 'resolve',
      expires_in_seconds: '86400',
    };
    const issued = await browser.post(NEW, sent);
    assert.equal(await statusWith(issuedOn(issued)), 404);
    const [, created] = await list();
    assert.deepEqual(
      [created.name, created.permission, created.status],
      ['dashboard server', 'resolve', 'active'],
    );
    const lifetimeMs = Date.parse(created.expires_at) - Date.parse(created.created_at);
    assert.ok(Math.abs(lifetimeMs - 86_400_000) < 10_000, `${lifetimeMs} ms`);
    const page = await browser.get(`${LIST}/${created.api_token_id}`);
    assert.match(textOf(page), /API token dashboard server .* Permission resolve .* active/);
    for (const path of [LIST, `${LIST}/${created.api_token_id}`, `${LIST}/${created.api_token_id}/rotate`])
      assert.doesNotMatch((await browser.get(path)).text, /uga_/);
  });

  it('distinguishes a creator with the name of another, or of the command line', async () => {
    const { browser, call } = await newWorkspace(service);
    // The last character would reverse the number that follows.
    const fields = { name: 'Command line\u202e', permission: 'admin' };
    const imitator = (await call('POST', '/v1/api-tokens', fields)).json.api_token;
    const created = await service.call('POST', '/v1/api-tokens', fields, { token: imitator.token });
    const page = await browser.get(`${LIST}/${created.json.api_token.api_token_id}`);
    assert.match(
      textOf(page),
      new RegExp(`by \u2068Command line\u202e\u2069 \\(${imitator.api_token_id}\\)`),
    );
  });

  it('creates one API token per form, however often it is sent', async () => {
    const { browser, list } = await newAdmin();
    const sent = { ...(await openForm(browser, NEW)), name: 'once', permission: 'embed' };
    const [one, two] = await Promise.all([browser.post(NEW, sent), browser.post(NEW, sent)]);
    assert.deepEqual([one.status, two.status].sort(), [200, 412]);
    // Reloading the response submits the form again.
    const again = await browser.post(NEW, sent);
    assert.equal(again.status, 412);
    assert.match(textOf(again), /This form was sent before/);
    assert.doesNotMatch(again.text, /uga_/);
    assert.equal((await list()).length, 2);
    // The response contains a new form.
    issuedOn(await browser.submitFrom(again, NEW));
    assert.equal((await list()).length, 3);
  });

  it('accepts no text of an API token that it has not generated', async () => {
    const { browser, list } = await newAdmin();
    const opened = await openForm(browser, NEW);
    for (const sealed of ['', 'uga_short', opened.sealed!.slice(0, -4), '.', 'a.b.c']) {
      const page = await browser.post(NEW, { ...opened, name: 'x', permission: 'embed', sealed });
      assert.equal(page.status, 412, sealed);
      assert.match(textOf(page), /This form is too old/);
    }
    assert.equal((await list()).length, 1);
  });

  it('shows what a person typed, and the errors of the API beside the fields', async () => {
    const { browser, list } = await newAdmin();
    const valid = { name: 'x', permission: 'embed', expires_in_seconds: '' };
    const cases: [fields: Record<string, string>, field: string, error: RegExp][] = [
      [{ name: '' }, 'name', /is required/],
      [{ name: ' ' }, 'name', /only white space/],
      [{ permission: '' }, 'permission', /is required/],
      [{ permission: 'root' }, 'permission', /must be one of admin/],
      [{ expires_in_seconds: '0' }, 'expires_in_seconds', /at least 1/],
      [{ expires_in_seconds: 'soon' }, 'expires_in_seconds', /must be an integer/],
    ];
    for (const [fields, field, error] of cases) {
      const opened = await openForm(browser, NEW);
      const page = await browser.post(NEW, { ...opened, ...valid, ...fields });
      assert.equal(page.status, 400, JSON.stringify(fields));
      assert.match(errorOf(page, field) ?? '', error);
      const kept = fieldsOf(page.text, NEW);
      assert.equal(kept.name, { ...valid, ...fields }.name);
      assert.equal(kept.sealed, opened.sealed);
    }
    assert.equal((await list()).length, 1);
  });

  it('lists API tokens with what they may do and when they were used, page by page', async () => {
    const { browser, id, other } = await newAdmin();
    for (let number = 0; number < 50; number++) await other('read-only');
    const page = await browser.get(LIST);
    assert.equal(textOf(page).match(/other read-only/g)?.length, 50, 'the newest first');
    const linkOf = ({ text: html }: { text: string }, wanted: string) =>
      elementsOf(html).find(({ name, text }) => name === 'a' && text === wanted)?.attributes.href;
    assert.equal(linkOf(page, 'Previous page'), undefined);
    const last = await browser.get(linkOf(page, 'Next page')!);
    const [row] = /mine \d+ admin active of this session Command line .{5,20} never/.exec(textOf(last)) ?? [];
    assert.ok(row?.includes(String(id)), textOf(last));
    assert.equal(textOf(await browser.get(linkOf(last, 'Previous page')!)), textOf(page));
    const cursor = new URLSearchParams(linkOf(page, 'Next page')!.split('?')[1]).get('cursor')!;
    const shared = await browser.get(`${LIST}?${new URLSearchParams({ cursor })}`);
    assert.equal(linkOf(shared, 'First page'), LIST);
  });

  it('says that the last use is known to the hour', async () => {
    const { browser, id } = await newAdmin();
    await service.writeUsage();
    for (const action of ['', '/rotate', '/revoke'])
      assert.match(
        textOf(await browser.get(`${LIST}/${id}${action}`)),
        /Last used:? \d{4}-\d\d-\d\d \d\d:00 UTC ?, to the hour/,
      );
    assert.match(textOf(await browser.get(LIST)), /The last use is recorded to the hour/);
  });

  it('says what became of an API token that does not exist here, instead of a dead end', async () => {
    const { browser } = await newAdmin();
    const { id } = await service.apiToken({ permission: 'admin' });
    for (const action of ['', '/rotate', '/revoke']) {
      const page = await browser.get(`${LIST}/${id}${action}`);
      assert.equal(page.status, 404);
      assert.match(
        textOf(page),
        /The API token does not exist .* Switch workspace or environment Last events No events/,
      );
    }
  });

  it('rotates an API token once per form, with a grace period', async () => {
    const { browser, other } = await newAdmin();
    const { id, token } = await other('read-only');
    const path = `${LIST}/${id}/rotate`;
    const sent = { ...(await openForm(browser, path)), grace_period_seconds: '3600' };
    const issued = issuedOn(await browser.post(path, sent));
    assert.deepEqual([await statusWith(token), await statusWith(issued)], [404, 404]);
    assert.match(textOf(await browser.get(`${LIST}/${id}`)), /Replaced text valid until/);
    const again = await browser.post(path, sent);
    assert.equal(again.status, 412);
    assert.match(textOf(again), /API token was changed after you opened this page, so nothing was done/);
    assert.equal(await statusWith(issued), 404);
    service.clockAheadMs = HOUR_MS;
    assert.deepEqual([await statusWith(token), await statusWith(issued)], [401, 404]);
    service.clockAheadMs = 0;
    const third = issuedOn(await browser.submitFrom(again, path, { grace_period_seconds: '0' }));
    assert.deepEqual(
      [await statusWith(token), await statusWith(issued), await statusWith(third)],
      [401, 401, 404],
    );
  });

  it('does not rotate an API token, which may have leaked, before a person chooses a grace period', async () => {
    const { browser, other } = await newAdmin();
    const { id } = await other();
    const path = `${LIST}/${id}/rotate`;
    const rejected = await browser.submit(path, path);
    assert.equal(rejected.status, 400);
    assert.match(errorOf(rejected, 'grace_period_seconds')!, /must be chosen/);
    const rotated = await browser.submitFrom(rejected, path, { grace_period_seconds: '0' });
    assert.equal(rotated.status, 200);
  });

  it('rotates exactly once if a form is sent twice at the same time', async () => {
    const { browser, call } = await newWorkspace(service);
    const created = await call('POST', '/v1/api-tokens', { name: 'other', permission: 'admin' });
    const path = `${LIST}/${created.json.api_token.api_token_id}/rotate`;
    const sent = { ...(await openForm(browser, path)), grace_period_seconds: '0' };
    // On a busy machine, one may fail after it has rotated.
    const responses = await Promise.all([1, 2, 3].map(() => served(() => browser.post(path, sent))));
    const rotated = responses.filter(({ status }) => status === 200).length;
    assert.ok(rotated <= 1, `${rotated} rotations`);
    assert.equal(responses.filter(({ status }) => status === 412).length, 3 - rotated);
    const { json } = await call('GET', '/v1/events?type=api_token.rotated');
    assert.equal(json.events.length, 1);
  });

  it('stays signed in when it rotates the API token of the session', async () => {
    const { browser, id, token } = await newAdmin();
    const path = `${LIST}/${id}/rotate`;
    const page = await browser.submit(path, path, { grace_period_seconds: '0' });
    assert.match(textOf(page), /You stay signed in/);
    assert.deepEqual([await statusWith(token), await statusWith(issuedOn(page))], [401, 404]);
    assert.equal((await browser.get(LIST)).status, 200);
    assert.equal((await browser.submitFrom(page, '/console/sign-out')).status, 303);
  });

  it('keeps the grace period that a person chose if it is rejected', async () => {
    const { browser, id } = await newAdmin();
    const path = `${LIST}/${id}/rotate`;
    const page = await browser.submit(path, path, { grace_period_seconds: 'long' });
    assert.equal(page.status, 400);
    assert.match(errorOf(page, 'grace_period_seconds')!, /must be an integer/);
  });

  it('does not rotate a text that a person has not seen, even after an error in the form', async () => {
    const { browser, other } = await newAdmin();
    const { id } = await other();
    const path = `${LIST}/${id}/rotate`;
    const opened = await openForm(browser, path);
    await browser.submit(path, path, { grace_period_seconds: '0' });
    const rejected = await browser.post(path, { ...opened, grace_period_seconds: 'long' });
    assert.equal((await browser.submitFrom(rejected, path, { grace_period_seconds: '0' })).status, 412);
  });

  it('says who created an API token, and warns two weeks before it expires', async () => {
    const { browser } = await newAdmin();
    for (const [name, seconds] of [
      ['soon', '86400'],
      ['later', '2592000'],
    ] as const) {
      const created = await browser.submit(NEW, NEW, {
        name,
        permission: 'resolve',
        expires_in_seconds: seconds,
      });
      assert.equal(created.status, 200, created.text);
    }
    const text = textOf(await browser.get(LIST));
    assert.match(text, /soon \d+ resolve active mine \(\d+\) never \S+ \S+ UTC in a day/);
    assert.match(text, /later \d+ resolve active mine \(\d+\) never \S+ \S+ UTC soon/);
  });

  it('revokes an API token after asking for confirmation', async () => {
    const { browser, other, list } = await newAdmin();
    const { id, token } = await other();
    const path = `${LIST}/${id}/revoke`;
    const question = await browser.get(path);
    assert.match(textOf(question), /Whatever uses it \(admin\) is rejected.*Last used: never/);
    assert.doesNotMatch(textOf(question), /signed in with|No other active/);
    assert.equal((await browser.submitFrom(question, path)).headers.location, LIST);
    assert.equal(await statusWith(token), 401);
    assert.doesNotMatch(textOf(await browser.get(LIST)), /other admin/);
    const revoked = await browser.get(`${LIST}?revoked=yes`);
    assert.match(textOf(revoked), /other admin \d+ admin revoked/);
    assert.doesNotMatch(textOf(revoked), /mine/);
    const page = await browser.get(`${LIST}/${id}`);
    assert.doesNotMatch(page.text, /\/(?:rotate|revoke)"/);
    const chosen = { grace_period_seconds: '0' };
    const rotation = await browser.submit(`${LIST}/${id}/rotate`, `${LIST}/${id}/rotate`, chosen);
    assert.equal(rotation.status, 409);
    assert.match(textOf(rotation), /This API token is revoked/);
    assert.equal((await list()).length, 2);
  });

  it('warns before it revokes the API token of the session, which signs out', async () => {
    const { browser, id } = await newAdmin();
    const path = `${LIST}/${id}/revoke`;
    assert.match(
      textOf(await browser.get(path)),
      /You are signed in with this API token.*No other active API token .* has the permission admin/,
    );
    const revoked = await browser.submit(path, path);
    const { status, headers } = await browser.follow(revoked);
    assert.equal(status, 303);
    assert.match(headers.location!, /^\/console\/sign-in/);
  });

  it('is for administrators only', async () => {
    const { id, other, list } = await newAdmin();
    for (const permission of ['read-only', 'read-write'] as const) {
      const reader = await ConsoleBrowser.signIn(service, (await other(permission)).token);
      const home = await reader.get('/console/user-groups');
      assert.doesNotMatch(home.text, /\/console\/api-tokens/);
      const { csrf } = fieldsOf(home.text, '/console/sign-out');
      const paths = [NEW, `${LIST}/${id}/rotate`, `${LIST}/${id}/revoke`];
      for (const path of [LIST, `${LIST}/${id}`, ...paths])
        assert.equal((await reader.get(path)).status, 403, path);
      for (const path of paths)
        assert.equal((await reader.post(path, { csrf: csrf!, name: 'x', permission: 'admin' })).status, 403);
    }
    const tokens = await list();
    assert.deepEqual([tokens.length, tokens[0].status], [3, 'active']);
  });

  it('lists the API tokens of one environment', async () => {
    const { workspaceName, browser } = await newWorkspace(service);
    const { token } = await service.apiToken({ permission: 'admin', workspaceName, environment: 'Testing' });
    const testing = await ConsoleBrowser.signIn(service, token);
    for (const each of [browser, testing])
      assert.equal((await each.get(LIST)).text.match(/href="\/console\/api-tokens\/\d+"/g)?.length, 1);
  });
});
