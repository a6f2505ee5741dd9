// Size of the pages about a user group among as many schemas as a catalogue may have. What they leave out is on
// pages of its own.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { schemaDefinition } from '../../src/domain/catalogue/catalogue.ts';
import { limits } from '../../src/domain/field.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { checkMarkup, textOf } from '../support/console-page.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { elementsOf } from '../support/html.ts';
import type { TestResponse } from '../support/http.ts';
import { TestService } from '../support/service.ts';

const MAX_BYTES = 80_000;
const SCHEMAS = schemaDefinition.limit.documents;
const GROUPS = '/console/user-groups';
/** Documents in one change of the configuration. */
const STEP = 500;
const CHANGES = 12;

function schemaId(index: number): string {
  return `schema-${String(index).padStart(4, '0')}`;
}

/** Returns an object with `count` members. */
function membersOf<Value>(count: number, memberOf: (index: number) => [string, Value]) {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => memberOf(index)));
}

describeOnEachDatabase('A page about a user group, among as many schemas as possible', (database) => {
  const service = TestService.of(database);
  let browser: ConsoleBrowser;
  before(async () => {
    const { token } = await service.apiToken({ permission: 'admin' });
    browser = await ConsoleBrowser.signIn(service, token);
    const schemas: Record<string, object> = {};
    const data_sources: Record<string, object> = {};
    for (let index = 0; index < SCHEMAS; index++) {
      const id = schemaId(index);
      const attributes = { host: 'db-7.internal', database: 'acme', secret_name: 'prod/acme/orders' };
      // The last one has no data source.
      const default_data_source = index === SCHEMAS - 1 ? null : `source-of-${id}`;
      schemas[id] = { name: `Schema ${index}`, default_data_source };
      data_sources[`source-of-${id}`] = { schema_id: id, name: `Source ${index}`, attributes };
      if ((index + 1) % STEP !== 0) continue;
      for (const config of [{ schemas }, { schemas, data_sources }]) {
        const { status, text } = await service.call(
          'PUT',
          '/v1/config',
          { version: 1, ...config },
          { token },
        );
        assert.equal(status, 200, text);
      }
    }
    const properties = membersOf(limits.mapEntries, (index) => [`property_${index}`, `value ${index}`]);
    const mapping = membersOf(limits.mapEntries, (index) => [
      schemaId(3 * index),
      `source-of-${schemaId(3 * index)}`,
    ]);
    const groups = { bare: null, few: { [schemaId(998)]: 'gone', 'no-schema': 'gone' }, full: mapping };
    for (const [user_group_id, each] of Object.entries(groups))
      await service.get({ user_group_id, name: user_group_id, mapping: each, properties });
  });

  for (const id of ['bare', 'few', 'full'])
    it(`has at most 80 KB (${id})`, async () => {
      for (const path of ['', '/view-as', '/edit', '/data-sources', '/events']) {
        const page = await browser.get(`${GROUPS}/${id}${path}`);
        checkMarkup(page);
        // The last event has 200 changes.
        const bytes = Buffer.byteLength(page.text.split('<h2>Last events</h2>', 1)[0]!);
        assert.ok(bytes <= MAX_BYTES, `${id}${path}: ${bytes} bytes`);
      }
    });

  it('shows what is wrong and what the mapping has, and how many others there are', async () => {
    for (const path of ['', '/view-as']) {
      const few = textOf(await browser.get(`${GROUPS}/few${path}`));
      assert.match(
        few,
        /schema-0998 Schema 998 gone error .*no-schema gone error .*schema-0999 Schema 999 no data source/,
      );
      assert.match(few, /47 other schemas, with their defaults .*And 951 more schemas: All data sources/);
      const full = textOf(await browser.get(`${GROUPS}/full${path}`));
      assert.match(full, /schema-0999 Schema 999 no data source .*schema-0000 .*And 950 more schemas: All/);
    }
  });

  it('links to the data source of every schema, in pages and by a part of the id', async () => {
    const { text } = await browser.get(`${GROUPS}/few`);
    const [, first] = /href="([^"]*\/data-sources)">All data sources/.exec(text)!;
    const found: string[] = [];
    for (
      let path: string | undefined = first, pages = 0;
      path !== undefined && pages <= SCHEMAS / 50;
      pages++
    ) {
      const page: TestResponse = await browser.get(path);
      const elements = elementsOf(page.text);
      found.push(...elements.filter(({ attributes }) => attributes.scope === 'row').map((row) => row.text));
      path = elements.find(({ text }) => text === 'Next page')?.attributes.href;
    }
    assert.equal(found.length, SCHEMAS + 1);
    for (let index = 0; index < SCHEMAS; index++) assert.ok(found[index + 1]!.startsWith(schemaId(index)));
    assert.match(found[0]!, /^no-schema/);
    const one = textOf(await browser.get(`${first}?id=MA-0777`));
    assert.match(one, /schema-0777 Schema 777 source-of-schema-0777 Source 777 default/);
    assert.doesNotMatch(one, /no-schema|schema-0778/);
    assert.match(textOf(await browser.get(`${first}?id=absent`)), /No schema\./);
  });

  it('lists fewer events per page if each has many changes, and all of them on all pages', async () => {
    const user_group_id = 'changed';
    const properties = (value: number) => membersOf(40, (index) => [`property_${index}`, value]);
    await service.get({ user_group_id, name: 'Changed', properties: properties(0) });
    for (let value = 1; value <= CHANGES; value++)
      await service.put({ user_group_id, properties: properties(value) });
    const found: string[] = [];
    let pages = 0;
    let path: string | undefined = `${GROUPS}/changed/events`;
    for (; path !== undefined && pages <= CHANGES; pages++) {
      const page: TestResponse = await browser.get(path);
      assert.ok(Buffer.byteLength(page.text) <= MAX_BYTES, `${path}: ${Buffer.byteLength(page.text)} bytes`);
      const elements = elementsOf(page.text);
      found.push(
        ...[...textOf(page).matchAll(/property_39\s*: (?:\d+ → )?(\d+)/g)].map(([, value]) => value!),
      );
      path = elements.find(({ text }) => text === 'Older events')?.attributes.href;
    }
    assert.ok(pages > 1);
    assert.deepEqual(
      found,
      Array.from({ length: CHANGES + 1 }, (_, index) => String(CHANGES - index)),
    );
    const group = await browser.get(`${GROUPS}/changed`);
    assert.ok(Buffer.byteLength(group.text) <= MAX_BYTES);
    assert.match(textOf(group), new RegExp(`property_39\\s*: ${CHANGES - 1} → ${CHANGES}`));
  });
});
