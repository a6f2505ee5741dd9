// The form of a user group: choices from the catalogue for the mapping, and rows for the properties.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fieldsOf, newWorkspace } from '../support/console.ts';
import { checkMarkup, textOf } from '../support/console-page.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { elementsOf } from '../support/html.ts';
import type { TestResponse } from '../support/http.ts';
import { TestService } from '../support/service.ts';

const GROUPS = '/console/user-groups';

describeOnEachDatabase('The form of a user group', (database) => {
  const service = TestService.of(database);

  async function newForm() {
    const { browser, ...workspace } = await newWorkspace(service);
    const call = async (method: string, path: string, body?: unknown) => {
      const response = await workspace.call(method, path, body);
      assert.ok(response.status < 300, response.text);
      return response;
    };
    const dataSource = (id: string, schema_id: string, more = {}) =>
      call('PUT', `/v1/data-sources/${id}`, { schema_id, name: `Name of ${id}`, attributes: {}, ...more });
    const group = `${GROUPS}/acme`;
    const save = async (fields: Record<string, string>, edit = `${group}/edit`) => {
      const review = await browser.submit(edit, `${group}/review`, fields);
      assert.equal(review.status, 200, review.text);
      return browser.submitFrom(review, `${group}/save`);
    };
    const stored = async () => (await call('GET', '/v1/user-groups/acme')).text;
    return { browser, call, dataSource, group, save, stored };
  }

  /** Returns the options of each choice in the form, by its label. */
  function choicesOf({ text }: TestResponse): Record<string, string[]> {
    const choices: Record<string, string[]> = {};
    let label = '';
    for (const { name, text: content } of elementsOf(text)) {
      if (name === 'label') label = content;
      if (name === 'select') choices[label] = [];
      if (name === 'option') choices[label]?.push(content);
    }
    return choices;
  }

  it('offers the data sources of each schema by name, the default first, and none of other user groups', async () => {
    const { browser, call, dataSource, group, save, stored } = await newForm();
    for (const id of ['eu', 'us']) await dataSource(`orders-${id}`, '40');
    await call('PUT', '/v1/schemas/40', { name: 'Orders', default_data_source: 'orders-eu' });
    await call('PUT', '/v1/schemas/41', { name: '41' });
    await dataSource('other', '40', { user_group_id: 'other' });
    await dataSource('own', '41', { user_group_id: 'acme' });
    await call('POST', '/v1/user-groups', { user_group_id: 'acme', name: 'Acme', mapping: { 39: 'kept' } });
    const form = await browser.get(`${group}/edit`);
    checkMarkup(form);
    const choices = choicesOf(form);
    assert.deepEqual(choices['Orders (40)'], [
      'default: Name of orders-eu',
      'Name of orders-eu (orders-eu)',
      'Name of orders-us (orders-us)',
    ]);
    assert.deepEqual(choices['41'], ['missing: the schema has no default', 'Name of own (own)']);
    const described = elementsOf(form.text).find(({ attributes }) => attributes.name === 'mapping-1');
    const warning = elementsOf(form.text).find(
      ({ attributes }) => attributes.id === described!.attributes['aria-describedby'],
    );
    assert.equal(warning?.text, 'Missing: dashboards get no data source for it.');
    const typed = { name: '', 'mapping-0': '"gone"', 'mapping-1': '"own"' };
    const rejected = textOf(await browser.submitFrom(form, `${group}/review`, typed));
    assert.match(rejected, /Missing: gone is not a data source of this schema/);
    assert.doesNotMatch(rejected, /Missing: dashboards get no data source/, 'one is chosen');
    await save({ 'mapping-0': '"orders-us"', 'mapping-1': '"own"' });
    assert.ok((await stored()).includes('"mapping":{"39":"kept","40":"orders-us","41":"own"}'));
    await save({ 'mapping-0': '' });
    assert.ok((await stored()).includes('"mapping":{"39":"kept","41":"own"}'));
    const created = choicesOf(await browser.get(`${GROUPS}/-/new`));
    assert.deepEqual(created['41'], ['missing: the schema has no default']);
  });

  it('is a form for sixty schemas, which folds away those that have their default', async () => {
    const { browser, call, dataSource, group, save, stored } = await newForm();
    for (let index = 0; index < 60; index++) {
      await dataSource(`source-${index}`, `${index}`);
      const default_data_source = index === 0 ? null : `source-${index}`;
      await call('PUT', `/v1/schemas/${index}`, { name: `Schema ${index}`, default_data_source });
    }
    await call('POST', '/v1/user-groups', { user_group_id: 'acme', name: 'Acme', mapping: { 1: 'gone' } });
    const form = await browser.get(`${group}/edit`);
    checkMarkup(form);
    assert.equal(Object.keys(choicesOf(form)).filter((label) => /^Schema/.test(label)).length, 60);
    const folded = form.text.indexOf('58 other schemas, with their defaults');
    assert.ok(folded > 0, textOf(form));
    const labelAt = (label: string) => form.text.indexOf(`>${label}</label>`);
    for (const label of ['Schema 0 (0)', 'Schema 1 (1)']) assert.ok(labelAt(label) < folded, label);
    assert.ok(labelAt('Schema 59 (59)') > folded);
    for (const path of [group, `${group}/view-as`]) {
      const page = textOf(await browser.get(path));
      assert.match(page, /1 Schema 1 gone error .* 0 Schema 0 no data source nothing 48 other schemas/);
      assert.match(page, /And 10 more schemas: All data sources of this user group/);
    }
    const fields = fieldsOf(form.text, `${group}/review`);
    const name = Object.keys(fields)
      .find((each) => fields[each] === '59')!
      .replace('-schema', '');
    await save({ [name]: '"source-59"' });
    assert.ok((await stored()).includes('"mapping":{"1":"gone","59":"source-59"}'), await stored());
  });

  it('keeps a reference by number, and shows a dangling one as missing', async () => {
    const { browser, call, dataSource, group, save, stored } = await newForm();
    await call('PUT', '/v1/schemas/40', { name: 'Orders' });
    await call('PUT', '/v1/schemas/41', { name: 'Sales' });
    const { json } = await dataSource('orders', '40');
    const number = json.data_source.data_source_id;
    await call('POST', '/v1/user-groups', {
      user_group_id: 'acme',
      name: 'Acme',
      mapping: { 41: 'gone', 40: number },
    });
    const form = await browser.get(`${group}/edit`);
    assert.deepEqual(choicesOf(form)['Sales (41)'], ['missing: the schema has no default', 'missing: gone']);
    assert.match(textOf(form), /Missing: gone is not a data source of this schema/);
    await save({ name: 'Renamed' });
    assert.ok((await stored()).includes(`"mapping":{"40":${number},"41":"gone"}`), await stored());
  });

  it('says in the review that a reference is dangling, even without a policy', async () => {
    const { browser, call, group } = await newForm();
    await call('PUT', '/v1/schemas/40', { name: 'Orders' });
    await call('POST', '/v1/user-groups', { user_group_id: 'acme', name: 'Acme' });
    const review = await browser.submit(`${group}/edit?as=json`, `${group}/review`, {
      mapping: '{"40":"gone"}',
    });
    assert.equal(review.status, 200);
    assert.match(
      textOf(review),
      /will show an error, because these entries of the mapping lead to no data source: \/mapping\/40 refers to a data source that does not exist/,
    );
  });

  it('searches the data sources of a schema that has more than fifty, by id or name', async () => {
    const { browser, call, dataSource, group, save, stored } = await newForm();
    await call('PUT', '/v1/schemas/40', { name: 'Orders' });
    for (let index = 0; index < 60; index++) await dataSource(`db-${index}`, '40');
    await call('POST', '/v1/user-groups', { user_group_id: 'acme', name: 'Acme', mapping: { 40: 'db-7' } });
    const form = await browser.get(`${group}/edit`);
    checkMarkup(form);
    assert.equal(fieldsOf(form.text, `${group}/review`)['mapping-0'], 'db-7');
    assert.equal(elementsOf(form.text).filter(({ name }) => name === 'option').length - 9, 60);
    await save({ 'mapping-0': ' Name of db-31 ' });
    assert.ok((await stored()).includes('"mapping":{"40":"db-31"}'));
    await save({ 'mapping-0': 'nowhere' });
    assert.ok((await stored()).includes('"mapping":{"40":"nowhere"}'));
    await save({ 'mapping-0': '' });
    assert.ok((await stored()).includes('"mapping":null'));
  });

  it('has a row of name, type and value for each property without a schema, and keeps the digits', async () => {
    const { browser, call, group, save, stored } = await newForm();
    const properties =
      '{"plan":"gold","big":9007199254740993,"rate":1.10,"deep":{"a":[1,2]},"on":true,"empty":""}';
    await call(
      'POST',
      '/v1/user-groups',
      `{"user_group_id":"acme","name":"Acme","properties":${properties}}`,
    );
    const form = await browser.get(`${group}/edit`);
    checkMarkup(form);
    const typed = fieldsOf(form.text, `${group}/review`);
    const rows = [0, 1, 2, 3, 4, 5].map((index) =>
      ['key', 'kind']
        .map((part) => typed[`property-${index}-${part}`])
        .concat(typed[`property-${index}`]!.replace(/\s/g, '')),
    );
    assert.deepEqual(rows, [
      ['plan', 'text', 'gold'],
      ['big', 'number', '9007199254740993'],
      ['rate', 'number', '1.10'],
      ['deep', 'json', '{"a":[1,2]}'],
      ['on', 'json', 'true'],
      ['empty', 'json', '""'],
    ]);
    await save({ 'property-1': '', 'property-2': '1.20', 'property-6-key': 'new', 'property-6': 'text' });
    const changed =
      '"properties":{"plan":"gold","rate":1.20,"deep":{"a":[1,2]},"on":true,"empty":"","new":"text"}';
    assert.ok((await stored()).includes(changed), await stored());
    const edit = `${group}/edit`;
    for (const [fields, message] of [
      [{ 'property-6': 'x' }, /Check one field: Properties has no name for the value "x" Name/],
      [{ 'property-6': 'x', 'property-7': 'y' }, /Check one field: .* value "x" .* value "y" Name/],
      [{ 'property-6': 'x', 'property-6-kind': 'number' }, /must be a number/],
      [{ 'property-6': 'x', 'property-6-key': 'plan' }, /occurs twice/],
      [{ 'property-1': 'x' }, /must be a number/],
      [{ 'property-2': '{' }, /character/],
    ] as [Record<string, string>, RegExp][]) {
      const rejected = await browser.submit(edit, `${group}/review`, fields);
      assert.equal(rejected.status, 400, JSON.stringify(fields));
      assert.match(textOf(rejected), message);
    }
  });

  it('shows what was typed as JSON, and as a form again', async () => {
    const { browser, call, group } = await newForm();
    await call('PUT', '/v1/schemas/40', { name: 'Orders' });
    await call('POST', '/v1/user-groups', { user_group_id: 'acme', name: 'Acme', properties: { a: 1 } });
    const form = await browser.get(`${group}/edit`);
    const typed = { 'mapping-0': '"x"', 'property-0': '2' };
    const json = await browser.submitFrom(form, `${group}/edit`, { ...typed, as: 'json' });
    const { mapping, properties } = fieldsOf(json.text, `${group}/review`);
    assert.deepEqual([JSON.parse(mapping!), JSON.parse(properties!)], [{ 40: 'x' }, { a: 2 }]);
    const again = await browser.submitFrom(json, `${group}/edit`, { as: 'form' });
    assert.equal(fieldsOf(again.text, `${group}/review`)['property-0'], '2');
    assert.equal(fieldsOf(again.text, `${group}/review`)['mapping-0'], '"x"');
    const created = await browser.submit(`${GROUPS}/-/new`, `${GROUPS}/-/new/form`, { as: 'json', name: '' });
    assert.equal(fieldsOf(created.text, `${GROUPS}/-/new`).mapping, '');
  });
});
