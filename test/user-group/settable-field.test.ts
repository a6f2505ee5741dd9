// Contract: every field that callers set is stored, compared, recorded, exported and imported.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { csvBatches } from '../../src/commands/import/csv.ts';
import { limits } from '../../src/domain/field.ts';
import { type SettableFields, settableFields } from '../../src/domain/user-group/user-group.ts';
import { userGroupBody } from '../../src/domain/user-group/user-group-body.ts';
import { exportLines } from '../../src/operations/user-group/export.ts';
import type { LineResult } from '../../src/operations/user-group/line-result.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { elementsOf } from '../support/html.ts';
import type { TestResponse } from '../support/http.ts';
import { TestService } from '../support/service.ts';

type Values = Record<keyof SettableFields, unknown>;

/** Values that differ in every field. */
const first: Values = { name: 'Acme', mapping: { 40: '213' }, properties: { plan: 'gold' } };
const second: Values = { name: 'Other', mapping: { 41: 7 }, properties: { seats: 3 } };
/** Part of each first value on its page in the console. */
const shown: Record<keyof SettableFields, string> = { name: 'Acme', mapping: '213', properties: 'gold' };
const TENANT = { workspaceId: 1, environment: 'Customer' } as const;
const LIMITS = { lineBytes: limits.lineBytes, maxLines: 10, maxBytes: limits.lineBytes };

describe('The fields that callers set', () => {
  it('are those of the body that creates a user group', () => {
    const { user_group_id, ...fields } = userGroupBody.schema!.properties;
    assert.deepEqual(Object.keys(fields).sort(), [...settableFields].sort());
  });
});

describeOnEachDatabase('Every field that callers set', (database) => {
  const service = TestService.of(database);

  async function stored(id: string): Promise<Values & { version: number }> {
    return (await service.read(id)).json.user_group;
  }

  function assertHas(values: Values, actual: Record<string, unknown>, what?: string): void {
    for (const field of settableFields) assert.deepEqual(actual[field], values[field], what ?? field);
  }

  /** Returns the changes of the newest event of the group. */
  async function lastChanges(id: string): Promise<Record<string, unknown>> {
    const path = `/v1/user-groups/${id}/events`;
    return (await service.call('GET', path)).json.events[0].changes;
  }

  async function exported(): Promise<string[]> {
    const lines: string[] = [];
    for await (const page of exportLines(service.app.context.store, TENANT, null)) lines.push(...page);
    return lines;
  }

  /** Fails with the problem, which names the field, unless the call succeeded. */
  function assertAccepted(answer: TestResponse | LineResult): void {
    if ('status' in answer) assert.ok(answer.status < 300, answer.text);
    else assert.notEqual(answer.result, 'refused', JSON.stringify(answer));
  }

  const creations: Record<string, (id: string) => Promise<TestResponse | LineResult>> = {
    'GET /api/user': (id) => service.get({ user_group_id: id, ...first }),
    'POST /v1/user-groups': (id) => service.call('POST', '/v1/user-groups', { user_group_id: id, ...first }),
    'PUT /v1/user-groups/{user_group_id}': (id) => service.call('PUT', `/v1/user-groups/${id}`, first),
    'an import': (id) => service.importGroup({ user_group_id: id, ...first }),
  };
  for (const [index, [call, create]] of Object.entries(creations).entries()) {
    it(`is stored by ${call}, and in its event`, async () => {
      const id = `created-${index}`;
      assertAccepted(await create(id));
      assertHas(first, await stored(id));
      assert.deepEqual(Object.keys(await lastChanges(id)).sort(), [...settableFields].sort());
    });
  }

  const changes: Record<string, (id: string, fields: object) => Promise<TestResponse | LineResult>> = {
    'PUT /api/user': (id, fields) => service.put({ user_group_id: id, ...fields }),
    'PATCH /v1/user-groups/{user_group_id}': (id, fields) =>
      service.call('PATCH', `/v1/user-groups/${id}`, fields),
    'PUT /v1/user-groups/{user_group_id}': (id, fields) =>
      service.call('PUT', `/v1/user-groups/${id}`, { ...first, ...fields }),
    'an import with --update': (id, fields) =>
      service.importGroup({ user_group_id: id, name: first.name, ...fields }, { replaces: true }),
  };
  for (const [index, [call, change]] of Object.entries(changes).entries()) {
    it(`is changed on its own by ${call}, and in its event`, async () => {
      for (const field of settableFields) {
        const id = `changed-${index}-${field}`;
        // A patch of a group without mapping and properties sets exactly the sent members.
        const before = { ...first, ...(field !== 'name' && { [field]: null }) };
        assertAccepted(await service.get({ user_group_id: id, ...before }));
        assertAccepted(await change(id, { [field]: second[field] }));
        const after = await stored(id);
        assertHas({ ...before, [field]: second[field] }, after, `${call} ${field}`);
        assert.equal(after.version, 2);
        assert.deepEqual(Object.keys(await lastChanges(id)), [field]);
      }
    });
  }

  it('is in the drift of get-or-create if it differs', async () => {
    await service.get({ user_group_id: 'drift', ...first });
    const { headers } = await service.get({ user_group_id: 'drift', ...second });
    assert.equal(headers['user-group-drift'], settableFields.join(', '));
  });

  it('is the same after an export and an import', async () => {
    await service.get({ user_group_id: 'exported', ...first });
    const line = (await exported()).find((each) => each.includes('"exported"'))!;
    assertHas(first, JSON.parse(line));
    await service.importLine(line, { environment: 'Testing' });
    const { token } = await service.apiToken({ environment: 'Testing' });
    assertHas(first, (await service.read('exported', { token })).json.user_group);
  });

  it('is a column of a customer table', async () => {
    const texts = settableFields
      .map((field) => first[field])
      .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
    const cells = texts.map((text) => `"${text.replaceAll('"', '""')}"`);
    async function* table(): AsyncGenerator<Buffer> {
      yield Buffer.from(`user_group_id,${settableFields.join(',')}\ntable,${cells.join(',')}\n`);
    }
    for await (const [line] of csvBatches(table(), LIMITS))
      assertHas(first, JSON.parse(line!.bytes!.toString()));
  });

  it('is kept by the form of the console, and restored from its event', async () => {
    const browser = await ConsoleBrowser.signIn(service);
    for (const field of settableFields) {
      const id = `restored-${field}`;
      const group = `/console/user-groups/${id}`;
      await service.get({ user_group_id: id, ...first });
      await service.put({ user_group_id: id, [field]: second[field] });
      const unchanged = await browser.submit(`${group}/edit`, `${group}/review`);
      assert.match(unchanged.text, /Nothing differs from what is stored/, field);
      const links = elementsOf((await browser.get(`${group}/events`)).text);
      const undo = links.find(({ name, text }) => name === 'a' && text === 'Undo')!;
      const restored = await browser.submit(undo.attributes.href!, `${group}/save`);
      assert.equal(restored.status, 303, restored.text);
      assertHas(first, await stored(id), `${field} restored`);
    }
  });

  it('is on the page and in the CSV of the console', async () => {
    await service.get({ user_group_id: 'console', ...first });
    const browser = await ConsoleBrowser.signIn(service);
    const page = (path: string): Promise<TestResponse> => browser.get(`/console/user-groups/${path}`);
    const [header] = (await page('-/export?search=console')).text.slice(1).split('\r\n');
    // The events below have the values too.
    const [details] = (await page('console')).text.split('<h2>Last events</h2>');
    for (const field of settableFields) {
      assert.ok(header!.split(',').includes(field), field);
      assert.ok(details!.includes(shown[field]), field);
    }
  });
});
