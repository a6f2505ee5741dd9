// The frame of every console page: navigation, breadcrumbs, problem pages, form errors, compression.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { pages } from '../../src/console/routes.ts';
import { dataSourceBody, schemaBody } from '../../src/domain/catalogue/catalogue-body.ts';
import { integrationBody } from '../../src/domain/embed-token/embed-token.ts';
import type { BodyType } from '../../src/domain/request-body.ts';
import { userGroupBody } from '../../src/domain/user-group/user-group-body.ts';
import { webhookEndpointBody } from '../../src/domain/webhook-endpoint/webhook-endpoint-body.ts';
import { newApiTokenBody } from '../../src/http/endpoints/api-token/create.ts';
import { assertNoMistakes, ConsoleBrowser, fieldsOf } from '../support/console.ts';
import { checkMarkup, errorOf, textOf } from '../support/console-page.ts';
import { describeOnEachDatabase, postgres } from '../support/database.ts';
import { FaultProxy } from '../support/faults/proxy.ts';
import { elementsOf, textOfElement } from '../support/html.ts';
import { send } from '../support/http.ts';
import { TestService } from '../support/service.ts';

const LIST = '/console/user-groups';

describeOnEachDatabase('The frame of the console', (database) => {
  const service = TestService.of(database);
  let browser: ConsoleBrowser;
  before(async () => {
    const { token } = await service.apiToken({ permission: 'admin', name: 'support' });
    browser = await ConsoleBrowser.signIn(service, token);
    await service.get({ user_group_id: 'acme', name: 'Acme' });
  });

  /** Returns the texts and paths of the breadcrumbs. */
  async function trail(path: string, person = browser): Promise<string[]> {
    const elements = elementsOf((await person.get(path)).text);
    const start = elements.findIndex(({ attributes }) => attributes.class === 'trail');
    const end = elements.findIndex(({ name }, index) => index > start && name === 'h1');
    const links = start === -1 ? [] : elements.slice(start, end).filter(({ name }) => name === 'a');
    return links.map(({ text, attributes }) => `${text} ${attributes.href}`);
  }

  it('has a control for each field of what a form creates', async () => {
    const forms: [path: string, body: BodyType<unknown>][] = [
      ['/console/user-groups/-/new?as=json', userGroupBody],
      ['/console/api-tokens/-/new', newApiTokenBody],
      ['/console/catalogue/schemas/-/new', schemaBody],
      ['/console/catalogue/data-sources/-/new', dataSourceBody],
      ['/console/integrations/-/new?type=metabase', integrationBody],
      ['/console/webhooks/-/new', webhookEndpointBody],
    ];
    for (const [path, { schema }] of forms) {
      const elements = elementsOf((await browser.get(path)).text);
      const controls = elements.map(({ attributes: { name = '' } }) => name.split('.', 1)[0]!);
      for (const field of Object.keys(schema!.properties))
        assert.ok(controls.includes(field), `${path} ${field}`);
    }
  });

  it('links every page to every section of the console', async () => {
    const links = elementsOf((await browser.get(`${LIST}/acme`)).text).map(
      ({ attributes }) => attributes.href,
    );
    const paths = pages.filter(({ method }) => method === 'GET').map(({ path }) => `/console${path}`);
    for (const section of new Set(paths.map((path) => path.split('/', 3).join('/'))))
      assert.ok(links.includes(section), section);
  });

  it('links every page to the pages above it', async () => {
    assert.deepEqual(await trail(LIST), []);
    assert.deepEqual(await trail(`${LIST}/acme/edit`), [`User groups ${LIST}`, `acme ${LIST}/acme`]);
    assert.deepEqual(await trail('/console/catalogue/schemas/-/new'), [
      'Catalogue /console/catalogue',
      'Schemas /console/catalogue/schemas',
    ]);
    assert.deepEqual(await trail('/console/integrations/-/signing-keys/rotate'), [
      'Integrations /console/integrations',
      'Signing keys /console/integrations/-/signing-keys',
    ]);
    assert.deepEqual(await trail(`${LIST}/nobody/edit`), [`User groups ${LIST}`, `nobody ${LIST}/nobody`]);
    await service.get({ user_group_id: '-', name: 'Dash' });
    assert.deepEqual(await trail(`${LIST}/-/edit`), [`User groups ${LIST}`, `- ${LIST}/-`]);
  });

  it('links to no page above that the API token may not open, even if a colleague sent the link to the page', async () => {
    const { token } = await service.apiToken({ permission: 'read-only' });
    const reader = await ConsoleBrowser.signIn(service, token);
    assert.deepEqual(await trail('/console/integrations/-/signing-keys/rotate', reader), []);
    assert.deepEqual(await trail('/console/catalogue/schemas/-/new', reader), [
      'Catalogue /console/catalogue',
      'Schemas /console/catalogue/schemas',
    ]);
    assert.deepEqual(await trail(`${LIST}/acme/edit`, reader), [`User groups ${LIST}`, `acme ${LIST}/acme`]);
  });

  it('is around the page of a problem, even where no page exists', async () => {
    for (const path of [`${LIST}/nobody`, '/console/no/such/page']) {
      const page = await browser.get(path);
      assert.equal(page.status, 404, path);
      checkMarkup(page);
      assert.match(page.text, /<nav id="navigation"/, path);
      assert.match(textOfElement(page.text, 'title'), /^Error: .* · default, Customer · /, path);
    }
    const anonymous = await send(service.url, { path: '/console/no/such/page' });
    assert.equal(anonymous.status, 404);
    assert.doesNotMatch(anonymous.text, /<nav/);
  });

  it('says that no page exists at an unknown address, and links to the start page', async () => {
    const path = '/console/no/such/page';
    for (const page of [await browser.get(path), await send(service.url, { path })]) {
      assert.equal(page.status, 404);
      assert.match(textOf(page), /The console has no page at this address\./);
      assert.doesNotMatch(textOf(page), /\/docs|Percent-encode/);
      assert.match(page.text, /<a href="\/console">Back to the overview<\/a>/);
    }
  });

  it('is around the page that says that the service is overloaded, at no cost for the database', async () => {
    // One thread: another thread would not know the frame, because it has not shown this person a page.
    await using busy = await TestService.start(database, { env: { UGS_QUEUE_LIMIT: '1', UGS_THREADS: '1' } });
    const person = await ConsoleBrowser.signIn(busy);
    assert.equal((await person.get(LIST)).status, 200);
    const request = { path: LIST, headers: { cookie: person.cookie } };
    const all = await Promise.all(Array.from({ length: 100 }, () => send(busy.url, request)));
    const refused = all.filter(({ status }) => status !== 200);
    assert.notEqual(refused.length, 0);
    for (const { status, text } of refused) {
      assert.equal(status, 503);
      assert.equal(
        textOfElement(text, 'title'),
        'Error: The service is overloaded · default, Customer · User Group Service',
      );
      assert.match(text, /<nav id="navigation"/);
      assertNoMistakes(text, LIST);
    }
  });

  it('redirects a path with a slash at its end, and nothing to another site', async () => {
    for (const [path, location] of [
      [`${LIST}/?search=a%2F`, `${LIST}?search=a%2F`],
      ['/console/', '/console'],
      ['/console//evil.example/', '/console//evil.example'],
    ] as const) {
      const { status, headers } = await browser.get(path);
      assert.deepEqual([status, headers.location], [303, location], path);
    }
  });

  it('takes little time for an address that is full of slashes, or of starts of tokens', async () => {
    for (const path of [
      `/console${'/'.repeat(15_000)}x`,
      `/console/user-groups?search=${'eyJ'.repeat(5_000)}`,
    ]) {
      const start = process.cpuUsage();
      for (let request = 0; request < 10; request++) await send(service.url, { path });
      const { user } = process.cpuUsage(start);
      assert.ok(user < 1_000_000, `${user} µs`);
    }
  });

  it('reaches the user groups with the ids . and .., and those that look like their addresses', async () => {
    for (const id of ['.', '..', '~.', '~..', '~', '...']) {
      await service.get({ user_group_id: id, name: `Named ${id}` });
      const list = await browser.get(`${LIST}?search=${encodeURIComponent(id)}`);
      const links = elementsOf(list.text).filter(({ name, text }) => name === 'a' && text === id);
      const path = new URL(links[0]!.attributes.href!, service.url).pathname;
      assert.equal(textOfElement((await browser.get(path)).text, 'h1'), `Named ${id}`, path);
    }
  });

  it('lists every error of a rejected form, with a link to it', async () => {
    const form = '/console/catalogue/data-sources/-/new';
    const page = await browser.submit(form, form, { id: ' ', name: '', attributes: '{', schema_id: '' });
    assert.equal(page.status, 400);
    assert.match(textOfElement(page.text, 'title'), /^Error: /);
    const elements = elementsOf(page.text);
    const targets = elements.flatMap(({ attributes }) =>
      attributes.href?.startsWith('#at/') ? [attributes.href.slice(1)] : [],
    );
    for (const field of ['id', 'schema_id', 'name', 'attributes']) {
      assert.notEqual(errorOf(page, field), undefined, field);
      assert.ok(
        targets.some((target) => target.startsWith(`at/${field}`)),
        field,
      );
    }
    const ids = elements.flatMap(({ attributes }) => attributes.id ?? []);
    assert.deepEqual(
      targets.filter((target) => !ids.includes(target)),
      [],
    );
  });

  it('says how long a secret must be that is too short', async () => {
    const form = '/console/integrations/-/new';
    const page = await browser.submit(`${form}?type=metabase`, form, { id: 'm', secret: 'guessable' });
    assert.match(errorOf(page, 'secret') ?? '', /16/);
    assert.doesNotMatch(page.text, /guessable/);
  });

  it('compresses pages, with another token in each form', async () => {
    const page = await browser.get(`${LIST}/acme`);
    const again = await browser.get(`${LIST}/acme`);
    const [one, two] = [page, again].map(({ text }) => fieldsOf(text, '/console/sign-out').csrf!);
    assert.notEqual(one, two);
    for (const csrf of [`${one}x`, one!.slice(1), two!.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))])
      assert.equal((await browser.post(`${LIST}/acme/token`, { csrf })).status, 403);
    const headers = { cookie: browser.cookie, 'accept-encoding': 'gzip' };
    const compressed = await fetch(`${service.url}${LIST}/acme`, { headers });
    assert.equal(compressed.headers.get('content-encoding'), 'gzip');
    assert.equal(compressed.headers.get('vary'), 'accept-encoding');
    assert.match(await compressed.text(), /<h1>Acme<\/h1>/);
  });

  it('has one row for the workspace, the environment and the person', async () => {
    const page = await browser.get(LIST);
    assert.match(textOfElement(page.text, 'header'), /default\s+Customer\s+support/);
    assert.match(textOf(page), /User groups/);
  });
});

it('The frame of the console is around the page of a problem although the database is unreachable', async () => {
  const database = await postgres.create();
  await using proxy = await FaultProxy.start(database.url);
  await using service = await TestService.start(postgres, { database, env: { DATABASE_URL: proxy.url } });
  const browser = await ConsoleBrowser.signIn(service);
  assert.equal((await browser.get(LIST)).status, 200);
  await proxy.refuse();
  const page = await browser.get(LIST);
  assert.equal(page.status, 503);
  assert.match(textOfElement(page.text, 'title'), /^Error: The database is unavailable · default, Customer/);
  assert.match(page.text, /<nav id="navigation"/);
  await proxy.accept();
});
