// Webhook endpoints in the console: their secrets, tests and deliveries.

import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { ConsoleBrowser, fieldsOf, newWorkspace } from '../support/console.ts';
import { errorOf, openForm, textOf } from '../support/console-page.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { elementsOf, textOfElement } from '../support/html.ts';
import type { TestResponse } from '../support/http.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { type ReceivedWebhook, Receiver, respondWith } from '../support/webhooks/receiver.ts';
import { advance, env, Tenant } from '../support/webhooks/tenant.ts';

const DAY_MS = 86_400_000;
const LIST = '/console/webhooks';
const NEW = `${LIST}/-/new`;
const API = '/v1/webhook-endpoints';
const ANYWHERE = 'https://crm.example.com/webhooks';

/** Returns the secret on the page, which is masked, and readable without JavaScript. */
function secretOn(page: TestResponse): string {
  assert.equal(page.status, 200, page.text);
  const elements = elementsOf(page.text);
  const input = elements.find(({ attributes }) => attributes.id === 'secret')!;
  assert.equal(input.attributes.type, 'password');
  const secret = input.attributes.value!;
  assert.equal(elements.find(({ name }) => name === 'noscript')?.text.trim(), `Show${secret}`);
  return secret;
}

function isSignedBy(secret: string, { body, headers }: ReceivedWebhook): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

