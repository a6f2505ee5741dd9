// The catalogue in the console: schemas, data sources, the mapping policy and the property schema.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fieldsOf, newWorkspace } from '../support/console.ts';
import { actionsOf, errorOf, openForm, textOf, unescaped } from '../support/console-page.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { elementsOf } from '../support/html.ts';
import type { TestResponse } from '../support/http.ts';
import { TestService } from '../support/service.ts';

const CATALOGUE = '/console/catalogue';
const SCHEMAS = `${CATALOGUE}/schemas`;
const DATA_SOURCES = `${CATALOGUE}/data-sources`;
const POLICY = `${CATALOGUE}/mapping-policy`;
const PROPERTY_SCHEMA = `${CATALOGUE}/property-schema`;

describeOnEachDatabase('The catalogue in the console', (database) => {
  const service = TestService.of(database);

  it('creates, changes and deletes a schema', async () => {
    const { browser, call } = await newWorkspace(service);
    const created = await browser.submit(`${SCHEMAS}/-/new`, `${SCHEMAS}/-/new`, {
      id: 'a/b 40',
      name: 'Orders',
      default_data_source: '',
    });
    assert.equal(created.status, 303, created.text);
    const path = `${SCHEMAS}/a%2Fb%2040`;
    assert.equal(created.headers.location, path);
    assert.match(textOf(await browser.get(created.headers.location!)), /Saved\..*a\/b 40.*Orders/);
    const changed = await browser.submit(`${path}/edit`, `${path}/edit`, {
      name: 'Sales',
      default_data_source: 'shared',
      confirmed: 'on',
    });
    assert.equal(changed.status, 303, changed.text);
    const { json } = await call('GET', '/v1/schemas/a%2Fb%2040');
    assert.deepEqual(
      [json.schema.name, json.schema.default_data_source, json.schema.version],
      ['Sales', 'shared', 2],
    );
    for (const page of [await browser.get(CATALOGUE), await browser.get(path)]) {
      assert.match(textOf(page), /Sales .*shared/);
      assert.ok(page.text.includes(`href="${DATA_SOURCES}/shared"`));
    }
    const deleted = await browser.submit(`${path}/delete`, `${path}/delete`, {});
    assert.equal(deleted.headers.location, SCHEMAS);
    assert.match(textOf(await browser.follow(deleted)), /Deleted\. No schemas/);
    assert.equal((await call('GET', '/v1/schemas/a%2Fb%2040')).status, 404);
  });

  it('keeps a default that is the number of a data source', async () => {
    const { browser, call } = await newWorkspace(service);
    await call('PUT', '/v1/schemas/40', { name: 'Orders', default_data_source: 213 });
    const page = await browser.get(`${SCHEMAS}/40/edit`);
    assert.match(page.text, /name="default_is_number" value="on" checked/);
    const typed = { name: 'Orders', default_data_source: '214', default_is_number: 'on', confirmed: 'on' };
    await browser.submit(`${SCHEMAS}/40/edit`, `${SCHEMAS}/40/edit`, typed);
    assert.equal((await call('GET', '/v1/schemas/40')).json.schema.default_data_source, 214);
    const withText = { ...typed, default_data_source: 'two' };
    const saved = await browser.submit(`${SCHEMAS}/40/edit`, `${SCHEMAS}/40/edit`, withText);
    // A text is valid too: it is a data source id chosen by the caller.
    assert.equal(saved.status, 303);
  });

  it('asks for confirmation before it stores a default that is not a data source of the schema, or is reserved', async () => {
    const { browser, call } = await newWorkspace(service);
    for (const id of ['40', '41']) await call('PUT', `/v1/schemas/${id}`, { name: id });
    const put = async (id: string, fields: object) =>
      (await call('PUT', `/v1/data-sources/${id}`, { schema_id: '40', name: id, ...fields })).json
        .data_source;
    await put('other', { schema_id: '41' });
    await put('reserved', { user_group_id: 'acme' });
    const { data_source_id: number } = await put('shared', {});
    const edit = `${SCHEMAS}/40/edit`;
    const save = (fields: Record<string, string>) =>
      browser.submit(edit, edit, { name: 'Orders', ...fields });
    const stored = async () => (await call('GET', '/v1/schemas/40')).json.schema.default_data_source;
    for (const default_data_source of ['shred', 'other', 'reserved']) {
      const doubtful = await save({ default_data_source });
      assert.equal(doubtful.status, 400);
      assert.match(
        textOf(doubtful),
        /Default data source is not a data source of this schema .*Save it anyway/,
      );
      assert.equal(await stored(), null);
      const confirmed = await browser.submitFrom(doubtful, edit, { confirmed: 'on' });
      assert.equal(confirmed.status, 303, confirmed.text);
      assert.equal(await stored(), default_data_source);
      assert.equal((await save({ name: 'Renamed' })).status, 303);
      await call('PUT', '/v1/schemas/40', { name: 'Orders' });
    }
    assert.equal((await save({ default_data_source: 'shared' })).status, 303);
    assert.equal((await save({ default_data_source: `${number}`, default_is_number: 'on' })).status, 303);
    assert.equal(await stored(), number);
  });

  it('creates and changes a data source, whose attributes stay as they were typed', async () => {
    const { browser, call } = await newWorkspace(service);
    const attributes = '{"port": 5432.10, "b": 1, "a": 12345678901234567890}';
    const typed = { id: 'acme', schema_id: '40', name: 'Acme', attributes };
    const path = `${DATA_SOURCES}/-/new`;
    const doubtful = await browser.submit(`${path}?schema=40`, path, typed);
    assert.equal(doubtful.status, 400);
    assert.match(textOf(doubtful), /is not the id of a schema.*Save it anyway/);
    assert.equal((await call('GET', '/v1/data-sources/acme')).status, 404);
    const created = await browser.submitFrom(doubtful, path, { confirmed: 'on' });
    assert.equal(created.status, 303, created.text);
    await call('PUT', '/v1/schemas/40', { name: 'Orders' });
    const stored = () => call('GET', '/v1/data-sources/acme');
    assert.match((await stored()).text, /"attributes":\{"port":5432\.10,"b":1,"a":12345678901234567890\}/);
    const number = (await stored()).json.data_source.data_source_id;
    const edit = `${DATA_SOURCES}/acme/edit`;
    const page = await browser.get(edit);
    assert.match(unescaped(page.text), /"port": 5432\.10,\n {2}"b": 1,/);
    const changed = await browser.submit(edit, edit, {
      schema_id: '41',
      confirmed: 'on',
      name: 'Acme 2',
      attributes: '',
    });
    assert.equal(changed.status, 303);
    const { json } = await stored();
    assert.deepEqual(json.data_source.attributes, {});
    assert.deepEqual([json.data_source.data_source_id, json.data_source.schema_id], [number, '41']);
  });

  it('reserves a data source, and shows the error of every other group that is mapped to it', async () => {
    const { browser, call } = await newWorkspace(service);
    await call('PUT', '/v1/schemas/40', { name: 'Orders' });
    const typed = { schema_id: '40', name: 'Acme', attributes: '' };
    const created = await browser.submit(`${DATA_SOURCES}/-/new`, `${DATA_SOURCES}/-/new`, {
      ...typed,
      id: 'acme',
      user_group_id: 'acme-7',
    });
    assert.equal(created.status, 303, created.text);
    assert.equal((await call('GET', '/v1/data-sources/acme')).json.data_source.user_group_id, 'acme-7');
    assert.match(textOf(await browser.get(`${DATA_SOURCES}/acme`)), /Reserved for acme-7/);
    assert.match(textOf(await browser.get(DATA_SOURCES)), /Reserved for acme \d+ 40 Acme acme-7/);
    for (const id of ['acme-7', 'globex'])
      await call('POST', '/v1/user-groups', { user_group_id: id, name: id, mapping: { 40: 'acme' } });
    const shown = async (id: string) => textOf(await browser.get(`/console/user-groups/${id}`));
    assert.match(
      await shown('globex'),
      /40 Orders acme error is reserved for another user group: the dashboard shows an error/,
    );
    assert.doesNotMatch(await shown('acme-7'), /is reserved for another/);
    for (const path of ['globex', 'globex/view-as']) {
      const { text } = await browser.get(`/console/user-groups/${path}`);
      assert.match(text, /<td data-label="Data source">(?:(?!<\/td>).)*is reserved for another/s);
    }
    const edit = `${DATA_SOURCES}/acme/edit`;
    await browser.submit(edit, edit, { ...typed, user_group_id: '' });
    assert.equal((await call('GET', '/v1/data-sources/acme')).json.data_source.user_group_id, null);
    assert.match(textOf(await browser.get(`${DATA_SOURCES}/acme`)), /Reserved for Any user group\./);
  });

  it('says in one sentence what the dashboards of a customer see, where it comes from, and what is wrong', async () => {
    const { browser, call } = await newWorkspace(service);
    const shown = async (action = '') => textOf(await browser.get(`/console/user-groups/acme${action}`));
    const sentence = async () => {
      const [onPage, asViewed] = await Promise.all([shown(), shown('/view-as')]);
      const found = /(?:wrong|as configured) Dashboards of this customer:? [^.]*\./.exec(onPage)?.[0];
      assert.ok(found !== undefined && asViewed.includes(found), onPage);
      return found;
    };
    await call('POST', '/v1/user-groups', { user_group_id: 'acme', name: 'Acme', mapping: { 40: 'orders' } });
    assert.equal(
      await sentence(),
      'as configured Dashboards of this customer get its mapping and properties as they are stored.',
    );
    await call('PUT', '/v1/schemas/40', { name: 'Orders' });
    await call('PUT', '/v1/schemas/41', { name: 'Stock', default_data_source: 'stock' });
    assert.equal(
      await sentence(),
      'wrong Dashboards of this customer: an error is shown for the schemas 40, 41.',
    );
    await call('PUT', '/v1/data-sources/orders', { schema_id: '40', name: 'O' });
    await call('PUT', '/v1/data-sources/stock', { schema_id: '41', name: 'S' });
    assert.equal(
      await sentence(),
      'as configured Dashboards of this customer read the data sources orders, stock.',
    );
    assert.match(await shown(), /40 Orders orders O mapping 41 Stock stock S default/);
    const settings = { audience: 'cube', properties: ['region'] };
    const claims = { region: { property: 'region' } };
    await call('PUT', '/v1/integrations/cube', { type: 'jwt', settings, claims });
    assert.equal(
      await sentence(),
      'wrong Dashboards of this customer: no token can be minted for the integration cube, because a value is missing or invalid.',
    );
    await call('DELETE', '/v1/integrations/cube');
    await call('PUT', '/v1/schemas/42', { name: 'Users' });
    assert.equal(await sentence(), 'wrong Dashboards of this customer: the schema 42 has no data source.');
    assert.match(await shown(), /42 Users no data source nothing/);
    await call('PUT', '/v1/property-schema', { schema: { required: ['plan'] }, mode: 'off' });
    await call('POST', '/v1/user-groups/acme/suspend');
    assert.equal(
      await sentence(),
      'wrong Dashboards of this customer: nothing is shown, because the user group is suspended; the schema 42 has ' +
        'no data source; the property plan violates the property schema.',
    );
  });

  it('names the workspace and the environment on every page, in the header and in the title', async () => {
    const { browser, workspaceName: workspace } = await newWorkspace(service);
    for (const path of ['/console/user-groups', CATALOGUE, `${SCHEMAS}/-/new`, '/console/events']) {
      const { text } = await browser.get(path);
      assert.match(
        text,
        new RegExp(`<title>[^<]* · ${workspace}, Customer · User Group Service</title>`),
        path,
      );
      assert.match(text, new RegExp(`<span class="workspace">${workspace}</span>`), path);
    }
  });

  it('shows what a person typed, and the errors of the API beside the fields', async () => {
    const { browser } = await newWorkspace(service);
    const create = (fields: Record<string, string>) =>
      browser.submit(`${DATA_SOURCES}/-/new`, `${DATA_SOURCES}/-/new`, {
        id: 'acme',
        schema_id: '40',
        name: 'Acme',
        ...fields,
      });
    const cases: [fields: Record<string, string>, field: string, error: RegExp][] = [
      [{ id: ' x' }, 'id', /white space/],
      [{ id: '' }, 'id', /must not be empty/],
      [{ schema_id: '' }, 'schema_id', /is required/],
      [{ name: ' ' }, 'name', /only white space/],
      [{ attributes: '{"a": }' }, 'attributes', /^\/a must/],
      [{ attributes: '{"a": 1} , "name": "x"' }, 'attributes', /must end after one JSON value/],
      [{ attributes: '7' }, 'attributes', /must be an object/],
      [{ user_group_id: ' x' }, 'user_group_id', /white space/],
      [{ attributes: '{"db": {"password": "x"}}' }, 'attributes', /^\/db\/password is named like a cred/],
      [{ attributes: '{"a": 1, "a": 2}' }, 'attributes', /duplicate key/],
    ];
    for (const [fields, field, error] of cases) {
      const page = await create({ attributes: '{"typed": true}', ...fields });
      assert.equal(page.status, 400, JSON.stringify(fields));
      assert.match(errorOf(page, field) ?? '', error, JSON.stringify(fields));
      assert.match(page.text, new RegExp(`id="${field}" name="${field}"[^>]*aria-invalid="true"`));
      const typed = Object.values({ id: 'acme', ...fields });
      for (const text of typed) assert.ok(unescaped(page.text).includes(text), text);
    }
    assert.equal((await browser.get(`${DATA_SOURCES}/acme`)).status, 404);
  });

  it('does not create a schema with an id that URLs resolve', async () => {
    const { browser } = await newWorkspace(service);
    const page = await browser.submit(`${SCHEMAS}/-/new`, `${SCHEMAS}/-/new`, { id: '..', name: 'X' });
    assert.equal(page.status, 400);
    assert.match(textOf(page), /The id of this schema must not be \.\.\./);
  });

  it('does not replace a schema that has the id of a new one', async () => {
    const { browser, call } = await newWorkspace(service);
    await call('PUT', '/v1/schemas/40', { name: 'Orders' });
    const page = await browser.submit(`${SCHEMAS}/-/new`, `${SCHEMAS}/-/new`, { id: '40', name: 'Typed' });
    assert.equal(page.status, 412);
    assert.match(textOf(page), /Another schema has this id/);
    assert.match(page.text, /value="Typed"/);
    assert.equal((await call('GET', '/v1/schemas/40')).json.schema.name, 'Orders');
  });

  it('shows the stored version if somebody changed it in between, and keeps what was typed', async () => {
    const { browser, call } = await newWorkspace(service);
    await call('PUT', '/v1/schemas/40', { name: 'First' });
    const edit = `${SCHEMAS}/40/edit`;
    const opened = await openForm(browser, edit);
    await call('PUT', '/v1/schemas/40', { name: 'Of another person' });
    const page = await browser.post(edit, { ...opened, name: 'Typed', default_data_source: 'also' });
    assert.equal(page.status, 412);
    assert.match(textOf(page), /was changed after you opened the form.*version 2.*Of another person/);
    assert.match(page.text, /name="name"[^>]* value="Typed"/);
    assert.match(page.text, /name="default_data_source"[^>]* value="also"/);
    assert.equal((await call('GET', '/v1/schemas/40')).json.schema.name, 'Of another person');
    // Saving again overwrites the other change deliberately.
    const typed = { ...fieldsOf(page.text, edit), name: 'Typed', confirmed: 'on' };
    const again = await browser.post(edit, typed);
    assert.equal(again.status, 303);
    assert.equal((await call('GET', '/v1/schemas/40')).json.schema.name, 'Typed');
  });

  it('keeps the fields of a data source that only another person changed', async () => {
    const { browser, call } = await newWorkspace(service);
    await call('PUT', '/v1/schemas/40', { name: 'Orders' });
    const path = '/v1/data-sources/acme';
    const stored = { schema_id: '40', name: 'First', attributes: { host: 'a' } };
    await call('PUT', path, stored);
    const edit = `${DATA_SOURCES}/acme/edit`;
    const opened = await openForm(browser, edit);
    await call('PUT', path, { ...stored, attributes: { host: 'b' }, user_group_id: 'acme' });
    const page = await browser.post(edit, { ...opened, name: 'Typed' });
    assert.equal(page.status, 412);
    assert.match(textOf(page), /replaces only the fields that you changed/);
    assert.equal((await browser.post(edit, fieldsOf(page.text, edit))).status, 303);
    const { data_source: saved } = (await call('GET', path)).json;
    assert.deepEqual([saved.name, saved.attributes, saved.user_group_id], ['Typed', { host: 'b' }, 'acme']);
  });

  it('keeps its version after an error, so that correcting it does not overwrite another change', async () => {
    const { browser, call } = await newWorkspace(service);
    await call('PUT', '/v1/schemas/40', { name: 'First' });
    const edit = `${SCHEMAS}/40/edit`;
    const opened = await openForm(browser, edit);
    await call('PUT', '/v1/schemas/40', { name: 'Of another person' });
    const rejected = await browser.post(edit, { ...opened, name: '' });
    assert.equal(rejected.status, 400);
    const corrected = await browser.post(edit, { ...fieldsOf(rejected.text, edit), name: 'Typed' });
    assert.equal(corrected.status, 412);
    assert.equal((await call('GET', '/v1/schemas/40')).json.schema.name, 'Of another person');
  });

  it('says that a schema was deleted in between, and creates it again on request', async () => {
    const { browser, call } = await newWorkspace(service);
    await call('PUT', '/v1/schemas/40', { name: 'First' });
    const edit = `${SCHEMAS}/40/edit`;
    const opened = await openForm(browser, edit);
    await call('DELETE', '/v1/schemas/40?force=true');
    const page = await browser.post(edit, { ...opened, name: 'Typed' });
    assert.equal(page.status, 412);
    assert.match(textOf(page), /was deleted after you opened the form/);
    const unconfirmed = await browser.post(edit, { ...fieldsOf(page.text, edit), name: 'Typed' });
    assert.equal(unconfirmed.status, 412);
    assert.equal((await call('GET', '/v1/schemas/40')).status, 404);
    const again = await browser.post(edit, { ...fieldsOf(unconfirmed.text, edit), recreate: 'on' });
    assert.equal(again.status, 303);
    assert.equal((await call('GET', '/v1/schemas/40')).json.schema.version, 1);
  });

  it('deletes only the version that the question was about', async () => {
    const { browser, call } = await newWorkspace(service);
    await call('PUT', '/v1/schemas/40', { name: 'First' });
    const path = `${SCHEMAS}/40/delete`;
    const opened = await openForm(browser, path);
    await call('PUT', '/v1/schemas/40', { name: 'Second' });
    const page = await browser.post(path, opened);
    assert.equal(page.status, 412);
    assert.match(textOf(page), /was changed after you opened this page, so nothing was done/);
    assert.equal((await call('GET', '/v1/schemas/40')).status, 200);
    assert.equal((await browser.post(path, { ...opened, version: 'nonsense' })).status, 412);
    assert.equal((await browser.post(path, fieldsOf(page.text, path))).status, 303);
    assert.equal((await browser.post(path, opened)).status, 404);
  });

  it('says what deleting a data source breaks', async () => {
    const { browser, call } = await newWorkspace(service);
    await call('PUT', '/v1/data-sources/acme', { schema_id: '40', name: 'Acme' });
    const { json } = await call('GET', '/v1/data-sources/acme');
    const path = `${DATA_SOURCES}/acme/delete`;
    assert.match(textOf(await browser.get(path)), /No user group uses it/);
    await call('PUT', '/v1/schemas/40', { name: 'Orders', default_data_source: 'acme' });
    const number = json.data_source.data_source_id;
    for (const [id, reference] of Object.entries({ one: 'acme', two: number, three: String(number) }))
      await call('POST', '/v1/user-groups', { user_group_id: id, name: id, mapping: { 40: reference } });
    const text = textOf(await browser.get(path));
    assert.match(text, /3 user groups use it.*It is the default of: 40/s);
  });

  it('shows the data sources of a schema', async () => {
    const { browser, call } = await newWorkspace(service);
    await call('PUT', '/v1/schemas/40', { name: 'Orders' });
    await call('PUT', '/v1/data-sources/acme', { schema_id: '40', name: 'Acme' });
    await call('PUT', '/v1/data-sources/other', { schema_id: '41', name: 'Other' });
    const text = textOf(await browser.get(`${SCHEMAS}/40`));
    assert.match(text, /acme/);
    assert.doesNotMatch(text, /other/);
    assert.match(textOf(await browser.get(`${SCHEMAS}/40/delete`)), /1 data source belongs to it/);
  });

  it('lists all schemas and data sources, page by page', async () => {
    const { browser, call } = await newWorkspace(service);
    const ids = Array.from({ length: 51 }, (_, index) => `s${String(index).padStart(2, '0')}`);
    for (const id of ids) await call('PUT', `/v1/schemas/${id}`, { name: id });
    assert.match((await browser.get(CATALOGUE)).text, new RegExp(`href="${SCHEMAS}">All schemas`));
    const first = await browser.get(SCHEMAS);
    assert.match(textOf(first), /s49 s49/);
    assert.doesNotMatch(textOf(first), /s50/);
    const [, next] = /href="([^"]*cursor[^"]*)"/.exec(first.text)!;
    assert.match(textOf(await browser.get(unescaped(next!))), /s50/);
    assert.doesNotMatch((await browser.get(DATA_SOURCES)).text, /Next page/);
    assert.equal((await browser.get(`${SCHEMAS}?cursor=nonsense`)).status, 400);
  });

  it('finds a schema or a data source by a part of its id, in lists of several pages', async () => {
    const { browser, call } = await newWorkspace(service);
    const ids = Array.from({ length: 51 }, (_, index) => `Année-${index}`);
    await Promise.all(ids.map((id) => call('PUT', `/v1/schemas/${encodeURIComponent(id)}`, { name: 'x' })));
    const search = (id: string) => browser.get(`${SCHEMAS}?${new URLSearchParams({ id })}`);
    const fieldsIn = ({ text }: TestResponse) =>
      elementsOf(text).filter(({ attributes }) => attributes.type === 'search').length;
    assert.deepEqual(
      [fieldsIn(await browser.get(SCHEMAS)), fieldsIn(await browser.get(DATA_SOURCES))],
      [1, 0],
    );
    for (const typed of ['Année-50', ' annee-50 ', 'E-50']) {
      const found = await search(typed);
      assert.match(textOf(found), /Année-50 x/, typed);
      assert.doesNotMatch(textOf(found), /Année-4/, typed);
    }
    const [, next] = /href="([^"]*cursor[^"]*)"/.exec((await search('annee')).text)!;
    assert.match(unescaped(next!), /[?&]id=annee&/);
    const nothing = await search('zzz');
    assert.match(textOf(nothing), /No schema has zzz in its id\. Show all schemas/);
    assert.ok(nothing.text.includes(`<a href="${SCHEMAS}"`));
  });

  it('changes the mapping policy, and reports a conflict', async () => {
    const { browser, call } = await newWorkspace(service);
    const opened = await openForm(browser, POLICY);
    assert.equal((await browser.submit(POLICY, POLICY, { mode: 'report' })).status, 303);
    assert.match(textOf(await browser.get(CATALOGUE)), /Mapping policy report/);
    const page = await browser.post(POLICY, { ...opened, mode: 'enforce' });
    assert.equal(page.status, 412);
    assert.match(textOf(page), /mapping policy was changed/);
    assert.match(page.text, /value="enforce" selected/);
    assert.equal((await call('GET', '/v1/mapping-policy')).json.mapping_policy.mode, 'report');
    const wrong = await browser.submit(POLICY, POLICY, { mode: 'sometimes' });
    assert.equal(wrong.status, 400);
    assert.match(textOf(wrong), /must be one of off, report, enforce/);
  });

  it('changes and deletes the property schema', async () => {
    const { browser, call } = await newWorkspace(service);
    const schema = '{"type": "object", "properties": {"n": {"maximum": 1.50}}}';
    const stored = () => call('GET', '/v1/property-schema');
    const created = await browser.submit(PROPERTY_SCHEMA, PROPERTY_SCHEMA, { schema, mode: 'enforce' });
    assert.equal(created.status, 303, created.text);
    assert.match((await stored()).text, /"maximum":1\.50/);
    const invalid = schema.replace('"maximum"', '"pattern": "(?=x)", "maximum"');
    const page = await browser.submit(PROPERTY_SCHEMA, PROPERTY_SCHEMA, { schema: invalid, mode: 'off' });
    assert.equal(page.status, 400);
    assert.match(textOf(page), /one field: JSON Schema › properties › n › pattern /);
    assert.match(errorOf(page, 'schema')!, /^\/properties\/n\/pattern /);
    assert.ok(unescaped(page.text).includes(invalid));
    const path = `${PROPERTY_SCHEMA}/delete`;
    assert.equal((await browser.submit(path, path, {})).status, 303);
    assert.equal((await stored()).status, 404);
    assert.equal((await browser.get(path)).status, 404);
  });

  it('leads from each rule to the user groups that violate it', async () => {
    const { browser } = await newWorkspace(service);
    for (const [path, field] of [
      [POLICY, 'mapping'],
      [PROPERTY_SCHEMA, 'properties'],
    ] as const) {
      const links = elementsOf((await browser.get(path)).text).filter(({ name }) => name === 'a');
      const link = links.find(
        ({ attributes }) => attributes.href === `/console/user-groups?invalid=${field}`,
      );
      assert.match(link?.text ?? '', /violate/, path);
    }
  });

  it('takes a property schema of the largest size, and shows it in the form', async () => {
    const { browser, call } = await newWorkspace(service);
    const schema = { examples: Array.from({ length: 3_000 }, (_, number) => ({ 'a "b"': number })) };
    const stored = await call('PUT', '/v1/property-schema', { schema, mode: 'off' });
    assert.equal(stored.status, 201, stored.text);
    const page = await browser.get(PROPERTY_SCHEMA);
    const saved = await browser.submitFrom(page, PROPERTY_SCHEMA);
    assert.equal(saved.status, 303, saved.text);
  });

  it('shows no forms to readers, and accepts none from them', async () => {
    const { browser, call, reader } = await newWorkspace(service);
    await call('PUT', '/v1/schemas/40', { name: 'Orders' });
    await call('PUT', '/v1/data-sources/acme', { schema_id: '40', name: 'Acme', attributes: { host: 'h1' } });
    await call('PUT', '/v1/property-schema', { schema: { type: 'object' }, mode: 'report' });
    const edit = `${SCHEMAS}/40/edit`;
    const opened = await openForm(browser, edit);
    for (const permission of ['read-only', 'read-write'] as const) {
      const other = await reader(permission);
      const readable = [CATALOGUE, SCHEMAS, `${SCHEMAS}/40`, `${DATA_SOURCES}/acme`, PROPERTY_SCHEMA];
      for (const path of readable) {
        const page = await other.get(path);
        assert.equal(page.status, 200, path);
        assert.deepEqual(actionsOf(page), ['/console/sign-out']);
        assert.doesNotMatch(page.text, /\/(?:edit|delete|new)"|New |>Change</, path);
      }
      assert.match(textOf(await other.get(`${DATA_SOURCES}/acme`)), /"host": "h1"/);
      const forms = [edit, `${SCHEMAS}/40/delete`, `${SCHEMAS}/-/new`, POLICY, `${PROPERTY_SCHEMA}/delete`];
      for (const path of forms) assert.equal((await other.get(path)).status, 403, path);
      const { csrf } = await openForm(other, CATALOGUE, '/console/sign-out');
      for (const path of [...forms, PROPERTY_SCHEMA]) {
        const refused = await other.post(path, { ...opened, csrf: csrf!, name: 'Changed', mode: 'off' });
        assert.equal(refused.status, 403, path);
      }
    }
    assert.equal((await call('GET', '/v1/schemas/40')).json.schema.name, 'Orders');
  });
});
