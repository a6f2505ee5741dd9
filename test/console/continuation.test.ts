// The console keeps what a person typed before a session ended, and the other sessions, and shows only
// notices that are true.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LAST_CPU_TURN_AFTER_MS } from '../../src/http/endpoint.ts';
import { GRACE_MS, TURN_BYTES } from '../../src/operations/machinery/cpu-queue.ts';
import { ConsoleBrowser, fieldsOf } from '../support/console.ts';
import { checkMarkup, textOf, unescaped } from '../support/console-page.ts';
import { describeOnEachDatabase, postgres } from '../support/database.ts';
import { FaultProxy } from '../support/faults/proxy.ts';
import { elementsOf } from '../support/html.ts';
import { send, type TestResponse } from '../support/http.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { startStopwatch } from '../support/starvation.ts';

const GROUPS = '/console/user-groups';
const NEW = `${GROUPS}/-/new`;
/** A request waits twice for the CPU. */
const MAX_WAIT_MS = 2 * LAST_CPU_TURN_AFTER_MS + GRACE_MS + 1_000;

describeOnEachDatabase('A person in the console', (database) => {
  const service = TestService.of(database);

  function noticeOf({ text }: TestResponse): string | undefined {
    return elementsOf(text).find(({ attributes }) => attributes.class === 'notice')?.text;
  }

  async function create(id: string): Promise<string> {
    await service.get({ user_group_id: id, name: 'Acme' });
    return `${GROUPS}/${id}`;
  }

  it('keeps what was typed when the session ends, and sends nothing before it is confirmed', async () => {
    const group = await create('typed');
    const browser = await ConsoleBrowser.signIn(service);
    const form = await browser.get(`${group}/edit`);
    browser.forgetCookies();
    const secret = 'typed & <kept>';
    const asked = await browser.submitFrom(form, `${group}/review`, { name: secret });
    assert.equal(asked.status, 401);
    checkMarkup(asked);
    const alert = elementsOf(asked.text).find(({ attributes }) => attributes.role === 'alert');
    assert.match(alert!.text, /Your session has ended, so nothing was done/);
    assert.match(textOf(asked), /What you typed is kept for an hour/);
    assert.ok(!asked.text.includes('kept&#62;') && !asked.text.includes(service.token));
    const rejected = await browser.submitFrom(asked, `${group}/review`, { api_token: 'uga_wrong' });
    assert.equal(rejected.status, 401);
    assert.match(textOf(rejected), /API token is not valid: .* What you typed is kept for an hour/);
    const shown = await browser.submitFrom(rejected, `${group}/review`, { api_token: service.token });
    assert.equal(shown.status, 200, shown.text);
    assert.match(textOf(shown), /nothing was done. Check it, and send it again/);
    assert.equal(fieldsOf(shown.text, `${group}/review`).name, secret);
    const review = await browser.submitFrom(shown, `${group}/review`);
    await browser.submitFrom(review, `${group}/save`);
    const { json } = await service.call('GET', '/v1/user-groups/typed');
    assert.deepEqual([json.user_group.name, json.user_group.version], [secret, 2]);
  });

  it('waits no longer than other requests after the session of a large form ends while the CPU is busy', async () => {
    const { cpu } = service.app.context;
    const elapsedMs = startStopwatch();
    let isDone = false;
    const occupy = async (): Promise<void> => {
      while (!isDone && elapsedMs() < 2 * MAX_WAIT_MS) {
        await cpu.until(performance.now() + LAST_CPU_TURN_AFTER_MS).turn(TURN_BYTES);
        const endAt = performance.now() + 10;
        while (performance.now() < endAt);
      }
    };
    const occupied = Promise.allSettled(Array.from({ length: 20 }, occupy));
    const body = new URLSearchParams({ name: 'x'.repeat(300_000) });
    const headers = { 'sec-fetch-site': 'same-origin' };
    const sent = send(service.url, { method: 'POST', path: `${GROUPS}/large/review`, body, headers });
    assert.ok([401, 503].includes((await sent).status));
    const tookMs = elapsedMs();
    isDone = true;
    await occupied;
    assert.ok(tookMs < MAX_WAIT_MS, `${tookMs} ms`);
  });

  it('repeats no action by signing in again', async () => {
    const group = await create('action');
    for (const action of ['rotate', 'suspend', 'delete', 'save']) {
      const browser = await ConsoleBrowser.signIn(service);
      const opened = await browser.get(action === 'save' ? `${group}/edit` : `${group}/${action}`);
      const typed = {
        ...fieldsOf(opened.text, action === 'save' ? `${group}/review` : `${group}/${action}`),
      };
      browser.forgetCookies();
      const asked = await browser.post(`${group}/${action}`, {
        ...typed,
        reason: 'leak',
        user_group_id: 'action',
      });
      assert.equal(asked.status, 401, action);
      const again = await browser.submitFrom(asked, `${group}/${action}`, { api_token: service.token });
      assert.equal(again.status, 200, action);
    }
    const browser = await ConsoleBrowser.signIn(service);
    const { csrf } = fieldsOf((await browser.get(group)).text, `${group}/token`);
    browser.forgetCookies();
    const token = await browser.post(`${group}/token`, { csrf: csrf! });
    assert.equal(token.headers.location, `/console/sign-in?next=${encodeURIComponent(`${group}/token`)}`);
    const { json } = await service.call('GET', '/v1/user-groups/action/events');
    assert.equal(json.events.length, 1);
  });

  it('gets the form back that was opened before signing in again in another tab', async () => {
    const group = await create('tab');
    const browser = await ConsoleBrowser.signIn(service);
    const form = await browser.get(`${group}/edit`);
    const again = await ConsoleBrowser.signIn(service);
    const shown = await again.submitFrom(form, `${group}/review`, { name: 'Typed' });
    assert.equal(shown.status, 403);
    assert.equal(fieldsOf(shown.text, `${group}/review`).name, 'Typed');
    assert.equal((await again.submitFrom(shown, `${group}/review`)).status, 200);
  });

  it('is told why a confirmation that was opened before signing in again did nothing', async () => {
    const { id, token } = await service.apiToken({ permission: 'admin' });
    const path = `/console/api-tokens/${id}/revoke`;
    const form = await (await ConsoleBrowser.signIn(service, token)).get(path);
    const refused = await (await ConsoleBrowser.signIn(service, token)).submitFrom(form, path);
    assert.equal(refused.status, 403);
    assert.match(textOf(refused), /You have signed in again since this form was opened, so nothing was done/);
  });

  it('gets the form back after switching to an API token without the permission, and back', async () => {
    const group = await create('switched');
    const { token } = await service.apiToken({ permission: 'read-only' });
    const [writer, reader] = [
      await ConsoleBrowser.signIn(service),
      await ConsoleBrowser.signIn(service, token),
    ];
    const form = await writer.get(`${group}/edit`);
    const refused = await reader.submitFrom(form, `${group}/review`, { name: 'Typed' });
    assert.equal(refused.status, 403);
    assert.match(textOf(refused), /this requires read-write\. What you typed is kept, for an hour/);
    const shown = await writer.submitFrom(refused, `${group}/review`);
    assert.match(textOf(shown), /refused or not answered when you sent it/);
    assert.equal(fieldsOf(shown.text, `${group}/review`).name, 'Typed');
  });

  it('is never shown a form in another workspace or environment than that of the form', async () => {
    const group = await create('tenant');
    const { token: other } = await service.apiToken({ workspaceName: 'other tenant' });
    const browser = await ConsoleBrowser.signIn(service);
    const form = await browser.get(`${group}/edit`);
    const elsewhere = await ConsoleBrowser.signIn(service, other);
    const refused = await elsewhere.submitFrom(form, `${group}/review`, { name: 'Typed' });
    assert.equal(refused.status, 403);
    assert.ok(!refused.text.includes('Typed'));
    assert.match(textOf(refused), /switch back in another tab, and reload this page to send the form again/);
    assert.equal((await browser.submitFrom(form, `${group}/review`, { name: 'Typed' })).status, 200);
    browser.forgetCookies();
    const asked = await browser.submitFrom(form, `${group}/review`, { name: 'Typed' });
    const signedIn = await browser.submitFrom(asked, `${group}/review`, { api_token: other });
    assert.equal(signedIn.status, 403);
    assert.ok(!signedIn.text.includes('Typed'));
    assert.match(textOf(signedIn), /API token is of another workspace or environment than the form/);
    assert.equal((await browser.get(group)).status, 303, 'not signed in');
    const shown = await browser.submitFrom(signedIn, `${group}/review`, { api_token: service.token });
    assert.equal(fieldsOf(shown.text, `${group}/review`).name, 'Typed');
  });

  it('is not shown a form that the API token with which they sign in again may not submit', async () => {
    const group = await create('permission');
    const { token: reader } = await service.apiToken({ permission: 'read-only' });
    const browser = await ConsoleBrowser.signIn(service);
    const form = await browser.get(`${group}/edit`);
    browser.forgetCookies();
    const asked = await browser.submitFrom(form, `${group}/review`, { name: 'Typed' });
    const signedIn = await browser.submitFrom(asked, `${group}/review`, { api_token: reader });
    assert.equal(signedIn.status, 403);
    assert.match(
      textOf(signedIn),
      /with the permission read-only may not update user groups; this requires read-write/,
    );
    assert.ok(!signedIn.text.includes('Typed'));
    assert.equal((await browser.get(group)).status, 303, 'not signed in');
    const shown = await browser.submitFrom(signedIn, `${group}/review`, { api_token: service.token });
    assert.equal(fieldsOf(shown.text, `${group}/review`).name, 'Typed');
  });

  it('is not shown a form that was kept for another page, forged, or kept too long', async () => {
    const group = await create('bound');
    const browser = await ConsoleBrowser.signIn(service);
    const form = await browser.get(`${group}/edit`);
    browser.forgetCookies();
    const asked = await browser.submitFrom(form, `${group}/review`, { name: 'Typed' });
    const { kept_form: kept } = fieldsOf(asked.text, `${group}/review`);
    assert.doesNotMatch(kept!, /_/, 'cannot have the form of a token');
    const fields = { api_token: service.token };
    for (const [path, kept_form] of [
      [`${group}/save`, kept!],
      [`${group}/review`, `${kept}x`],
      [NEW, 'x.y'],
    ] as const) {
      const response = await browser.post(path, { ...fields, kept_form });
      assert.equal(response.status, 403);
      assert.match(textOf(response), /has expired, and nothing was done/);
      browser.forgetCookies();
    }
    service.clockAheadMs = 3_600_001;
    const late = await browser.post(`${group}/review`, { ...fields, kept_form: kept! });
    assert.match(textOf(late), /has expired, and nothing was done/);
    assert.equal((await browser.get(group)).status, 200, 'signed in');
    service.clockAheadMs = 0;
    const large = await browser.post(`${group}/review`, { name: 'x'.repeat(1_100_000) });
    assert.equal(large.status, 413);
  });

  it('reads a notice once, on the page of the action, and not because an address claims it', async () => {
    const group = await create('notice');
    const browser = await ConsoleBrowser.signIn(service);
    for (const key of ['rotated', 'suspended', 'token_current'])
      assert.equal(noticeOf(await browser.get(`${group}?done=${key}`)), undefined);
    const saved = await browser.submit(`${group}/suspend`, `${group}/suspend`);
    assert.equal(saved.headers.location, group);
    const other = await browser.get(GROUPS);
    assert.equal(noticeOf(other), undefined);
    assert.match(noticeOf(await browser.follow(saved))!, /is suspended/);
    assert.equal(noticeOf(await browser.follow(saved)), undefined);
    const again = await browser.submit(group, `${group}/resume`);
    await browser.post('/console/sign-in', { api_token: service.token });
    assert.equal(noticeOf(await browser.follow(again)), undefined);
    await browser.submit(`${group}/suspend`, `${group}/suspend`);
    const resumed = await browser.submit(group, `${group}/resume`);
    service.clockAheadMs = 61_000;
    assert.equal(noticeOf(await browser.follow(resumed)), undefined);
    service.clockAheadMs = 0;
  });

  it('switches between the API tokens that they have signed in with, each a session of its own', async () => {
    const browser = await ConsoleBrowser.signIn(service);
    const tokens: string[] = [];
    for (const workspaceName of ['north', 'south']) {
      const { token } = await service.apiToken({ workspaceName, environment: 'Testing' });
      tokens.push(token);
      const page = await browser.get('/console/sign-in?another=1');
      const signedIn = await browser.submitFrom(page, '/console/sign-in', { api_token: token });
      const home = await browser.follow(await browser.follow(signedIn));
      assert.match(home.text, new RegExp(`· ${workspaceName}, Testing ·`));
    }
    const list = await browser.get('/console/sessions');
    assert.match(textOf(list), /south Testing .* active .*Customer .* Switch .*north Testing .* Switch /);
    assert.match(list.text, /aria-label="Switch to north, Testing"/);
    const { csrf } = fieldsOf(list.text, '/console/sign-out');
    const switched = await browser.post('/console/sessions/switch', { csrf: csrf!, slot: '2' });
    assert.match((await browser.follow(switched)).text, /· north, Testing ·/);
    const after = await browser.get('/console/sessions');
    assert.match(textOf(after), /north Testing .* active .* south Testing .* Switch/);
    for (const token of tokens) assert.ok(!after.text.includes(token.slice(8, 24)));
    assert.equal((await browser.post('/console/sessions/switch', { csrf: csrf!, slot: '1' })).status, 403);
    // Signing in again with the same API token takes no further slot, and there are at most five slots.
    const signInAgain = async (api_token: string) =>
      browser.submitFrom(await browser.get('/console/sign-in?another=1'), '/console/sign-in', { api_token });
    const countOthers = async () =>
      textOf(await browser.get('/console/sessions')).match(/ Switch(?! workspace)/g)?.length;
    for (let time = 0; time < 2; time++) {
      await signInAgain(tokens[1]!);
      assert.equal(await countOthers(), 2);
    }
    for (let index = 0; index < 4; index++)
      await signInAgain((await service.apiToken({ workspaceName: 'many', name: `n${index}` })).token);
    const { id, token } = await service.apiToken({ workspaceName: 'many', name: 'revoked' });
    await signInAgain(token);
    assert.match(textOf(await browser.get('/console/sessions')), / revoked /);
    await signInAgain((await service.apiToken({ workspaceName: 'many', name: 'n4' })).token);
    await service.revokeApiToken(id);
    const many = textOf(await browser.get('/console/sessions'));
    assert.deepEqual([many.match(/ Switch(?! workspace)/g)?.length, many.match(/ n\d /g)?.length], [3, 4]);
    const { csrf: last } = fieldsOf((await browser.get(GROUPS)).text, '/console/sign-out');
    await browser.post('/console/sign-out', { csrf: last! });
    assert.equal(browser.cookie, '');
    const signedOut = await browser.get('/console/sessions');
    assert.equal(signedOut.headers.location, '/console/sign-in?next=%2Fconsole%2Fsessions');
  });

  it('leads back to the page that a person came from, to compare two environments', async () => {
    const browser = await ConsoleBrowser.signIn(service);
    const { token } = await service.apiToken({ environment: 'Testing' });
    const page = await browser.get('/console/sign-in?another=1');
    await browser.submitFrom(page, '/console/sign-in', { api_token: token });
    const sessionsAfter = (referer: string) => browser.get('/console/sessions', { referer });
    const path = `${GROUPS}/a%2Fb?x=1`;
    const list = await sessionsAfter(`${service.url}${path}`);
    const another = `another=1&${new URLSearchParams({ next: path })}`;
    assert.ok(unescaped(list.text).includes(`"/console/sign-in?${another}"`));
    const switched = await browser.submitFrom(list, '/console/sessions/switch');
    assert.equal(switched.headers.location, path);
    const page2 = await sessionsAfter(`${service.url}${GROUPS}?search=a&cursor=c&pages=-&start=s&shown=3`);
    assert.equal(fieldsOf(page2.text, '/console/sessions/switch').next, `${GROUPS}?search=a`);
    for (const other of ['/console/sessions', '/docs', `${GROUPS}/${token}`])
      assert.equal(
        fieldsOf((await sessionsAfter(`${service.url}${other}`)).text, '/console/sessions/switch').next,
        GROUPS,
      );
  });
});