describeOnEachDatabase('Webhooks in the console', (database) => {
  const service = TestService.of(database, { env });
  afterEach(() => {
    service.clockAheadMs = 0;
  });

  async function newTenant() {
    const { token, browser, reader } = await newWorkspace(service);
    return { tenant: new Tenant(service, token), browser, reader };
  }

  /** Creates an endpoint, and waits until the creation of a user group is delivered to it. */
  async function newDelivery({ url }: Receiver) {
    const { tenant, browser } = await newTenant();
    await tenant.endpoint('crm', url);
    await tenant.createGroup('acme');
    const { event_id: eventId } = await tenant.waitFor('crm', ({ state }) => state === 'delivered');
    return { browser, page: `${LIST}/crm`, eventId };
  }

  it('creates an endpoint, and shows its secret once', async () => {
    await using receiver = await Receiver.start();
    const { tenant, browser } = await newTenant();
    const sent = {
      ...(await openForm(browser, NEW)),
      id: 'crm',
      url: receiver.url,
      'event_types.user_group.created': 'on',
      'event_types.user_group.deleted': 'on',
    };
    const secret = secretOn(await browser.post(NEW, sent));
    const { webhook_endpoint: stored } = (await tenant.call('GET', `${API}/crm`)).json;
    assert.deepEqual(
      [stored.url, stored.event_types, stored.enabled],
      [receiver.url, ['user_group.created', 'user_group.deleted'], true],
    );
    // Reloading the response submits the form again.
    const again = await browser.post(NEW, sent);
    assert.equal(again.status, 412);
    assert.match(textOf(again), /Another webhook endpoint has this id/);
    await tenant.createGroup('acme');
    const [webhook] = await receiver.waitFor(1);
    assert.ok(isSignedBy(secret, webhook!));
    for (const path of [LIST, `${LIST}/crm`, `${LIST}/crm/edit`, `${LIST}/crm/rotate`, `${LIST}/crm/delete`])
      assert.doesNotMatch((await browser.get(path)).text, /whsec_/, path);
  });

  it('changes an endpoint, and keeps its secret', async () => {
    const { tenant, browser } = await newTenant();
    await tenant.endpoint('crm', ANYWHERE, ['user_group.created']);
    const edit = `${LIST}/crm/edit`;
    const { 'event_types.user_group.created': _, enabled: __, ...sent } = await openForm(browser, edit);
    const changed = await browser.post(edit, { ...sent, 'event_types.*': 'on' });
    assert.equal(changed.headers.location, `${LIST}/crm`);
    const { webhook_endpoint: stored } = (await tenant.call('GET', `${API}/crm`)).json;
    assert.deepEqual([stored.url, stored.event_types, stored.enabled], [ANYWHERE, ['*'], false]);
    assert.match(textOf(await browser.get(`${LIST}/crm`)), /Events all Status disabled/);
    assert.match(textOf(await browser.get(LIST)), /crm https:\S+ all disabled/);
  });

  it('shows what a person typed, and the errors of the API beside the fields', async () => {
    const { browser } = await newTenant();
    const cases: [fields: Record<string, string>, field: string, error: RegExp][] = [
      [{ id: '' }, 'id', /must not be empty/],
      [{ url: '' }, 'url', /is required/],
      [{ url: 'ftp://crm.example.com' }, 'url', /http/],
      [{ url: 'https://user:pass@crm.example.com' }, 'url', /user name or password/],
      [{ 'event_types.user_group.created': '' }, 'event_types', /at least 1 entry/],
    ];
    const valid = { id: 'crm', url: ANYWHERE, 'event_types.user_group.created': 'on' };
    for (const [fields, field, error] of cases) {
      const sent = Object.entries({ ...(await openForm(browser, NEW)), ...valid, ...fields });
      const [box] = sent.filter(([name, text]) => name.startsWith('event_types') && text === '');
      const typed = Object.fromEntries(sent.filter((entry) => entry !== box));
      const page = await browser.post(NEW, typed);
      assert.equal(page.status, 400, JSON.stringify(fields));
      assert.match(errorOf(page, field) ?? '', error, JSON.stringify(fields));
      assert.deepEqual({ ...fieldsOf(page.text, NEW), csrf: typed.csrf }, typed);
    }
    assert.equal((await browser.get(`${LIST}/crm`)).status, 404);
  });

  it('shows the stored version if somebody changed it in between, and keeps what was typed', async () => {
    const { tenant, browser } = await newTenant();
    await tenant.endpoint('crm', ANYWHERE);
    const edit = `${LIST}/crm/edit`;
    const opened = await openForm(browser, edit);
    await tenant.endpoint('crm', `${ANYWHERE}/changed`);
    const page = await browser.post(edit, { ...opened, url: `${ANYWHERE}/typed` });
    assert.equal(page.status, 412);
    assert.match(textOf(page), /was changed after you opened the form.*webhooks\/changed/);
    assert.equal(fieldsOf(page.text, edit).url, `${ANYWHERE}/typed`);
    assert.equal((await browser.submitFrom(page, edit)).status, 303);
    assert.match(textOf(await browser.get(`${LIST}/crm`)), /webhooks\/typed/);
  });

  it('rotates the secret once per form; both sign for a day', async () => {
    await using receiver = await Receiver.start();
    const { tenant, browser } = await newTenant();
    const first = await tenant.endpoint('crm', receiver.url);
    const path = `${LIST}/crm/rotate`;
    const opened = await openForm(browser, path);
    const second = secretOn(await browser.post(path, opened));
    assert.notEqual(second, first);
    const again = await browser.post(path, opened);
    assert.equal(again.status, 412);
    assert.match(textOf(again), /was changed after you opened this page, so nothing was done/);
    assert.doesNotMatch(again.text, /whsec_/);
    await tenant.createGroup('one');
    const [webhook] = await receiver.waitFor(1);
    assert.deepEqual([isSignedBy(first, webhook!), isSignedBy(second, webhook!)], [true, true]);
  });

  it('sends a test, and shows the delivery', async () => {
    await using receiver = await Receiver.start(respondWith(503));
    const { tenant, browser } = await newTenant();
    await tenant.endpoint('crm', receiver.url);
    const page = `${LIST}/crm`;
    assert.match(textOf(await browser.get(page)), /Deliveries None yet/);
    const sent = await browser.submit(page, `${page}/test`);
    assert.equal(sent.headers.location, page);
    assert.match(textOf(await browser.follow(sent)), /A test event is on its way/);
    await tenant.waitFor('crm', ({ attempts }) => attempts === 1);
    assert.match(
      textOf(await browser.get(page)),
      /webhook_endpoint\.tested evt_\w+ \w+ pending 1 .*the receiver returned 503 Deliver again/,
    );
  });

  it('delivers an event again', async () => {
    await using receiver = await Receiver.start();
    const { browser, page, eventId } = await newDelivery(receiver);
    assert.match(textOf(await browser.get(page)), /user_group\.created evt_\w+ \w+ delivered 1 .* none 200/);
    const response = await browser.submit(page, `${page}/deliveries/${eventId}/redeliver`);
    assert.match(textOf(await browser.follow(response)), /delivered again/);
    await advance(service, 0);
    const [one, two] = await receiver.waitFor(2);
    assert.equal(one!.headers['webhook-id'], two!.headers['webhook-id']);
    const unknown = await browser.post(`${page}/deliveries/evt_unknown/redeliver`, {
      csrf: (await openForm(browser, page, '/console/sign-out')).csrf!,
    });
    assert.equal(unknown.status, 404);
    assert.match(textOf(unknown), /has no delivery of an event with this id/);
  });

  it('leads back to the part of the list from which an event was delivered again', async () => {
    await using receiver = await Receiver.start();
    const { browser, page, eventId } = await newDelivery(receiver);
    const { csrf } = await openForm(browser, page, '/console/sign-out');
    for (const [from, to] of [
      [`${service.url}${page}?state=delivered`, `${page}?state=delivered`],
      [`${service.url}${page}/deliveries/${eventId}`, `${page}/deliveries/${eventId}`],
      [`${service.url}${page}/deliveries/evt_other/redeliver`, page],
      ['https://elsewhere.example/', page],
    ] as const) {
      const path = `${page}/deliveries/${eventId}/redeliver`;
      const { headers } = await browser.post(path, { csrf: csrf! }, { referer: from });
      assert.equal(headers.location, to);
    }
  });

  it('shows the health of each endpoint: one that fails is not green', async () => {
    await using receiver = await Receiver.start();
    const { tenant, browser } = await newTenant();
    await tenant.endpoint('works', receiver.url);
    await tenant.createGroup('acme');
    await tenant.waitFor('works', ({ state }) => state === 'delivered');
    assert.match(textOf(await browser.get(LIST)), /works http\S+ 1 healthy \d{4}-.* UTC 0 /);
    receiver.respond = respondWith(503);
    await tenant.createGroup('globex');
    // The health is recorded after the attempt.
    const page = await eventually('a page with a failing endpoint', async () => {
      const each = await browser.get(LIST);
      return textOf(each).includes('failing') && each;
    });
    assert.match(textOf(page), /works http\S+ 1 failing since \d{4}-.* UTC .* UTC 1 /);
    assert.doesNotMatch(page.text, /badge good/);
    assert.match(textOf(await browser.get('/console')), /failing Webhook endpoint works since \d{4}-/);
  });

  it('shows each attempt of a delivery with its status and duration, and the payload', async () => {
    await using receiver = await Receiver.start(respondWith(503));
    const { tenant, browser } = await newTenant();
    await tenant.endpoint('crm', receiver.url);
    await tenant.createGroup('acme');
    await tenant.waitFor('crm', ({ attempts }) => attempts === 1);
    receiver.respond = respondWith(204);
    await advance(service, 10_000);
    const { event_id } = await tenant.waitFor('crm', ({ state }) => state === 'delivered');
    const delivery = await browser.get(`${LIST}/crm/deliveries/${event_id}`);
    const links = elementsOf(delivery.text).map(({ attributes }) => attributes.href);
    assert.ok(links.includes('/console/user-groups/acme'));
    const page = textOf(delivery);
    assert.match(page, /delivered .*Attempts .* UTC 204 \d+ ms .* UTC the receiver returned 503 \d+ ms/);
    assert.match(page, new RegExp(`Payload .*"event_id": "${event_id}".*"name"`));
    const missing = await browser.get(`${LIST}/crm/deliveries/evt_unknown`);
    assert.equal(missing.status, 404);
    assert.match(textOfElement(missing.text, 'title'), /^Error: The delivery does not exist · /);
    assert.match(textOf(missing), /No delivery of this workspace and environment has the id evt_unknown \./);
  });

  it('says for each endpoint that nothing is delivered if no events are recorded', async () => {
    await using silent = await TestService.start(database, {
      env: { ...env, UGS_EVENT_RETENTION_DAYS: '0' },
    });
    const { call, browser } = await newWorkspace(silent);
    const { status, text } = await call('PUT', `${API}/crm`, { url: ANYWHERE, event_types: ['*'] });
    assert.equal(status, 201, text);
    for (const path of [LIST, `${LIST}/crm`])
      assert.match(textOf(await browser.get(path)), /no deliveries : this service records no events/, path);
    const overview = textOf(await browser.get('/console'));
    assert.match(overview, /no deliveries Webhook endpoint crm : this service records no events/);
    assert.doesNotMatch(overview, /No webhook endpoint fails/);
  });

  it('filters deliveries by state', async () => {
    await using receiver = await Receiver.start();
    const { tenant, browser } = await newTenant();
    await tenant.endpoint('crm', receiver.url);
    await tenant.createGroup('acme');
    await tenant.waitFor('crm', ({ state }) => state === 'delivered');
    const list = async (state: string) => textOf(await browser.get(`${LIST}/crm?state=${state}`));
    assert.match(await list('delivered'), /evt_\w+ \w+ delivered 1/);
    assert.match(await list('failed'), /No delivery has the state failed\. Show all deliveries/);
  });

  it('distinguishes an endpoint that the service has disabled from one that a person has disabled', async () => {
    await using receiver = await Receiver.start(respondWith(410));
    const { tenant, browser } = await newTenant();
    await tenant.endpoint('gone', receiver.url);
    await tenant.call('PUT', `${API}/off`, { url: ANYWHERE, event_types: ['*'], enabled: false });
    await tenant.createGroup('acme');
    const list = await eventually('the endpoint is disabled', async () => {
      const text = textOf(await browser.get(LIST));
      return text.includes('by the service') ? text : null;
    });
    assert.match(list, /gone http\S+ 1 disabled by the service, because it failed/);
    assert.match(list, /off http\S+ all disabled none/);
    assert.match(textOf(await browser.get(`${LIST}/gone`)), /disabled by the service/);
    const overview = textOf(await browser.get('/console'));
    assert.match(overview, /disabled Webhook endpoint gone failed, and was disabled \d{4}-/);
    assert.doesNotMatch(overview, /endpoint off/);
    await browser.submit(`${LIST}/gone/edit`, `${LIST}/gone/edit`, { url: ANYWHERE });
    assert.doesNotMatch(textOf(await browser.get(LIST)), /by the service/);
  });

  it('delivers all that failed since a time again, and nothing else', async () => {
    await using receiver = await Receiver.start(respondWith(410));
    const { tenant } = await newTenant();
    await tenant.endpoint('crm', receiver.url);
    await tenant.createGroup('acme');
    await tenant.waitFor('crm', ({ state }) => state === 'failed');
    await tenant.waitUntilDisabled('crm');
    receiver.received.length = 0;
    receiver.respond = respondWith(204);
    service.clockAheadMs = 3 * DAY_MS;
    const browser = await ConsoleBrowser.signIn(service, tenant.token);
    await tenant.endpoint('crm', receiver.url);
    const [page, form] = [`${LIST}/crm`, `${LIST}/crm/redeliver-failed`];
    const later = await browser.submit(form, form, { since: '2999-01-01T00:00' });
    assert.match(
      textOf(await browser.follow(later)),
      /since that time has failed for good\. Pending ones are attempted again/,
    );
    const wrong = await browser.submit(form, form, { since: 'yesterday' });
    assert.match(errorOf(wrong, 'since') ?? '', /must be a date and a time/);
    assert.match(textOf(wrong), /Events since \(UTC\) must be a date/);
    const again = await browser.submit(form, form);
    assert.equal(again.headers.location, page);
    assert.match(textOf(await browser.follow(again)), /are delivered again/);
    await tenant.waitFor('crm', ({ state }) => state === 'delivered');
    assert.equal(receiver.received.length, 1);
  });

  it('refuses to send to a disabled endpoint, and says so on its page', async () => {
    const { tenant, browser } = await newTenant();
    await tenant.call('PUT', `${API}/crm`, { url: ANYWHERE, event_types: ['*'], enabled: false });
    const page = await browser.submit(`${LIST}/crm`, `${LIST}/crm/test`);
    assert.equal(page.status, 400);
    assert.match(textOf(page), /is disabled: enable it first\..*Deliveries/);
  });

  it('deletes an endpoint after asking for confirmation', async () => {
    const { tenant, browser } = await newTenant();
    await tenant.endpoint('crm', ANYWHERE);
    const path = `${LIST}/crm/delete`;
    assert.match(textOf(await browser.get(path)), /no longer delivered to https:\/\/crm\.example\.com/);
    assert.equal((await browser.submit(path, path)).headers.location, LIST);
    assert.equal((await tenant.call('GET', `${API}/crm`)).status, 404);
  });

  it('is for administrators only', async () => {
    const { tenant, browser, reader: other } = await newTenant();
    await tenant.endpoint('crm', ANYWHERE);
    assert.match((await browser.get(LIST)).text, /<nav[\s\S]*href="\/console\/webhooks"[\s\S]*<\/nav>/);
    const actions = ['edit', 'delete', 'rotate', 'test', 'deliveries/evt_1/redeliver'];
    const posts = [NEW, ...actions.map((action) => `${LIST}/crm/${action}`)];
    for (const permission of ['read-only', 'read-write'] as const) {
      const reader = await other(permission);
      const home = await reader.get('/console/user-groups');
      assert.doesNotMatch(home.text, /\/console\/webhooks/);
      for (const path of [LIST, NEW, `${LIST}/crm`, `${LIST}/crm/edit`, `${LIST}/crm/rotate`]) {
        const page = await reader.get(path);
        assert.equal(page.status, 403, path);
        assert.doesNotMatch(page.text, /crm\.example/);
      }
      const { csrf } = fieldsOf(home.text, '/console/sign-out');
      for (const path of posts) assert.equal((await reader.post(path, { csrf: csrf! })).status, 403, path);
    }
    assert.equal((await tenant.call('GET', `${API}/crm`)).json.webhook_endpoint.version, 1);
  });

  it('lists deliveries page by page', async () => {
    await using receiver = await Receiver.start();
    const { tenant, browser } = await newTenant();
    await tenant.endpoint('crm', receiver.url);
    for (let number = 0; number < 51; number++) await tenant.createGroup(`group ${number}`);
    const page = await browser.get(`${LIST}/crm`);
    const next = elementsOf(page.text).find(({ name, text }) => name === 'a' && text === 'Next page')!;
    const last = await browser.get(next.attributes.href!);
    assert.equal(last.text.match(/>Deliver again</g)?.length, 1);
  });
});
