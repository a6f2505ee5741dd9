// Contract: with a property schema, the console shows properties as a form. Values that a person does not
// touch keep their exact text; values that do not fit the form stay JSON.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { ConsoleBrowser, fieldsOf } from '../support/console.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { type Element, elementsOf } from '../support/html.ts';
import type { TestResponse } from '../support/http.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const NEW = '/console/user-groups/-/new';

const schema = `{
  "type": "object",
  "properties": {
    "plan": {"title": "Plan", "description": "What they pay for.", "enum": ["gold", "1", 1, true, null, 1.50]},
    "region": {"type": "string", "pattern": "^[a-z]+$"},
    "seats": {"type": "integer", "minimum": 1},
    "rate": {"type": "number"},
    "beta": {"type": "boolean"},
    "a/b~c <i>": {"type": "string"},
    "address": {"type": "object", "required": ["city"]},
    "tags": {"type": "array"},
    "either": {"type": ["string", "null"]}
  },
  "required": ["plan"]
}`;

describeOnEachDatabase('properties in the console', (database) => {
  const service = TestService.of(database);
  let browser: ConsoleBrowser;
  let admin: string;
  before(async () => {
    admin = (await service.apiToken({ permission: 'admin' })).token;
    browser = await ConsoleBrowser.signIn(service);
    await putSchema('enforce');
  });

  async function putSchema(mode: string, text = schema): Promise<void> {
    const body = `{"schema":${text},"mode":"${mode}"}`;
    const put = () => service.call('PUT', '/v1/property-schema', body, { token: admin });
    const { status } = await served(put);
    assert(status === 200 || status === 201);
  }

  function pathOf(id: string, action: string): string {
    return `/console/user-groups/${id}/${action}`;
  }

  async function create(id: string, properties: string): Promise<void> {
    const { status, text } = await service.get(
      `{"user_group_id":"${id}","name":"Acme","properties":${properties}}`,
    );
    assert.equal(status, 200, text);
  }

  async function stored(id: string): Promise<string> {
    const { text } = await service.call('GET', `/v1/user-groups/${id}`);
    return /"properties":(.*),"api_environment_tag"/.exec(text)![1]!;
  }

  /** Returns the name of the control of each property. */
  function controls({ text }: TestResponse): Record<string, string> {
    const keys = elementsOf(text).filter(({ attributes }) =>
      /^property-\d+-key$/.test(attributes.name ?? ''),
    );
    return Object.fromEntries(
      keys.map(({ attributes: { name, value } }) => [value, name!.replace(/-key$/, '')]),
    );
  }

  function element({ text }: TestResponse, id: string): Element {
    return elementsOf(text).find(({ attributes }) => attributes.id === id)!;
  }

  /** Returns the values that the controls show, by property. */
  function shown(page: TestResponse, action: string): Record<string, string> {
    const fields = fieldsOf(page.text, action);
    return Object.fromEntries(Object.entries(controls(page)).map(([key, name]) => [key, fields[name]!]));
  }

  /** Types values into the controls of properties and into other fields, and returns the review. */
  async function review(id: string, values: Record<string, string>, others: Record<string, string> = {}) {
    const page = await browser.get(pathOf(id, 'edit'));
    const names = controls(page);
    const typed = Object.fromEntries(Object.entries(values).map(([key, value]) => [names[key]!, value]));
    return browser.submitFrom(page, pathOf(id, 'review'), { ...typed, ...others });
  }

  async function save(id: string, page: TestResponse): Promise<string> {
    const response = await browser.submitFrom(page, pathOf(id, 'save'));
    assert.equal(response.status, 303, response.text);
    return stored(id);
  }

  it('has an input for each simple member of the schema, and JSON for the rest', async () => {
    await create(
      'form',
      '{"tags":["a"],"plan":"gold","seats":9007199254740993,"other":{"x":1.0},"region":"eu"}',
    );
    const page = await browser.get(pathOf('form', 'edit'));
    assert.deepEqual(shown(page, pathOf('form', 'review')), {
      plan: '"gold"',
      region: 'eu',
      seats: '9007199254740993',
      rate: '',
      beta: '',
      'a/b~c <i>': '',
    });
    const { properties } = fieldsOf(page.text, pathOf('form', 'review'));
    assert.equal(properties!.replace(/\s/g, ''), '{"tags":["a"],"other":{"x":1.0}}');
    const options = elementsOf(page.text).filter(({ name }) => name === 'option');
    assert.deepEqual(
      options.map(({ text }) => text),
      ['not set', 'gold', '"1"', '1', 'true', 'null', '1.50', 'not set', 'true', 'false'],
    );
    const labels = elementsOf(page.text).filter(({ name }) => name === 'label');
    assert.equal(labels.find(({ text }) => text === 'Plan')?.attributes.for, controls(page).plan);
    assert.match(page.text, /What they pay for\./);
  });

  it('keeps the exact text and the order of what is not touched', async () => {
    const exact =
      '{"rate":1.10,"zeta":[1e400],"beta":false,"plan":1.50,"seats":1e2,"a/b~c <i>":" \\"x\\" ","alpha":-0.0}';
    await create('exact', exact);
    assert.match((await review('exact', {})).text, /Nothing differs/);
    const changed = await review('exact', { seats: '120', region: 'eu', rate: '' });
    assert.equal(
      await save('exact', changed),
      '{"zeta":[1e400],"beta":false,"plan":1.50,"seats":120,"a/b~c <i>":" \\"x\\" ","alpha":-0.0,"region":"eu"}',
    );
  });

  it('keeps the order if the form is shown as JSON', async () => {
    await create('reordered', '{"seats":25,"zeta":[1],"plan":"gold"}');
    const form = await browser.get(pathOf('reordered', 'edit'));
    const json = await browser.submitFrom(form, pathOf('reordered', 'edit'), { as: 'json' });
    assert.match((await browser.submitFrom(json, pathOf('reordered', 'review'))).text, /Nothing differs/);
  });

  it('shows a stored value that no input can send back unchanged as JSON', async () => {
    await putSchema('off');
    const odd =
      '{"plan":"bronze","region":"","seats":"many","rate":null,"beta":"true","a/b~c <i>":"two\\nlines"}';
    await create('odd', odd);
    const page = await browser.get(pathOf('odd', 'edit'));
    assert.deepEqual(shown(page, pathOf('odd', 'review')), {
      plan: '"bronze"',
      region: '""',
      seats: '"many"',
      rate: 'null',
      beta: '"true"',
      'a/b~c <i>': '"two\\nlines"',
    });
    assert.match((await review('odd', {})).text, /Nothing differs/);
    const changed = await review('odd', { plan: '"gold"', seats: '25', rate: '{"a": 1.0}' });
    assert.equal(
      await save('odd', changed),
      '{"plan":"gold","region":"","seats":25,"rate":{"a":1.0},"beta":"true","a/b~c <i>":"two\\nlines"}',
    );
    await putSchema('enforce');
  });

  it('distinguishes absent properties from an empty object', async () => {
    await putSchema('off');
    for (const properties of ['null', '{}']) {
      await create(`empty-${properties.length}`, properties);
      assert.match((await review(`empty-${properties.length}`, {})).text, /Nothing differs/);
    }
    await create('cleared', '{"plan":"gold"}');
    assert.equal(await save('cleared', await review('cleared', { plan: '' })), 'null');
    await putSchema('enforce');
  });

  it('shows what violates the schema beside the input, with what was typed', async () => {
    await create('invalid', '{"plan":"gold"}');
    const rejected = await review(
      'invalid',
      { plan: '', region: 'EU <b>', seats: '0', beta: 'true' },
      { properties: '{"address": {}}', name: 'New' },
    );
    assert.equal(rejected.status, 422);
    const { plan, region, seats } = controls(rejected);
    assert.match(element(rejected, `${plan}-error`).text, /is required/);
    assert.match(element(rejected, `${region}-error`).text, /pattern/);
    assert.match(element(rejected, `${seats}-error`).text, />= 1/);
    assert.equal(element(rejected, 'properties-error').text, '/address/city is required');
    const typed = shown(rejected, pathOf('invalid', 'review'));
    assert.deepEqual([typed.region, typed.seats, typed.beta], ['EU <b>', '0', 'true']);
    assert.equal(fieldsOf(rejected.text, pathOf('invalid', 'review')).name, 'New');
    const fixed = await browser.submitFrom(rejected, pathOf('invalid', 'review'), {
      [plan!]: '"gold"',
      [region!]: 'eu',
      [seats!]: '3',
      properties: '',
    });
    assert.equal(await save('invalid', fixed), '{"plan":"gold","region":"eu","seats":3,"beta":true}');
  });

  it('says beside the input what is not a number, is not JSON or was typed twice', async () => {
    await create('typed', '{"plan":"gold"}');
    const rejected = await review(
      'typed',
      { seats: '1,5', rate: '0x10', region: 'eu' },
      { properties: '{"region": "us", "x": -}' },
    );
    assert.equal(rejected.status, 400);
    const { seats, rate } = controls(rejected);
    for (const name of [seats, rate])
      assert.match(element(rejected, `${name}-error`).text, /must be a number/);
    assert.match(element(rejected, 'properties-error').text, /^\/x must have/);
    const twice = await review('typed', { region: 'eu' }, { properties: '{"region": "us"}' });
    assert.match(element(twice, `${controls(twice).region}-error`).text, /also in the other properties/);
    for (const properties of ['[]', '"x"', '1', '{"a":1},"b":{}', '{}}'])
      assert.equal((await review('typed', { region: 'eu' }, { properties })).status, 400, properties);
    assert.equal(await stored('typed'), '{"plan":"gold"}');
  });

  it('checks only what the person changes: stored properties that violate a later schema do not block a new name', async () => {
    await putSchema('off');
    await create('later', '{"plan":"bronze"}');
    await putSchema('enforce');
    const page = await review('later', {}, { name: 'New' });
    assert.equal(page.status, 200);
    await save('later', page);
    assert.equal((await review('later', { region: 'eu' })).status, 422);
  });

  it('shows the form again if the rules change between the review and the save', async () => {
    await putSchema('off');
    await create('rules', '{"plan":"gold"}');
    const page = await review('rules', { plan: '' }, { properties: '{"x": 1.0}' });
    await putSchema('enforce');
    const rejected = await browser.submitFrom(page, pathOf('rules', 'save'));
    assert.equal(rejected.status, 422);
    assert.match(element(rejected, 'properties-error').text, /plan is required/);
    assert.equal(fieldsOf(rejected.text, pathOf('rules', 'review')).properties, '{"x":1.0}');
    assert.equal(await stored('rules'), '{"plan":"gold"}');
  });

  it('warns of violations that are only reported', async () => {
    await putSchema('report');
    await create('reported', '{"plan":"gold"}');
    const page = await review('reported', { seats: '0' });
    assert.equal(page.status, 200);
    assert.match(page.text, /reported but not enforced.*\/properties\/seats/s);
    assert.equal(await save('reported', page), '{"plan":"gold","seats":0}');
    await putSchema('enforce');
  });

  it('shows an invalid mapping beside the mapping', async () => {
    await service.call('PUT', '/v1/schemas/40', { name: 'Orders' }, { token: admin });
    await service.call('PUT', '/v1/mapping-policy', { mode: 'enforce' }, { token: admin });
    await create('mapped', '{"plan":"gold"}');
    const rejected = await review('mapped', {}, { mapping: '{"40": "nowhere"}' });
    assert.equal(rejected.status, 422);
    assert.match(element(rejected, 'mapping-0-error').text, /refers to a data source that does not exist/);
    assert.equal(fieldsOf(rejected.text, pathOf('mapped', 'review')).mapping, '{"40": "nowhere"}');
    await service.call('PUT', '/v1/mapping-policy', { mode: 'off' }, { token: admin });
  });

  it('creates a group with the form of the schema', async () => {
    const page = await browser.get(NEW);
    const { plan, seats } = controls(page);
    const typed = { user_group_id: 'created', name: 'Acme', [plan!]: '"1"', properties: '{"x": 1.0}' };
    const rejected = await browser.submitFrom(page, NEW, { ...typed, [seats!]: '0' });
    assert.equal(rejected.status, 422);
    assert.match(element(rejected, `${seats}-error`).text, />= 1/);
    const created = await browser.submitFrom(rejected, NEW, { [seats!]: '7' });
    assert.equal(created.status, 303, created.text);
    assert.equal(await stored('created'), '{"plan":"1","seats":7,"x":1.0}');
  });

  it('loses nothing if the schema changes between the form and the review, or has no simple members', async () => {
    await create('changing', '{"plan":"gold","region":"eu","seats":25}');
    const page = await browser.get(pathOf('changing', 'edit'));
    for (const other of ['{"properties":{"seats":{"type":"object"}}}', 'true', '{"properties":[]}', '{}']) {
      await putSchema('off', other.includes('[]') ? '{"properties":{"x":true}}' : other);
      const { text } = await browser.submitFrom(page, pathOf('changing', 'review'));
      assert.match(text, /Nothing differs/);
    }
    const form = await browser.get(pathOf('changing', 'edit'));
    assert.deepEqual(controls(form), {});
    assert.match((await browser.submitFrom(form, pathOf('changing', 'review'))).text, /Nothing differs/);
    await putSchema('enforce');
  });
});
