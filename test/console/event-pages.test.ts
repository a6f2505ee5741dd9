// Contract: the console shows everyone who may read who changed what, and when.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventTable } from '../../src/console/event/table.ts';
import { operator } from '../../src/domain/api-token.ts';
import type { Bucket } from '../../src/domain/bucket.ts';
import { EMPTY_OBJECT, jsonText } from '../../src/domain/json/json-tree.ts';
import type { Context } from '../../src/operations/context.ts';
import type { EventsPage } from '../../src/operations/event/list.ts';
import { CpuQueue } from '../../src/operations/machinery/cpu-queue.ts';
import { ConsoleBrowser, fieldsOf } from '../support/console.ts';
import { textOf } from '../support/console-page.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { elementsOf, textOfElement } from '../support/html.ts';
import type { TestResponse } from '../support/http.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';

const PATH = '/console/events';
const PAGE = 25;

describeOnEachDatabase('events in the console', (database) => {
  const service = TestService.of(database);
  let workspaces = 0;

  /** Signs in to a new workspace, and returns the browser with the API token. */
  async function signIn(permission: 'admin' | 'read-write' | 'read-only' = 'read-write') {
    const workspaceName = `workspace ${++workspaces}`;
    const { token, id } = await service.apiToken({ workspaceName, permission, name: 'Ada' });
    return { browser: await ConsoleBrowser.signIn(service, token), token, id, workspaceName };
  }

  it('says that the service records none', async () => {
    await using silent = await TestService.start(database, { env: { UGS_EVENT_RETENTION_DAYS: '0' } });
    const created = await silent.get({ user_group_id: 'unrecorded', name: 'Unrecorded' });
    assert.equal(created.status, 200, created.text);
    const browser = await ConsoleBrowser.signIn(silent);
    for (const path of [PATH, `${PATH}?request_id=x`, '/console/user-groups/unrecorded'])
      assert.match(textOf(await browser.get(path)), /records no events/, path);
  });

  interface Row {
    cells: Record<string, string>;
    hrefs: string[];
  }

  function rowsOf({ text }: TestResponse): Row[] {
    const rows: Row[] = [];
    for (const { name, text: cell, attributes } of elementsOf(text)) {
      if (name === 'tr') rows.push({ cells: {}, hrefs: [] });
      if ('data-label' in attributes)
        rows.at(-1)!.cells[attributes['data-label']!] = cell
          .replace(/History|Restore this value|Undo/g, '')
          .replace(/\s+/g, ' ')
          .trim();
      if (name === 'a' && rows.length > 0 && !attributes.href!.includes('?'))
        rows.at(-1)!.hrefs.push(attributes.href!);
    }
    return rows.slice(1);
  }

  function nextOf({ text }: TestResponse): string | undefined {
    return elementsOf(text).find(({ name, text: content }) => name === 'a' && content === 'Older events')
      ?.attributes.href;
  }

  it('shows each event of a group with who, what and the values before and after, newest first', async () => {
    const { browser, token, id } = await signIn();
    const fields = { user_group_id: 'a/1', name: 'Acme', properties: { plan: 'gold', from: 1 } };
    await service.get(fields, { token });
    const edit = '/console/user-groups/a%2F1';
    const review = await browser.submit(`${edit}/edit?as=json`, `${edit}/review`, {
      name: 'Acme <Inc.>',
      mapping: '{"40": 9007199254740991}',
      properties: '{"from": {"to": 1.0}, "to": []}',
    });
    await browser.submitFrom(review, `${edit}/save`);
    await browser.submit(`${edit}/rotate`, `${edit}/rotate`, { reason: 'routine' });
    for (const page of [
      await browser.get(edit),
      await browser.get(`${edit}/events`),
      await browser.get(`${PATH}?target_id=a%2F1`),
    ]) {
      const rows = rowsOf(page).filter(({ cells }) => cells.What !== undefined);
      assert.deepEqual(
        rows.map(({ cells }) => cells.What!.replace(/, request .*/, '')),
        ['User group token rotatedversion 3', 'User group updatedversion 2', 'User group createdversion 1'],
      );
      const isOfGroup = rows[0]!.cells.About === undefined;
      assert.deepEqual(rows[0]!.hrefs, isOfGroup ? [] : [edit]);
      assert.equal(rows[1]!.cells.Who, `AdaAPI token ${id}, by console`);
      assert.equal(rows[2]!.cells.Who, `AdaAPI token ${id}, by API`);
      assert.equal(
        rows[1]!.cells.Changes,
        'name: "Acme" → "Acme <Inc.>" mapping › 40: absent → 9007199254740991 properties › plan: "gold" → absent ' +
          'properties › from: 1 → {"to":1.0} properties › to: absent → []',
      );
      assert.match(rows[2]!.cells.Changes!, /^name: "Acme" /);
      assert.match(rows[0]!.cells.When!, /^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/);
    }
  });

  it('names a suspension and a resumption, even one imported with other changes', async () => {
    const { browser, token, workspaceName } = await signIn();
    await service.get({ user_group_id: 'a', name: 'A' }, { token });
    for (const action of ['suspend', 'resume'])
      await service.call('POST', `/v1/user-groups/a/${action}`, {}, { token });
    await service.put({ user_group_id: 'a', name: 'B' }, { token });
    const line = { user_group_id: 'a', name: 'C', suspended: true };
    await service.importGroup(line, { workspace: workspaceName, replaces: true });
    const rows = rowsOf(await browser.get('/console/user-groups/a/events'));
    assert.deepEqual(
      rows.map(({ cells }) => cells.What!.replace(/version .*/, '')),
      [
        'User group updated and suspended',
        'User group updated',
        'User group resumed',
        'User group suspended',
        'User group created',
      ],
    );
  });

  it('distinguishes members called "from" and "to" from values before and after', async () => {
    const { browser, token } = await signIn();
    for (const properties of [{ from: 1, to: 2 }, { from: { from: 1 }, to: {} }, {}, null, { to: null }])
      await service
        .put({ user_group_id: 'a', properties }, { token })
        .then(({ status }) =>
          status === 404 ? service.get({ user_group_id: 'a', name: 'A', properties }, { token }) : undefined,
        );
    const changes = rowsOf(await browser.get('/console/user-groups/a/events')).map(
      ({ cells }) => cells.Changes,
    );
    assert.deepEqual(changes, [
      'properties › to: absent → null',
      'properties: {} → null',
      'properties › from: {"from":1} → absent properties › to: {} → absent',
      'properties › from: 1 → {"from":1} properties › to: 2 → {}',
      'name: "A" properties › from: 1 properties › to: 2',
    ]);
  });

  it('shows an event about something that only a newer version knows', async () => {
    const { browser, token } = await signIn();
    await service.get({ user_group_id: 'unknown', name: 'Unknown' }, { token });
    const change = "update events set target_type = 'dashboard', type = 'dashboard.created'";
    await runSql(service.database, `${change} where target_id = 'unknown'`);
    const [row] = rowsOf(await browser.get(PATH));
    assert.match(row!.cells.What!, /^Dashboard created/);
    assert.deepEqual(row!.hrefs, []);
  });

  it('says which values are omitted because they are too large', async () => {
    const { browser, token } = await signIn();
    const large = 'x'.repeat(20_000);
    const properties = { plan: 'gold', text: large, truncated: true };
    await service.get({ user_group_id: 'a', name: 'A', properties }, { token });
    const names = Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`${i}`.padEnd(250, 'k'), i]));
    await service.put({ user_group_id: 'a', properties: names }, { token });
    const changes = rowsOf(await browser.get('/console/user-groups/a/events')).map(
      ({ cells }) => cells.Changes,
    );
    const omitted = 'values omitted, too large';
    assert.deepEqual(changes, [
      `properties: ${omitted}`,
      `name: "A" properties › plan: "gold" properties › truncated: true properties › text: ${omitted}`,
    ]);
  });

  it('filters by type and target, page by page, and shows every event once', async () => {
    const { browser, token } = await signIn();
    for (let index = 0; index <= PAGE; index++)
      await service.get({ user_group_id: `g${index}`, name: 'Acme' }, { token });
    await service.put({ user_group_id: 'g7', name: 'Renamed' }, { token });
    const seen: string[] = [];
    for (let next: string | undefined = `${PATH}?type=user_group.created`; next !== undefined; ) {
      const page: TestResponse = await browser.get(next);
      seen.push(...rowsOf(page).map(({ cells }) => cells.About!));
      assert.match(page.text, /<option value="user_group.created" selected>/);
      next = nextOf(page);
    }
    assert.deepEqual(
      seen,
      Array.from({ length: PAGE + 1 }, (_, index) => `g${PAGE - index}`),
    );
    const ofGroup = await browser.get(`${PATH}?target_type=user_group&target_id=g7&type=user_group.updated`);
    assert.deepEqual(
      rowsOf(ofGroup).map(({ cells }) => cells.Changes),
      ['name: "Acme" → "Renamed"'],
    );
    assert.equal(nextOf(ofGroup), undefined);
    const unknown = await browser.get(`${PATH}?target_id=unknown`);
    assert.match(textOf(unknown), /No events meet these conditions: User group unknown\./);
    assert.match(textOfElement(unknown.text, 'title'), /^Events: User group unknown · /);
    assert.equal(
      elementsOf(unknown.text).findLast(({ text }) => text === 'Show all events')?.attributes.href,
      PATH,
    );
    assert.match(unknown.text, /<option value="user_group" selected>/);
    const schema = await browser.get(`${PATH}?target_id=40&type=schema.updated`);
    assert.match(schema.text, /<option value="schema" selected>/);
    const others = rowsOf(await browser.get(`${PATH}?type=nonsense&target_type=nonsense`));
    assert.equal(others.length, PAGE);
  });

  it('links targets to their pages, and those of deleted groups to their events, without their values', async () => {
    const { browser, token } = await signIn();
    await service.get({ user_group_id: 'gone', name: 'Secret name' }, { token });
    await browser.submit('/console/user-groups/gone/delete', '/console/user-groups/gone/delete', {
      user_group_id: 'gone',
    });
    const page = await browser.get('/console/user-groups/gone/events');
    assert.doesNotMatch(page.text, /Secret name/);
    assert.match(rowsOf(page)[1]!.cells.Changes!, /removed when the group was deleted/);
    const [deleted] = rowsOf(await browser.get(PATH));
    assert.deepEqual(deleted!.hrefs, ['/console/user-groups/gone/events']);
    assert.equal((await browser.get('/console/user-groups/gone')).status, 404);
  });

  it('says what became of something that does not exist, instead of a dead end', async () => {
    const { browser, token } = await signIn('admin');
    const call = async (method: string, path: string, body?: unknown) => {
      const { status, text } = await service.call(method, path, body, { token });
      assert.ok(status < 300, text);
    };
    await call('PUT', '/v1/user-groups/before', { name: 'Acme' });
    await call('POST', '/v1/user-groups/before/rename', { user_group_id: 'after' });
    await call('PUT', '/v1/user-groups/deleted', { name: 'Globex' });
    await call('DELETE', '/v1/user-groups/deleted');
    await call('PUT', '/v1/schemas/40', { name: 'Orders' });
    await call('DELETE', '/v1/schemas/40');
    for (const [path, title, newest, hrefs] of [
      [
        'user-groups/before',
        'The user group does not exist',
        'User group renamed',
        ['/console/user-groups/after'],
      ],
      [
        'user-groups/deleted',
        'The user group does not exist',
        'User group deleted',
        ['/console/user-groups/deleted/events'],
      ],
      ['catalogue/schemas/40', 'The schema does not exist', 'Schema deleted', []],
    ] as const) {
      const page = await browser.get(`/console/${path}`);
      assert.equal(page.status, 404);
      assert.match(page.text, new RegExp(`<title>Error: ${title} `));
      assert.ok(textOf(page).includes(title), textOf(page));
      const [row] = rowsOf(page);
      assert.match(row?.cells.What ?? 'no event', new RegExp(newest));
      assert.deepEqual(row!.hrefs, hrefs);
    }
    for (const [path, title] of [
      ['catalogue/data-sources/x', 'The data source does not exist'],
      ['integrations/x', 'The integration does not exist'],
      ['webhooks/x', 'The webhook endpoint does not exist'],
      ['webhooks/x/rotate', 'The webhook endpoint does not exist'],
      [`user-groups/${token}`, 'The user group does not exist'],
    ] as const) {
      const page = await browser.get(`/console/${path}`);
      assert.equal(page.status, 404);
      assert.match(textOf(page), new RegExp(`${title} .*Switch workspace or environment .*No events`));
      assert.ok(!page.text.includes(token));
    }
    const mistyped = elementsOf((await browser.get('/console/user-groups/AFTER')).text);
    const search = mistyped.find(({ name, text }) => name === 'a' && text === 'Search for it');
    assert.match(textOf(await browser.get(search!.attributes.href!)), /after Acme/);
    for (const path of ['events', 'user-groups', 'api-tokens', 'catalogue/schemas']) {
      const page = await browser.get(`/console/${path}?cursor=x`);
      assert.equal(page.status, 400);
      assert.match(textOf(page), /The list does not have this page/);
      assert.ok(page.text.includes(`<a href="/console/${path}">Show the whole list</a>`));
    }
  });

  it('offers only the kinds of events that a user group can have on the page of its events', async () => {
    const { browser, token } = await signIn();
    await service.get({ user_group_id: 'g', name: 'Acme' }, { token });
    const types = async (path: string) =>
      elementsOf((await browser.get(path)).text)
        .filter(({ name, attributes }) => name === 'option' && /\./.test(attributes.value ?? ''))
        .map(({ attributes }) => attributes.value!);
    assert.ok((await types(PATH)).includes('schema.created'));
    const offered = await types('/console/user-groups/g/events');
    assert.ok(offered.includes('user_group.renamed'));
    assert.deepEqual(
      offered.filter((type) => !type.startsWith('user_group.')),
      [],
    );
  });

  it('is linked from what it is about, and from the API token that made the changes', async () => {
    const { browser, token, id } = await signIn('admin');
    const { status, text } = await service.call('PUT', '/v1/schemas/a%20b', { name: 'Orders' }, { token });
    assert.ok(status < 300, text);
    await service.call('PUT', '/v1/mapping-policy', { mode: 'report' }, { token });
    await service.call('PUT', '/v1/property-schema', { mode: 'report', schema: {} }, { token });
    for (const [path, name, ...abouts] of [
      ['/console/catalogue/schemas/a%20b', 'Events of this schema', 'a b'],
      [`/console/api-tokens/${id}`, 'Events by this API token', 'default', 'default', 'a b'],
      [`/console/api-tokens/${id}`, 'Events of this API token', String(id)],
    ] as const) {
      const link = elementsOf((await browser.get(path)).text).find(
        (each) => each.name === 'a' && each.text === name,
      );
      const events = rowsOf(await browser.get(link?.attributes.href ?? 'no link'));
      assert.deepEqual(
        events.map(({ cells }) => cells.About),
        abouts,
      );
    }
    const catalogue = elementsOf((await browser.get('/console/catalogue')).text);
    for (const [noun, what] of [
      ['mapping policy', 'Mapping policy created'],
      ['property schema', 'Property schema created'],
    ] as const) {
      const link = catalogue.find(({ attributes }) => attributes['aria-label'] === `Events of the ${noun}`);
      const events = rowsOf(await browser.get(link?.attributes.href ?? 'no link'));
      assert.match(events.map(({ cells }) => cells.What).join(), new RegExp(`^${what}`));
    }
  });

  it('shows readers the events of their own workspace and environment', async () => {
    const { token, workspaceName } = await signIn();
    await service.get({ user_group_id: 'mine', name: 'Acme' }, { token });
    const { token: readOnly } = await service.apiToken({ workspaceName, permission: 'read-only' });
    const reader = await ConsoleBrowser.signIn(service, readOnly);
    const rows = rowsOf(await reader.get(PATH));
    assert.deepEqual(
      rows.map(({ cells }) => cells.About),
      [rows[0]!.cells.About!, 'mine', rows[2]!.cells.About!],
    );
    assert.match(rows[0]!.cells.Who!, /Command line/);
    const { token: testing } = await service.apiToken({ workspaceName, environment: 'Testing' });
    const tester = await ConsoleBrowser.signIn(service, testing);
    assert.doesNotMatch((await tester.get(PATH)).text, /mine/);
    assert.match((await tester.get('/console/user-groups/mine/events')).text, /No events/);
  });

  it('filters by actor, field, kind of thing and day, even without an id', async () => {
    const { browser, token, workspaceName } = await signIn('admin');
    const other = await service.apiToken({ workspaceName, name: 'Bob' });
    const put = (fields: object, by = token) => service.put({ user_group_id: 'a', ...fields }, { token: by });
    await service.get({ user_group_id: 'a', name: 'A', mapping: { 40: 'x' } }, { token });
    await put({ mapping: { 40: 'y' } });
    await put({ mapping: { 40: 'y', 41: 'z' } }, other.token);
    const { headers } = await put({ name: 'B' }, other.token);
    const changes = async (query: string, path = PATH) =>
      rowsOf(await browser.get(`${path}?${query}`)).map(({ cells }) => cells.Changes);
    for (const path of [PATH, '/console/user-groups/a/events']) {
      assert.deepEqual(await changes('field=mapping.40', path), [
        'mapping › 40: "x" → "y"',
        'name: "A" mapping › 40: "x"',
      ]);
      assert.deepEqual(await changes(`actor=${other.id}`, path), [
        'name: "A" → "B"',
        'mapping › 41: absent → "z"',
      ]);
      assert.equal((await changes('field=mapping', path)).length, 3);
      assert.deepEqual(await changes(`field=name&actor=${other.id}`, path), ['name: "A" → "B"']);
      const today = new Date().toISOString().slice(0, 10);
      assert.equal((await changes(`since=${today}&field=mapping`, path)).length, 3);
      assert.match((await browser.get(`${path}?field=40`)).text, /an entry of the mapping as mapping\.40/);
      assert.deepEqual(await changes(`until=2020-01-01`, path), []);
      assert.deepEqual(await changes(`since=2999-01-01`, path), []);
      assert.equal((await changes('target_id=%E2%80%8B+a+', path)).length, 4);
      assert.deepEqual(await changes(`request_id=+${headers['x-request-id']}%E2%80%8B`, path), [
        'name: "A" → "B"',
      ]);
      assert.ok((await changes('since=x&until=2020-99-99', path)).length >= 4);
    }
    const tokens = rowsOf(await browser.get(`${PATH}?target_type=api_token&target_id=`));
    assert.deepEqual(
      tokens.map(({ cells }) => cells.What!.replace(/request.*/, '').trim()),
      ['API token created', 'API token created'],
    );
    assert.match(
      (await browser.get(`${PATH}?target_type=api_token`)).text,
      /<option value="api_token" selected>/,
    );
  });

  it('filters by the name of an API token or a part of it, even of a revoked one', async () => {
    const { browser, token, id, workspaceName } = await signIn('admin');
    const sync = await service.apiToken({ workspaceName, name: 'Nightly sync (2)' });
    const nameless = await service.apiToken({ workspaceName });
    await service.get({ user_group_id: 'a', name: 'A' }, { token });
    await service.put({ user_group_id: 'a', name: 'B' }, { token: sync.token });
    await service.put({ user_group_id: 'a', name: 'C' }, { token: nameless.token });
    await service.revokeApiToken(sync.id);
    const labels = ['Ada', 'Nightly sync (2)', 'API token'].map(
      (name, index) => `${name} (${[id, sync.id, nameless.id][index]})`,
    );
    const optionsOf = (page: TestResponse) =>
      elementsOf(page.text)
        .filter(({ name, attributes }) => name === 'option' && attributes.value!.includes('('))
        .map(({ attributes }) => attributes.value!);
    const fieldOf = (page: TestResponse) => fieldsOf(page.text, PATH).actor;
    const whoOf = async (actor: string) => {
      const page = await browser.get(`${PATH}?target_id=a&actor=${encodeURIComponent(actor)}`);
      const rows = rowsOf(page).map(({ cells }) => cells.Who!.replace(/API token \d+, by API/, ''));
      return { rows, field: fieldOf(page) };
    };
    const all = await browser.get(PATH);
    for (const label of labels) assert.ok(optionsOf(all).includes(label), label);
    for (const actor of ['nightly', 'SYNC (2)', labels[1]!])
      assert.deepEqual(await whoOf(actor), { rows: ['Nightly sync (2)'], field: actor });
    assert.deepEqual(await whoOf(String(sync.id)), { rows: ['Nightly sync (2)'], field: labels[1] });
    assert.deepEqual(await whoOf(labels[2]!), { rows: ['API token'], field: labels[2] });
    assert.deepEqual(await whoOf('stranger'), { rows: [], field: 'stranger' });
    assert.match((await browser.get(`${PATH}?actor=command`)).text, /Command line/);
    const { token: readOnly } = await service.apiToken({
      workspaceName,
      permission: 'read-only',
      name: 'Support',
    });
    await service.apiToken({ workspaceName, name: 'Unused' });
    const reader = await ConsoleBrowser.signIn(service, readOnly);
    // Only an admin may list API tokens: readers choose among the tokens whose changes they see.
    const offered = optionsOf(await reader.get(`${PATH}?target_id=a`));
    assert.deepEqual(offered.toSorted(), labels.toSorted());
    const found = rowsOf(await reader.get(`${PATH}?target_id=a&actor=nightly`));
    assert.equal(found.length, 1);
  });

  it('restores a value, or everything that an event changed, by a review of what is stored now', async () => {
    const { browser, token, workspaceName } = await signIn();
    const group = '/console/user-groups/a';
    const put = (fields: object | string) =>
      service.put(typeof fields === 'string' ? fields : { user_group_id: 'a', ...fields }, { token });
    await service.get(
      '{"user_group_id":"a","name":"A","mapping":{"40":"x"},"properties":{"n":1.10,"o":{"a":1,"b":2}}}',
      { token },
    );
    await put(
      '{"user_group_id":"a","name":"B","mapping":{"40":"y","41":"z"},"properties":{"n":2,"o":{"a":1,"b":3,"c":4}}}',
    );
    await put({ name: 'C' });
    const link = async (text: string, index: number) =>
      elementsOf((await browser.get(group)).text)
        .filter((each) => each.name === 'a' && each.text === text)
        .map(({ attributes }) => attributes.href!.replaceAll('&#38;', '&').replaceAll('&#61;', '='))[index]!;
    const one = await browser.get(await link('Restore this value', 2));
    assert.match(textOf(one), /Review changes a \(C\) (?:Changes )?Field Before After mapping › 40 "y" "x"/);
    await browser.submitFrom(one, `${group}/save`);
    const stored = async () => (await service.call('GET', '/v1/user-groups/a', undefined, { token })).text;
    assert.ok((await stored()).includes('"name":"C","provided_id":"a","mapping":{"40":"x","41":"z"}'));
    const all = await browser.get(await link('Undo', 2));
    await browser.submitFrom(all, `${group}/save`);
    assert.ok(
      (await stored()).includes(
        '"name":"A","provided_id":"a","mapping":{"40":"x"},"properties":{"n":1.10,"o":{"a":1,"b":2}}',
      ),
      await stored(),
    );
    for (const query of ['', '?position=1e99', '?position=0', '?position=1&field=x'])
      assert.equal((await browser.get(`${group}/restore${query}`)).status, 404, query);
    const { token: readOnly } = await service.apiToken({ workspaceName, permission: 'read-only' });
    const reader = await ConsoleBrowser.signIn(service, readOnly);
    assert.doesNotMatch((await reader.get(group)).text, /\/restore/);
    assert.equal((await reader.get(`${group}/restore?position=1`)).status, 403);
  });

  it('restores a value from before a rename, but none of another group that had the id', async () => {
    const { browser, token } = await signIn();
    await service.get({ user_group_id: 'a', name: 'A', mapping: { 40: 'x' } }, { token });
    await service.put({ user_group_id: 'a', mapping: { 40: 'y' } }, { token });
    const undoOn = async (path: string) =>
      elementsOf((await browser.get(path)).text)
        .filter((each) => each.name === 'a' && each.text === 'Undo')
        .map(({ attributes }) => attributes.href!.replaceAll('&#61;', '='));
    const [before] = await undoOn(PATH);
    await service.call('POST', '/v1/user-groups/a/rename', { user_group_id: 'b' }, { token });
    await service.call('POST', '/v1/user-groups/b/rename', { user_group_id: 'c' }, { token });
    await service.get({ user_group_id: 'a', name: 'Other', mapping: { 40: 'y' } }, { token });
    assert.equal((await browser.get(before!)).status, 404);
    const links = await undoOn('/console/user-groups/c/events');
    assert.equal(links.length, 1);
    const review = await browser.get(links[0]!);
    assert.match(
      textOf(review),
      /Review changes c \(A\) (?:Changes )?Field Before After mapping › 40 "y" "x"/,
    );
  });

  it('opens the edit form, with what is wrong, if a value to restore breaks a rule by now', async () => {
    const { browser, token } = await signIn('admin');
    const group = '/console/user-groups/a';
    await service.get({ user_group_id: 'a', name: 'A', properties: { plan: 'trial' } }, { token });
    await service.put({ user_group_id: 'a', name: 'B', properties: { plan: 'gold' } }, { token });
    const rule = {
      mode: 'enforce',
      schema: { type: 'object', properties: { plan: { enum: ['gold', 'silver'] } } },
    };
    const { status } = await service.call('PUT', '/v1/property-schema', rule, { token });
    assert.equal(status, 201);
    const undo = elementsOf((await browser.get(group)).text).find(
      (each) => each.name === 'a' && each.text === 'Undo',
    );
    const form = await browser.get(undo!.attributes.href!.replaceAll('&#61;', '='));
    assert.equal(form.status, 422);
    assert.match(textOfElement(form.text, 'title'), /^Error: Edit a /);
    assert.match(textOf(form), /Properties › plan must be/);
    const typed = fieldsOf(form.text, `${group}/review`);
    assert.deepEqual([typed.name, typed['property-0']], ['A', '"trial"']);
    const review = await browser.submitFrom(form, `${group}/review`, { 'property-0': '"silver"' });
    assert.match(textOf(review), /Field Before After name "B" "A" properties › plan "gold" "silver"/);
  });

  it('records who was shown a token, before it is shown, and not who may not see it', async () => {
    const { browser, token, id, workspaceName } = await signIn();
    await service.get({ user_group_id: 'a', name: 'Acme' }, { token });
    const group = '/console/user-groups/a';
    const shown = await browser.submit(group, `${group}/token`);
    const { json } = await service.call('GET', '/v1/user-groups/a/events', undefined, { token });
    const [event] = json.events;
    assert.equal(event.type, 'user_group.token_revealed');
    assert.deepEqual(event.actor, { type: 'api_token', id, name: 'Ada', via: 'console' });
    assert.equal(event.request_id, shown.headers['x-request-id']);
    assert.deepEqual([event.version, event.changes], [null, null]);
    const { token: readOnly } = await service.apiToken({ workspaceName, permission: 'read-only' });
    const reader = await ConsoleBrowser.signIn(service, readOnly);
    const { csrf } = fieldsOf((await reader.get(group)).text, '/console/sign-out');
    assert.equal((await reader.post(`${group}/token`, { csrf: csrf! })).status, 403);
    await service.call('GET', group.replace('/console', '/v1'), undefined, { token });
    const after = await service.call('GET', '/v1/user-groups/a/events', undefined, { token });
    assert.equal(after.json.events.length, 2);
    const [row] = rowsOf(await reader.get(`${group}/events`));
    assert.match(row!.cells.What!, /^User group token revealed/);
  });

  it('never shows a token', async () => {
    const { browser, token } = await signIn('admin');
    const { json } = await service.get({ user_group_id: 'a', name: 'Acme' }, { token });
    const rotated = await service.call('POST', '/v1/user-groups/a/rotate', {}, { token });
    for (const path of [
      PATH,
      '/console/user-groups/a',
      '/console/user-groups/a/events',
      '/console/user-groups',
    ]) {
      const { text } = await browser.get(path);
      for (const secret of [json.user_group.token, rotated.json.user_group.token, token])
        assert(!text.includes(secret.slice(10, 26)));
    }
  });
});

it('Events with many changes are rendered in several turns of the event loop', async () => {
  const members = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key ${index}`, index]));
  const event: EventsPage['events'][number] = {
    bucket: 0 as Bucket,
    workspaceId: 1,
    environment: 'Customer',
    position: 1,
    eventId: 'evt_1',
    type: 'user_group.updated',
    occurredAt: 0,
    actor: { type: 'command_line', id: null, name: null, via: 'command_line' },
    target: { type: 'user_group', id: 'acme' },
    version: 2,
    requestId: null,
    changes: jsonText({ from: {}, to: { mapping: members, properties: members } }),
    json: EMPTY_OBJECT,
  };
  const page = { events: Array.from({ length: PAGE }, () => event), nextCursor: null };
  const context = { cpu: CpuQueue.create() } as Context;
  let turns = 0;
  let next = setImmediate(function count() {
    turns++;
    next = setImmediate(count);
  });
  const call = { context, caller: operator({ workspaceId: 1, environment: 'Customer' }) };
  const { table } = await eventTable(call, page, Number.POSITIVE_INFINITY);
  clearImmediate(next);
  assert.equal(table.markup.split('<li>').length - 1, PAGE * 200);
  assert.ok(turns >= PAGE, `${turns} turns`);
});
