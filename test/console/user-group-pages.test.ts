// Contract: people create, change, rotate, suspend and delete user groups in the console, without JavaScript.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { ConsoleBrowser, fieldsOf, newWorkspace } from '../support/console.ts';
import { textOf } from '../support/console-page.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { elementsOf } from '../support/html.ts';
import type { TestResponse } from '../support/http.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const LIST = '/console/user-groups';
const NEW = '/console/user-groups/-/new';
const FIND = '/console/user-groups/-/find-by-token';

describeOnEachDatabase('user groups in the console', (database) => {
  const service = TestService.of(database);
  let browser: ConsoleBrowser;
  before(async () => {
    browser = await ConsoleBrowser.signIn(service);
  });

  /** Creates a group, and returns its token. */
  async function create(id: string, fields: object = {}): Promise<string> {
    const { json } = await service.get({ user_group_id: id, name: 'Acme', ...fields });
    return json.user_group.token;
  }

  async function read(id: string): Promise<TestResponse> {
    return service.call('GET', `/v1/user-groups/${encodeURIComponent(id)}`);
  }

  function pathOf(id: string, action = ''): string {
    return `${LIST}/${encodeURIComponent(id)}${action && '/'}${action}`;
  }

  /** Fills in the edit form, and returns the review. */
  function reviewOf(id: string, fields: Record<string, string>): Promise<TestResponse> {
    return browser.submit(`${pathOf(id, 'edit')}?as=json`, pathOf(id, 'review'), fields);
  }

  /** Returns the text of the error beside each field. */
  function errorsOf({ text }: TestResponse): Record<string, string> {
    const errors = elementsOf(text).filter(({ attributes }) => attributes.class === 'error');
    return Object.fromEntries(
      errors.map((error) => [error.attributes.id!.replace(/-error$/, ''), error.text]),
    );
  }

  function alertOf({ text }: TestResponse): string | undefined {
    return elementsOf(text).find(({ attributes }) => attributes.role === 'alert')?.text;
  }

  function noticeOf({ text }: TestResponse): string | undefined {
    return elementsOf(text).find(({ attributes }) => attributes.role === 'status')?.text;
  }

  /** Returns the cells of each row of the first table. */
  function rowsOf({ text }: TestResponse): string[][] {
    const rows: string[][] = [];
    for (const { name, text: cell, attributes } of elementsOf(text)) {
      if (name === 'table' && rows.length > 0) break;
      if (name === 'tr') rows.push([]);
      if ('data-label' in attributes) rows.at(-1)!.push(cell.trim());
    }
    return rows.filter((row) => row.length > 0);
  }

  it('creates a group with its mapping and properties as they were typed, and shows it', async () => {
    const response = await browser.submit(`${NEW}?as=json`, NEW, {
      user_group_id: 'new/1',
      name: 'Acme',
      mapping: '{"40": "acme-orders",\n "41": 7}',
      properties: '{"seats": 9007199254740993, "rate": 1.10}',
    });
    assert.equal(response.headers.location, pathOf('new/1'));
    const page = await browser.follow(response);
    assert.match(noticeOf(page)!, /was created/);
    const stored = await read('new/1');
    assert(stored.text.includes('"mapping":{"40":"acme-orders","41":7}'), stored.text);
    assert(stored.text.includes('"properties":{"seats":9007199254740993,"rate":1.10}'), stored.text);
    assert(page.text.includes('9007199254740993') && page.text.includes('1.10'));
  });

  it('asks the keyboards of phones not to change an id or a token that is typed', async () => {
    for (const [page, name] of [
      [NEW, 'user_group_id'],
      [FIND, 'token'],
    ] as const) {
      const elements = elementsOf((await browser.get(page)).text);
      const { attributes } = elements.find((element) => element.attributes.name === name)!;
      assert.deepEqual([attributes.autocapitalize, attributes.autocorrect], ['none', 'off']);
    }
  });

  it('keeps what was typed, with every error beside its field', async () => {
    const typed = {
      user_group_id: ' x',
      name: '',
      mapping: '{"40": 1.5}',
      properties: '{"a": 1,\n "a": 2} <b>',
    };
    const response = await browser.submit(`${NEW}?as=json`, NEW, typed);
    assert.equal(response.status, 400);
    assert.deepEqual({ ...fieldsOf(response.text, NEW), csrf: '' }, { ...typed, csrf: '' });
    const errors = errorsOf(response);
    assert.deepEqual(Object.keys(errors), ['user_group_id', 'name', 'mapping', 'properties']);
    assert.match(errors.mapping!, /40/);
    assert.match(errors.properties!, /\/a is a duplicate key \(character \d+\)/);
    assert.equal((await read('x')).status, 404);
  });

  it('creates no second group with an id, and leads to the existing one', async () => {
    await create('taken', { properties: { a: 1 } });
    const response = await browser.submit(NEW, NEW, { user_group_id: 'taken', name: 'Other' });
    assert.equal(response.status, 412);
    assert.match(errorsOf(response).user_group_id!, /existing/);
    assert(elementsOf(response.text).some(({ attributes }) => attributes.href === pathOf('taken')));
    assert.equal((await read('taken')).json.user_group.name, 'Acme');
  });

  it('renames the user group, unless another one has the id', async () => {
    await create('before');
    await create('occupied');
    const token = (await read('before')).json.user_group.token;
    const [page, action] = [pathOf('before', 'rename'), pathOf('before', 'rename')];
    const taken = await browser.submit(page, action, { user_group_id: 'occupied' });
    assert.match(errorsOf(taken).user_group_id!, /another user group/);
    const invalid = await browser.submit(page, action, { user_group_id: ' after' });
    assert.match(errorsOf(invalid).user_group_id!, /white space/);
    const same = await browser.submit(page, action, { user_group_id: 'before' });
    assert.match(noticeOf(await browser.follow(same))!, /nothing to save/);
    const renamed = await browser.submit(page, action, { user_group_id: 'after' });
    assert.match(noticeOf(await browser.follow(renamed))!, /was renamed/);
    assert.equal((await read('after')).json.user_group.token, token);
    assert.equal((await read('before')).status, 404);
  });

  it('is at its address with the white space of a mail around it', async () => {
    await create('mailed');
    for (const part of ['mailed%20', '%C2%A0mailed', 'mailed%0A'])
      for (const action of ['', '/edit'])
        assert.match(textOf(await browser.get(`/console/user-groups/${part}${action}`)), /mailed/, part);
    const edit = '/console/user-groups/mailed%20/edit';
    const reviewed = await browser.submit(edit, pathOf('mailed', 'review'), { name: 'From a mail' });
    assert.match(textOf(reviewed), /Review changes .*From a mail/);
  });

  it('leads from every page of a renamed group to the group', async () => {
    await create('earlier');
    const opened = await browser.get(pathOf('earlier', 'rotate'));
    const rename = pathOf('earlier', 'rename');
    await browser.follow(await browser.submit(rename, rename, { user_group_id: 'later' }));
    const leadsOn = (page: TestResponse) =>
      page.status === 404 &&
      /was renamed to later \./.test(textOf(page)) &&
      elementsOf(page.text).some(({ attributes }) => attributes.href === pathOf('later'));
    for (const action of ['', 'edit', 'rename', 'rotate', 'suspend', 'delete', 'view-as', 'restore'])
      assert.ok(leadsOn(await browser.get(pathOf('earlier', action))), action);
    assert.ok(leadsOn(await browser.submitFrom(opened, pathOf('earlier', 'rotate'))), 'rotated');
  });

  it('shows a review with the members that differ, and stores nothing before it is confirmed', async () => {
    await create('reviewed', { mapping: { 40: 1 }, properties: { plan: 'gold', seats: 25, big: 1 } });
    const review = await reviewOf('reviewed', {
      name: 'Acme Inc.',
      properties: '{"plan": "platinum", "seats": 25, "rate": 1.50}',
    });
    assert.equal(review.status, 200, review.text);
    assert.deepEqual(rowsOf(review), [
      ['name', '"Acme"', '"Acme Inc."'],
      ['properties › plan', '"gold"', '"platinum"'],
      ['properties › big', '1', 'absent'],
      ['properties › rate', 'absent', '1.50'],
    ]);
    assert.equal((await read('reviewed')).json.user_group.version, 1);
    const saved = await browser.submitFrom(review, pathOf('reviewed', 'save'));
    assert.match(noticeOf(await browser.follow(saved))!, /saved/);
    const stored = await read('reviewed');
    assert(
      stored.text.includes('"mapping":{"40":1},"properties":{"plan":"platinum","seats":25,"rate":1.50}'),
    );
    assert.equal(stored.json.user_group.version, 2);
    const { json } = await service.call('GET', '/v1/user-groups/reviewed/events');
    assert.equal(json.events[0].actor.via, 'console');
    assert.deepEqual(Object.keys(json.events[0].changes), ['name', 'properties']);
  });

  it('changes nothing if the form is sent unchanged, and if a save is sent twice', async () => {
    const properties = '{"z":1,"a":[1e400,-0.0]," ":{"deep":{}}}';
    await service.get(
      `{"user_group_id":"twice","name":" Acme ","mapping":{"40":7},"properties":${properties}}`,
    );
    const same = await reviewOf('twice', {});
    assert.match(same.text, /Nothing differs/);
    assert.deepEqual(rowsOf(same), []);
    const review = await reviewOf('twice', { mapping: '' });
    for (const done of [/were saved/, /nothing to save/]) {
      const saved = await browser.submitFrom(review, pathOf('twice', 'save'));
      assert.equal(saved.headers.location, pathOf('twice'));
      assert.match(noticeOf(await browser.follow(saved))!, done);
    }
    const stored = await read('twice');
    assert(
      stored.text.includes(`"name":" Acme ","provided_id":"twice","mapping":null,"properties":${properties}`),
    );
    assert.equal(stored.json.user_group.version, 2);
  });

  it('edits properties of the greatest size, whatever their form', async () => {
    const size = 65_536;
    const texts = {
      deep: `{"a":${'['.repeat(14)}${'1,'.repeat((size - 40) / 2)}1${']'.repeat(14)}}`,
      quotes: `{"a":"${'\\"'.repeat((size - 10) / 2)}"}`,
      wide: `{"a":"${'中'.repeat((size - 10) / 3)}"}`,
    };
    for (const [id, properties] of Object.entries(texts)) {
      const created = await service.get(`{"user_group_id":"${id}","name":"Acme","properties":${properties}}`);
      assert.equal(created.status, 200, created.text);
      const review = await reviewOf(id, { name: 'New' });
      assert.deepEqual(rowsOf(review), [['name', '"Acme"', '"New"']]);
      assert.equal((await browser.submitFrom(review, pathOf(id, 'save'))).status, 303);
      assert((await read(id)).text.includes(`"properties":${properties},`), id);
    }
  });

  it('leads from the review back to the form with what was typed', async () => {
    await create('again', { properties: { a: 1 } });
    const review = await reviewOf('again', { name: 'New', properties: '{"b": 2.0}' });
    const form = await browser.submitFrom(review, pathOf('again', 'edit'), { as: 'json' });
    const { name, properties, version } = fieldsOf(form.text, pathOf('again', 'review'));
    assert.deepEqual([name, properties!.replace(/\s/g, '')], ['New', '{"b":2.0}']);
    assert.equal(version, fieldsOf(review.text, pathOf('again', 'save')).version);
  });

  it('shows both versions if the group was changed in the meantime, and does what the person decides', async () => {
    for (const [decision, expected] of [
      ['overwrite', { name: 'Mine', properties: { plan: 'mine', seats: 2 } }],
      ['choose', { name: 'Theirs', properties: { plan: 'mine', seats: 2 } }],
      ['keep', { name: 'Theirs', properties: { plan: 'gold', seats: 2 } }],
      ['edit', { name: 'Third', properties: { plan: 'mine', seats: 2 } }],
    ] as const) {
      const id = `conflict-${decision}`;
      await create(id, { properties: { plan: 'gold', seats: 1 } });
      const review = await reviewOf(id, { name: 'Mine', properties: '{"plan": "mine", "seats": 1}' });
      await service.put({ user_group_id: id, name: 'Theirs', properties: { plan: 'gold', seats: 2 } });
      const conflict = await browser.submitFrom(review, pathOf(id, 'save'));
      assert.equal(conflict.status, 412);
      assert.deepEqual(rowsOf(conflict), [['properties › seats', '1', '2']]);
      assert.match(
        textOf(conflict),
        /Changed by you only Changes Field Before After properties › plan "gold" "mine" Changed by others and by you .* name "Theirs" "Mine" Keep stored/,
      );
      assert.equal((await read(id)).json.user_group.name, 'Theirs');
      if (decision === 'overwrite' || decision === 'choose') {
        const kept = decision === 'choose' && { keep: '["name"]' };
        const saved = await browser.submitFrom(conflict, pathOf(id, 'save'), { ...kept });
        assert.equal(saved.headers.location, pathOf(id));
      } else if (decision === 'edit') {
        const form = await browser.submitFrom(conflict, pathOf(id, 'edit'));
        const again = await browser.submitFrom(form, pathOf(id, 'review'), { name: 'Third' });
        await browser.submitFrom(again, pathOf(id, 'save'));
      } else {
        assert(
          elementsOf(conflict.text).some(
            ({ text, attributes }) => /Keep/.test(text) && attributes.href === pathOf(id),
          ),
        );
      }
      const { name, properties } = (await read(id)).json.user_group;
      assert.deepEqual({ name, properties }, expected);
    }
  });

  it('shows the conflict again if the group is changed while the person decides, and before the review', async () => {
    await create('busy');
    const form = await browser.get(pathOf('busy', 'edit'));
    await service.put({ user_group_id: 'busy', name: 'Second' });
    const conflict = await browser.submitFrom(form, pathOf('busy', 'review'), { name: 'Mine' });
    assert.equal(conflict.status, 412);
    await service.put({ user_group_id: 'busy', name: 'Third' });
    const next = await browser.submitFrom(conflict, pathOf('busy', 'save'));
    assert.equal(next.status, 412);
    assert.deepEqual(rowsOf(next), [['name', '"Third"', '"Mine"', 'Keep stored']]);
    assert.equal((await read('busy')).json.user_group.name, 'Third');
  });

  it('merges fields that different people changed, after a review, and keeps the order and the digits', async () => {
    await service.get(
      '{"user_group_id":"merge","name":"Acme","mapping":{"40":"a","41":"b"},"properties":{"z":1.0,"y":2,"x":3}}',
    );
    const form = await browser.get(`${pathOf('merge', 'edit')}?as=json`);
    const theirs =
      '{"user_group_id":"merge","name":"Theirs","mapping":{"40":"a","41":"c"},"properties":{"z":1.0,"y":2,"w":1e2}}';
    assert.equal((await service.put(theirs)).status, 200);
    const typed = {
      mapping: '{"40": "d", "41": "b"}',
      properties: '{"z": 1.0, "y": 9007199254740993, "x": 3}',
    };
    const review = await browser.submitFrom(form, pathOf('merge', 'review'), typed);
    assert.equal(review.status, 200, review.text);
    assert.match(
      textOf(review),
      /These changes stay: .* name "Acme" "Theirs" mapping › 41 "b" "c" properties › w absent 1e2 properties › x 3 absent Yours .* mapping › 40 "a" "d" properties › y 2 9007199254740993/,
    );
    await browser.submitFrom(review, pathOf('merge', 'save'));
    const stored = await read('merge');
    assert.ok(
      stored.text.includes(
        '"name":"Theirs","provided_id":"merge","mapping":{"40":"d","41":"c"},"properties":{"z":1.0,"y":9007199254740993,"w":1e2}',
      ),
      stored.text,
    );
    // Changed between the review and the save, so the review is shown again.
    const second = await reviewOf('merge', { name: 'Mine' });
    await service.put({ user_group_id: 'merge', mapping: null });
    const again = await browser.submitFrom(second, pathOf('merge', 'save'));
    assert.equal(again.status, 412);
    assert.match(textOf(again), /mapping › 40 "d" absent .* Yours .* name "Theirs" "Mine"/);
    assert.equal((await browser.submitFrom(again, pathOf('merge', 'save'))).status, 303);
    const { name, mapping } = (await read('merge')).json.user_group;
    assert.deepEqual([name, mapping], ['Mine', null]);
  });

  it('treats what differs as a conflict if the form does not say what it was opened with', async () => {
    await create('unknown', { properties: { a: 1 } });
    const form = fieldsOf(
      (await browser.get(`${pathOf('unknown', 'edit')}?as=json`)).text,
      pathOf('unknown', 'review'),
    );
    await service.put({ user_group_id: 'unknown', properties: { a: 2 } });
    for (const base of ['', '{', '[]', '{"name":1}', '{"name":"A","mapping":[]}x']) {
      const conflict = await browser.post(pathOf('unknown', 'review'), { ...form, base });
      assert.deepEqual(rowsOf(conflict), [['properties › a', '2', '1', 'Keep stored']], base);
    }
  });

  it('lets exactly one of many concurrent saves win', async () => {
    await create('race');
    const reviews = await Promise.all(
      Array.from({ length: 8 }, (_, index) => reviewOf('race', { name: `Name ${index}` })),
    );
    const responses = await Promise.all(
      reviews.map((review) => browser.submitFrom(review, pathOf('race', 'save'))),
    );
    const statuses = responses.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [303, ...Array(7).fill(412)]);
    assert.equal((await read('race')).json.user_group.version, 2);
  });

  it('offers to create a group that was deleted while it was edited, and does not bring it back by itself', async () => {
    for (const isRecreated of [false, true]) {
      const id = `gone-${isRecreated}`;
      await create(id);
      const review = await reviewOf(id, { name: 'Mine' });
      await service.call('DELETE', pathOf(id).replace('/console', '/v1'));
      if (isRecreated) await create(id, { name: 'Another' });
      const response = await browser.submitFrom(review, pathOf(id, 'save'));
      assert.equal(response.status, isRecreated ? 412 : 404);
      if (isRecreated) {
        assert.deepEqual(rowsOf(response), [['name', '"Another"', '"Mine"', 'Keep stored']]);
        continue;
      }
      assert.match(textOf(response), /no longer exists/);
      assert.ok(elementsOf(response.text).every(({ attributes }) => attributes.action !== NEW));
      const form = await browser.submitFrom(response, `${NEW}/form`);
      assert.equal((await read(id)).status, 404);
      assert.deepEqual([fieldsOf(form.text, NEW).user_group_id, fieldsOf(form.text, NEW).name], [id, 'Mine']);
    }
  });

  it('leads to a group that was renamed while it was edited, with what was typed, and creates none under its former id', async () => {
    await create('moved', { properties: { plan: 'gold' } });
    const review = await reviewOf('moved', { name: 'Mine' });
    await service.call('POST', '/v1/user-groups/moved/rename', { user_group_id: 'moved/2' });
    const response = await browser.submitFrom(review, pathOf('moved', 'save'));
    assert.equal(response.status, 404);
    assert.match(textOf(response), /Renamed in the meantime Nothing was saved: .* moved\/2/);
    assert.doesNotMatch(textOf(response), /new user group|not exist/);
    const form = await browser.submitFrom(response, pathOf('moved/2', 'edit'));
    const again = await browser.submitFrom(form, pathOf('moved/2', 'review'));
    assert.deepEqual(rowsOf(again), [['name', '"Acme"', '"Mine"']]);
    assert.equal((await browser.submitFrom(again, pathOf('moved/2', 'save'))).status, 303);
    assert.equal((await read('moved/2')).json.user_group.name, 'Mine');
    // A later group with the same id, deleted since, is not taken for the renamed one.
    await create('moved');
    const other = await reviewOf('moved', { name: 'Of another' });
    await service.call('DELETE', '/v1/user-groups/moved');
    assert.match(textOf(await browser.submitFrom(other, pathOf('moved', 'save'))), /Deleted in the meantime/);
  });

  it('shows the token only when a person who may see it asks for it', async () => {
    const token = await create('secret');
    const { token: readOnly } = await service.apiToken({ permission: 'read-only' });
    const reader = await ConsoleBrowser.signIn(service, readOnly);
    for (const who of [browser, reader])
      assert(!(await who.get(pathOf('secret'))).text.includes(token.slice(10, 30)));
    const shown = await browser.submit(pathOf('secret'), pathOf('secret', 'token'));
    assert.equal(shown.status, 200);
    assert(shown.text.includes(token));
    assert.equal(shown.headers['cache-control'], 'no-store');
    const { csrf } = fieldsOf((await reader.get(LIST)).text, '/console/sign-out');
    assert.equal((await reader.post(pathOf('secret', 'token'), { csrf: csrf! })).status, 403);
  });

  it('rotates a token with a grace period, once, and says what a second rotation ends', async () => {
    const first = await create('rotated');
    const page = await browser.get(pathOf('rotated', 'rotate'));
    const rotated = await browser.submitFrom(page, pathOf('rotated', 'rotate'), {
      grace_period_seconds: '3600',
    });
    assert.match(noticeOf(await browser.follow(rotated))!, /rotated/);
    assert.equal((await service.resolve(first)).json.token.status, 'retiring');
    const repeated = await browser.submitFrom(page, pathOf('rotated', 'rotate'), {
      grace_period_seconds: '3600',
    });
    assert.equal(repeated.status, 412);
    assert.match(alertOf(repeated)!, /changed after you opened/);
    assert.match(repeated.text, /This rotation ends it now/);
    assert.match(textOf(repeated), /Last events .* User group token rotated/);
    assert.equal((await service.resolve(first)).json.token.status, 'retiring');
    await browser.submitFrom(repeated, pathOf('rotated', 'rotate'), { grace_period_seconds: '0' });
    assert.equal((await service.resolve(first)).status, 404);
    const bad = await browser.submit(pathOf('rotated', 'rotate'), pathOf('rotated', 'rotate'), {
      grace_period_seconds: '1',
    });
    assert.equal(bad.status, 400);
    assert.equal((await read('rotated')).json.user_group.version, 3);
  });

  it('asks why a token is rotated: after a leak it stops working immediately', async () => {
    const rotate = pathOf('leaked', 'rotate');
    const first = await create('leaked');
    const asked = await browser.submit(rotate, rotate);
    assert.equal(asked.status, 400);
    assert.match(textOf(asked), /Rotate the token leaked \(Acme\)/);
    assert.match(errorsOf(asked).reason!, /must be chosen/);
    await browser.submitFrom(asked, rotate, { reason: 'routine' });
    assert.equal((await service.resolve(first)).json.token.status, 'retiring');
    const second = (await read('leaked')).json.user_group.token;
    await browser.submit(rotate, rotate, { reason: 'leak' });
    assert.equal((await service.resolve(second)).status, 404);
    const third = (await read('leaked')).json.user_group.token;
    await browser.submit(rotate, rotate, { reason: 'leak', grace_period_seconds: '3600' });
    assert.equal((await service.resolve(third)).json.token.status, 'retiring');
  });

  it('leads from the address of an action to the page above it', async () => {
    await create('above/1');
    for (const action of ['token', 'resume', 'review', 'save']) {
      const { status, headers } = await browser.get(pathOf('above/1', action));
      assert.deepEqual([status, headers.location], [303, pathOf('above/1')], action);
    }
    const redelivery = '/console/webhooks/crm/deliveries/evt_1/redeliver';
    assert.equal((await browser.get(redelivery)).headers.location, '/console/webhooks/crm/deliveries/evt_1');
    assert.equal((await browser.get('/console/sign-out')).headers.location, '/console');
    for (const action of ['selection', 'selection/apply']) {
      const { headers } = await browser.get(`/console/user-groups/-/${action}?search=a%26b`);
      assert.equal(headers.location, '/console/user-groups?search=a%26b', action);
    }
  });

  it('suspends and resumes', async () => {
    const token = await create('suspended');
    const page = await browser.get(pathOf('suspended', 'suspend'));
    const suspended = await browser.follow(await browser.submitFrom(page, pathOf('suspended', 'suspend')));
    assert.match(noticeOf(suspended)!, /is suspended/);
    assert.equal((await service.resolve(token)).status, 404);
    assert.equal((await browser.submitFrom(page, pathOf('suspended', 'suspend'))).status, 412);
    const resumed = await browser.submitFrom(suspended, pathOf('suspended', 'resume'));
    assert.match(noticeOf(await browser.follow(resumed))!, /is resumed/);
    assert.equal((await service.resolve(token)).status, 200);
    const repeated = await browser.submitFrom(suspended, pathOf('suspended', 'resume'));
    assert.equal(repeated.status, 412);
    assert.match(alertOf(repeated)!, /changed after you opened/);
  });

  it('deletes a group only if its id is typed and it has not changed', async () => {
    const token = await create('Deleted É');
    const [page, action] = [pathOf('Deleted É', 'delete'), pathOf('Deleted É', 'delete')];
    for (const typed of ['', 'deleted É', 'Deleted É ', 'Deleted E\u0301']) {
      const response = await browser.submit(page, action, { user_group_id: typed });
      assert.equal(response.status, 400);
      assert.match(errorsOf(response).user_group_id!, /exactly the id/);
      assert.equal(fieldsOf(response.text, action).user_group_id, typed);
    }
    const before = await browser.get(page);
    await service.put({ user_group_id: 'Deleted É', name: 'Changed' });
    assert.equal((await browser.submitFrom(before, action, { user_group_id: 'Deleted É' })).status, 412);
    // A page that only repeats the question has not said that the group was changed.
    const again = await browser.submitFrom(before, action, { user_group_id: 'mistyped' });
    assert.equal(again.status, 400);
    assert.equal((await browser.submitFrom(again, action, { user_group_id: 'Deleted É' })).status, 412);
    assert.equal((await service.resolve(token)).status, 200);
    const deleted = await browser.submit(page, action, { user_group_id: 'Deleted É' });
    assert.match(noticeOf(await browser.follow(deleted))!, /deleted/);
    assert.equal((await service.resolve(token)).status, 404);
    assert.equal((await browser.get(pathOf('Deleted É'))).status, 404);
  });

  it('shows how often the tokens were used on the last days', async () => {
    const token = await create('used');
    assert.match(
      (await browser.get(pathOf('used'))).text,
      /No use under this id was counted in the last 14 days\. A use is counted within a minute\./,
    );
    for (let times = 0; times < 37; times++) await service.resolve(token);
    await service.writeUsage();
    const date = new Date(Date.now() + service.clockAheadMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
    const { text } = await browser.get(pathOf('used'));
    assert.match(text, new RegExp(`<time datetime="${date}">.*?<td data-label="Resolved">37</td>`, 's'));
  });

  it('says what depends on the token before it stops resolving', async () => {
    const { token } = await service.apiToken({ permission: 'admin', workspaceName: 'depends' });
    const admin = await ConsoleBrowser.signIn(service, token);
    await service.get({ user_group_id: 'a', name: 'Acme' }, { token });
    const integration = { type: 'jwt', ttl_seconds: 600, settings: { audience: 'cube' } };
    const put = await served(() => service.call('PUT', '/v1/integrations/cube', integration, { token }));
    assert.equal(put.status, 201, put.text);
    for (const action of ['rotate', 'suspend', 'delete']) {
      const { text } = await admin.get(pathOf('a', action));
      assert.match(text, /last seen/);
      assert.match(text, /cube<\/span><\/a>.*600 seconds at most/s);
    }
  });

  it('finds the group of a token, whatever became of the token, without counting it as seen', async () => {
    const first = await create('found');
    const { json } = await service.post({ current_token: first, grace_period_seconds: 3_600 });
    const second: string = json.user_group.token;
    const find = async (token: string) => {
      const found = await browser.submit(FIND, FIND, { token });
      return found.status === 303 ? noticeOf(await browser.follow(found)) : undefined;
    };
    assert.match((await find(` ${second}\n`))!, /is the current one/);
    assert.match((await find(first))!, /still resolves/);
    await service.call('POST', '/v1/user-groups/found/rotate', {});
    assert.match((await find(second))!, /no longer resolves/);
    await service.call('POST', '/v1/user-groups/found/suspend');
    assert.match((await find(second))!, /no longer resolves/);
    assert.equal(await find(first), undefined);
    await service.writeUsage();
    assert.equal((await read('found')).json.user_group.last_seen_at, null);
  });

  it('finds the token within what was pasted: an address, a header, quotes, or lines that a mail has wrapped', async () => {
    const { browser: admin, call } = await newWorkspace(service);
    const integration = {
      type: 'jwt',
      settings: { audience: 'cube' },
      claims: { id: { field: 'provided_id' } },
    };
    await call('PUT', '/v1/integrations/cube', integration);
    const { json } = await call('PUT', '/v1/user-groups/pasted', { name: 'Pasted' });
    const minted = await call('POST', '/v1/embed-tokens', { integration: 'cube', user_group_id: 'pasted' });
    const find = async (token: string) => {
      const found = await admin.submit(FIND, FIND, { token });
      return found.status === 303 ? noticeOf(await admin.follow(found)) : errorsOf(found).token;
    };
    const issued: string = json.user_group.token;
    for (const token of [issued, minted.json.embed_token.token as string])
      for (const pasted of [
        `https://dashboards.example.com/?token=${token}&lang=en`,
        `Authorization: Bearer ${token}`,
        `"${token}",`,
        `curl -H 'Authorization: Token ${service.token}' -d '{"token":"${token}"}'`,
      ])
        assert.match((await find(pasted))!, /is the current one|is valid/, pasted);
    for (const wrap of ['\n  ', '\u200b', '\u00ad'])
      assert.match((await find(`${issued.slice(0, 20)}${wrap}${issued.slice(20)}`))!, /is the current one/);
    const embedded: string = minted.json.embed_token.token;
    assert.match((await find(`${embedded.slice(0, 200)}\u200b${embedded.slice(200)}`))!, /is valid/);
    assert.match((await find(`?token=${issued.slice(0, -1)}`))!, /not known here/);
  });

  it('finds no token of another workspace or environment, and shows no token that was typed', async () => {
    const { token: other } = await service.apiToken({ environment: 'Testing' });
    const { json } = await service.get({ user_group_id: 'other', name: 'Other' }, { token: other });
    for (const token of [json.user_group.token as string, 'x', `${'y'.repeat(5_000)}`]) {
      const response = await browser.submit(FIND, FIND, { token });
      assert.equal(response.status, 404);
      assert.match(errorsOf(response).token!, /not known here/);
      assert(!response.text.includes(token.slice(0, 30)) || token.length === 1);
    }
  });

  it('leads an administrator from the text of an API token to it, and says whether the text is valid', async () => {
    const { browser: admin, id, token, call, reader } = await newWorkspace(service);
    const page = `/console/api-tokens/${id}`;
    const find = (person: ConsoleBrowser, text: string) => person.submit(FIND, FIND, { token: text });
    const pasted = [
      token,
      `curl -H "Authorization: Token ${token}"`,
      `${token.slice(0, 9)}\n${token.slice(9)}`,
    ];
    for (const text of pasted) {
      const found = await find(admin, text);
      assert.equal(found.headers.location, page, found.text);
      assert.match(noticeOf(await admin.follow(found))!, /is valid/);
    }
    const { json } = await call('POST', '/v1/api-tokens', { name: 'leaked', permission: 'resolve' });
    const { api_token_id: leaked } = json.api_token;
    assert.equal((await call('DELETE', `/v1/api-tokens/${leaked}`)).status, 204);
    const found = await find(admin, json.api_token.token);
    assert.equal(found.headers.location, `/console/api-tokens/${leaked}`);
    assert.match(noticeOf(await admin.follow(found))!, /no longer valid/);
    for (const [person, text, message] of [
      [admin, service.token, /none of this workspace and environment/],
      [await reader('read-write'), token, /ask an administrator/],
    ] as const) {
      const refused = await find(person, text);
      assert.equal(refused.status, 404);
      assert.match(alertOf(refused)!, message);
      assert.doesNotMatch(refused.text, new RegExp(text));
    }
  });

  it('hides from readers what they may not do, and rejects it', async () => {
    await create('read-only');
    const { token } = await service.apiToken({ permission: 'read-only' });
    const reader = await ConsoleBrowser.signIn(service, token);
    const page = await reader.get(pathOf('read-only'));
    assert.equal(page.status, 200);
    for (const { attributes } of elementsOf(page.text)) {
      const target = attributes.href ?? attributes.action ?? '';
      assert.doesNotMatch(target, /\/(?:edit|rotate|suspend|resume|delete|token)$/);
    }
    assert.doesNotMatch((await reader.get(LIST)).text, /-\/new/);
    const { csrf } = fieldsOf(page.text, '/console/sign-out');
    const actions = ['token', 'edit', 'review', 'save', 'rotate', 'suspend', 'resume', 'delete'];
    const fields = { csrf: csrf!, version: '1-1', name: 'x', user_group_id: 'read-only' };
    for (const action of actions)
      assert.equal((await reader.post(pathOf('read-only', action), fields)).status, 403, action);
    assert.equal((await reader.post(NEW, fields)).status, 403);
    for (const form of ['edit', 'rotate', 'suspend', 'delete'])
      assert.equal((await reader.get(pathOf('read-only', form))).status, 403, form);
    assert.equal((await reader.get(NEW)).status, 403);
    assert.equal((await read('read-only')).json.user_group.version, 1);
    assert.equal((await reader.submit(FIND, FIND, { token: 'x' })).status, 404);
  });

  it('rejects every action without the token of the form, and changes nothing', async () => {
    await create('forged');
    const { version } = fieldsOf(
      (await browser.get(pathOf('forged', 'edit'))).text,
      pathOf('forged', 'review'),
    );
    const fields = { version: version!, name: 'x', user_group_id: 'forged', grace_period_seconds: '0' };
    for (const action of ['token', 'edit', 'review', 'save', 'rotate', 'suspend', 'resume', 'delete'])
      for (const csrf of ['', 'x'.repeat(22)])
        assert.equal((await browser.post(pathOf('forged', action), { ...fields, csrf })).status, 403, action);
    assert.equal((await read('forged')).json.user_group.version, 1);
  });

  it('changes nothing without a version', async () => {
    await create('blind');
    const { csrf } = fieldsOf((await browser.get(LIST)).text, '/console/sign-out');
    const fields = { csrf: csrf!, name: 'x', user_group_id: 'blind', grace_period_seconds: '0' };
    for (const version of ['', '*', '1-', 'x'])
      for (const action of ['review', 'save', 'rotate', 'suspend', 'resume', 'delete'])
        assert.equal(
          (await browser.post(pathOf('blind', action), { ...fields, version })).status,
          412,
          action,
        );
    assert.equal((await read('blind')).json.user_group.version, 1);
  });

  it('edits a user group with as much text as there can be, and refuses a larger form', async () => {
    await create('largest');
    const text = '😀'.repeat(250);
    const mapping = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}${text}`, text]));
    for (const fields of [{ mapping }, { properties: { x: '😀'.repeat(16_000) } }]) {
      const { status, text: body } = await service.call('PATCH', '/v1/user-groups/largest', fields);
      assert.equal(status, 200, body);
    }
    const review = await reviewOf('largest', { name: 'Renamed' });
    assert.equal(review.status, 200, review.text.slice(0, 500));
    assert.equal((await browser.submitFrom(review, pathOf('largest', 'save'))).status, 303);
    const { user_group: stored } = (await read('largest')).json;
    assert.deepEqual([stored.name, stored.mapping], ['Renamed', mapping]);
    const refused = await reviewOf('largest', { properties: 'x'.repeat(2 ** 21) });
    assert.equal(refused.status, 413);
    assert.match(refused.headers['content-type']!, /^text\/html/);
  });
});