it('A person in the console keeps what was typed while the database is unreachable', async () => {
  const database = await postgres.create();
  await using proxy = await FaultProxy.start(database.url);
  await using service = await TestService.start(postgres, { database, env: { DATABASE_URL: proxy.url } });
  const browser = await ConsoleBrowser.signIn(service);
  await service.get({ user_group_id: 'acme', name: 'Acme' });
  const [edit, review] = [`${GROUPS}/acme/edit`, `${GROUPS}/acme/review`];
  const form = await browser.get(edit);
  await proxy.refuse();
  const first = await browser.submitFrom(form, review, { name: 'Typed' });
  const second = await browser.submitFrom(first, review);
  for (const refused of [first, second]) {
    assert.equal(refused.status, 503);
    assert.match(textOf(refused), /What you typed is kept/);
    assert.ok(!refused.text.includes('Typed'));
  }
  await proxy.accept();
  const shown = await eventually('the form', async () => {
    const page = await browser.submitFrom(second, review);
    return page.status === 503 ? null : page;
  });
  const signedOut = await ConsoleBrowser.signIn(service);
  signedOut.forgetCookies();
  const asked = await signedOut.submitFrom(second, review);
  assert.equal(asked.status, 401);
  assert.doesNotMatch(textOf(asked), /not valid/);
  const signedIn = await signedOut.submitFrom(asked, review, { api_token: service.token });
  assert.equal(fieldsOf(signedIn.text, review).name, 'Typed');
  assert.match(textOf(shown), /This form was refused or not answered when you sent it/);
  assert.equal(fieldsOf(shown.text, review).name, 'Typed');
  const reviewed = await browser.submitFrom(shown, review);
  await browser.submitFrom(reviewed, `${GROUPS}/acme/save`);
  const { json } = await service.call('GET', '/v1/user-groups/acme');
  assert.deepEqual([json.user_group.name, json.user_group.version], ['Typed', 2]);
});
