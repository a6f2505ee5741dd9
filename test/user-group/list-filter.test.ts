// Contract: GET /v1/user-groups?search=&match=contains&data_source=&suspended=&seen_before= lists the groups
// that meet every condition, with the same result on every database, in pages that are fast however long the
// list is.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { operator } from '../../src/domain/api-token.ts';
import { limits } from '../../src/domain/field.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import type { UserGroup } from '../../src/domain/user-group/user-group.ts';
import { listUserGroups } from '../../src/operations/user-group/list.ts';
import { ensureWorkspace } from '../../src/operations/workspace/workspace.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { assertProblem } from '../support/problem.ts';
import { TestService } from '../support/service.ts';
import { type ListQuery, listPage, listPages } from '../support/user-group/listed-user-group.ts';
import { storeUserGroups } from '../support/user-group/stored-user-group.ts';

/** Maximum number of groups that a page reads. */
const MAX_SCANNED = 5_000;
const SEEN = Date.parse('2026-03-05T16:00:00Z');

describeOnEachDatabase('GET /v1/user-groups with filters', (database) => {
  const service = TestService.of(database);
  let workspaces = 0;

  /**
   * Creates a workspace with these groups, given as differences from a default, and returns an API token of
   * it.
   */
  async function workspaceWith(groups: Record<string, Partial<UserGroup>>): Promise<string> {
    const workspaceName = `filtered ${++workspaces}`;
    const { token } = await service.apiToken({ workspaceName, permission: 'admin' });
    await storeUserGroups(service.app.context.store, workspaceName, groups);
    return token;
  }

  const page = (token: string, query: ListQuery) => listPage(service, token, query);

  /** Returns the ids on all pages, and the number of pages. */
  async function list(token: string, query: ListQuery): Promise<{ ids: string[]; pages: number }> {
    const pages = await listPages(service, token, query);
    return { ids: pages.flat().map(({ provided_id }) => provided_id), pages: pages.length };
  }

  async function idsOf(token: string, query: ListQuery): Promise<string[]> {
    const { ids } = await list(token, query);
    for (const limit of [1, 2]) assert.deepEqual((await list(token, { ...query, limit })).ids, ids);
    return ids;
  }

  describe('match=contains', () => {
    it('finds a part of the id or name regardless of case, each group once, ordered by id', async () => {
      const token = await workspaceWith({
        'acme-2': { name: 'Zebra' },
        b: { name: 'The ACME company' },
        'c-AcMe': { name: 'acme acme' },
        d: { name: 'Other' },
      });
      for (const search of ['acme', 'ACME', 'cM'])
        assert.deepEqual(await idsOf(token, { search, match: 'contains' }), ['acme-2', 'b', 'c-AcMe']);
      assert.deepEqual(await idsOf(token, { search: 'acme', match: 'prefix' }), ['acme-2', 'c-AcMe']);
      assert.deepEqual(await idsOf(token, { search: 'acme company', match: 'contains' }), ['b']);
      assert.deepEqual(await idsOf(token, { search: 'acmex', match: 'contains' }), []);
    });

    it('ignores case in every script and accents, and has no wildcards', async () => {
      const pairs = [
        ['Müller', 'MÜLLER'],
        ['Schäfer', 'SCHÄFER'.normalize('NFD')],
        ['Jäger'.normalize('NFD'), 'JÄGER'],
        ['Straße', 'STRASSE'],
        ['ОДИН', 'один'],
        ['ὈΔΥΣΣΕΎΣ', 'ὀδυσσεύς'],
        ['\u212Aelvin', 'kelvin'],
        ['ﬁne', 'FINE'],
        ['Ｇｌｏｂｅｘ', 'globex'],
        ['№ 9', 'NO 9'],
        ['ﾄﾖﾀ', 'トヨタ'],
        ['Ǆ', 'ǆ'],
        ['\u{10400}', '\u{10428}'],
        ['100%_*', '%_*'],
        ['日本', '本'],
        ['Łucja', 'lucja'],
        ['Genevieve', 'GENEVIÈVE'],
      ] as const;
      const token = await workspaceWith(
        Object.fromEntries(pairs.map(([name], index) => [`g${index}`, { name: `x ${name} x` }])),
      );
      for (const [index, texts] of pairs.entries()) {
        for (const search of texts)
          assert.deepEqual(await idsOf(token, { search, match: 'contains' }), [`g${index}`], search);
      }
    });
  });

  it('data_source finds the groups whose mapping has the value, as a string or as a number', async () => {
    const token = await workspaceWith({
      a: { mapping: '{"40":"213"}' as JsonText },
      b: { mapping: '{"40":1,"41":213}' as JsonText },
      c: { mapping: '{"213":"40"}' as JsonText },
      d: { mapping: '{"40":"2130","41":"\\u0032"}' as JsonText },
      e: { mapping: null },
      f: { mapping: '{"40":"warehouse Ä"}' as JsonText },
      g: { mapping: '{"40":2.13e2}' as JsonText },
    });
    assert.deepEqual(await idsOf(token, { data_source: '213' }), ['a', 'b', 'g']);
    assert.deepEqual(await idsOf(token, { data_source: '2' }), ['d']);
    assert.deepEqual(await idsOf(token, { data_source: 'warehouse Ä' }), ['f']);
    assert.deepEqual(await idsOf(token, { data_source: 'warehouse ä' }), []);
  });

  it('data_source finds the groups that use it under its id, its number, or as the default of a schema', async () => {
    const token = await workspaceWith({
      a: { mapping: '{"40":"eu"}' as JsonText },
      b: { mapping: '{"40":"us"}' as JsonText },
      c: { mapping: '{"41":99}' as JsonText },
      d: {},
    });
    const put = (path: string, body: object) => service.call('PUT', path, body, { token });
    const { json } = await put('/v1/data-sources/eu', { schema_id: '40', name: 'EU', attributes: {} });
    const number = String(json.data_source.data_source_id);
    assert.deepEqual(await idsOf(token, { data_source: number }), ['a']);
    await put('/v1/schemas/40', { name: 'Orders', default_data_source: 'eu' });
    for (const data_source of ['eu', number])
      assert.deepEqual(await idsOf(token, { data_source }), ['a', 'c', 'd'], data_source);
    assert.deepEqual(await idsOf(token, { data_source: 'us' }), ['b']);
  });

  it('match=contains finds the value of a property', async () => {
    const token = await workspaceWith({
      a: { properties: '{"plan":"Gold"}' as JsonText },
      b: { properties: '{"plan":"silver","gold":"plan"}' as JsonText },
      c: { name: 'Plan: golden years' },
    });
    assert.deepEqual(await idsOf(token, { search: 'plan: gold', match: 'contains' }), ['a', 'c']);
    assert.deepEqual(await idsOf(token, { search: '*: gold', match: 'contains' }), ['a']);
  });

  it('suspended and seen_before select by suspension and last use; never seen counts as before', async () => {
    const token = await workspaceWith({
      a: { suspendedAt: 1, lastSeenAt: SEEN },
      b: { lastSeenAt: SEEN - 3_600_000 },
      c: {},
    });
    assert.deepEqual(await idsOf(token, { suspended: true }), ['a']);
    assert.deepEqual(await idsOf(token, { suspended: false }), ['b', 'c']);
    assert.deepEqual(await idsOf(token, { seen_before: '2026-03-05T16:00:00Z' }), ['b', 'c']);
    assert.deepEqual(await idsOf(token, { seen_before: '2026-03-05T17:00:00.001+01:00' }), ['a', 'b', 'c']);
    assert.deepEqual(await idsOf(token, { seen_before: '1970-01-01T00:00:00Z' }), ['c']);
    assert.deepEqual(await idsOf(token, { seen_before: '2026-03-05t16:00:00z', suspended: true }), []);
  });

  it('combines with a prefix search by id and name, and returns what the unfiltered list returns', async () => {
    const token = await workspaceWith({
      'ac-1': { name: 'acorn', suspendedAt: 1 },
      'ac-2': { name: 'acorn' },
      x: { name: 'acid', suspendedAt: 1 },
      y: { name: 'accent', suspendedAt: 1 },
      z: { name: 'acute' },
    });
    assert.deepEqual(await idsOf(token, { search: 'ac', suspended: true }), ['ac-1', 'y', 'x']);
    const [all, filtered] = await Promise.all([page(token, {}), page(token, { suspended: false })]);
    assert.deepEqual(
      filtered.json.user_groups,
      all.json.user_groups.filter(({ suspended }: { suspended: boolean }) => !suspended),
    );
  });

  it('ends a page early after a bounded scan, with a cursor, and finds every match', async () => {
    const count = 2 * MAX_SCANNED + 100;
    const suspended = [0, MAX_SCANNED - 1, MAX_SCANNED, count - 1];
    const id = (index: number) => `group-${String(index).padStart(6, '0')}`;
    const token = await workspaceWith(
      Object.fromEntries(
        Array.from({ length: count }, (_, index) => [
          id(index),
          suspended.includes(index) ? { suspendedAt: 1 } : {},
        ]),
      ),
    );
    const first = await page(token, { suspended: true });
    assert.equal(first.json.user_groups.length, 2);
    assert.notEqual(first.json.next_cursor, null);
    assert.deepEqual(await list(token, { suspended: true }), { ids: suspended.map(id), pages: 3 });
    const nothing = await page(token, { search: 'nothing', match: 'contains' });
    assert.deepEqual(nothing.json.user_groups, []);
    assert.notEqual(nothing.json.next_cursor, null);
    assert.equal((await list(token, { suspended: false, limit: 1_000 })).ids.length, count - 4);
  });

  it('ends a page early if the groups are large, and skips no group', async () => {
    const properties = JSON.stringify({ text: 'x'.repeat(60_000) }) as JsonText;
    const ids = Array.from({ length: 40 }, (_, index) => `large-${index + 10}`);
    const token = await workspaceWith(Object.fromEntries(ids.map((id) => [id, { properties }])));
    const first = await page(token, { suspended: false, limit: 1_000 });
    assert.ok(first.json.user_groups.length > 1 && first.json.user_groups.length < ids.length);
    assert.ok(first.text.length < 1.3 * limits.pageBytes);
    for (const query of [
      { suspended: false },
      { search: 'LARGE', match: 'contains' },
      { data_source: 'lake' },
    ]) {
      assert.deepEqual(
        (await list(token, { ...query, limit: 1_000 })).ids,
        'data_source' in query ? [] : ids,
      );
    }
  });

  it('has time in the event loop for all texts that it searches', async () => {
    const { context } = service.app;
    const workspaceName = `filtered ${++workspaces}`;
    const properties = `{"text":"${'x'.repeat(40_000)}"}` as JsonText;
    const { workspace } = await ensureWorkspace(context.store, workspaceName, context.clock());
    const fields = { name: 'Acme', properties };
    await storeUserGroups(context.store, workspaceName, { a: fields, b: fields });
    const caller = operator({ ...workspace, environment: 'Customer' });
    let bytes = 0;
    const turn = (more: number) => {
      bytes += more;
      return context.cpu.turn(more);
    };
    const observed = { ...context, cpu: { turn } as typeof context.cpu };
    await listUserGroups(observed, caller, { limit: 10, match: 'contains', search: 'text: y' });
    assert.equal(bytes, 2 * ('aAcme'.length + properties.length));
  });

  it('searches names beyond ASCII, which the database cannot, in few queries', async (t) => {
    const { context } = service.app;
    const groups = Array.from({ length: 200 }, (_, index) => [`${index}`, { name: `株式会社 ${index}` }]);
    await workspaceWith(Object.fromEntries(groups));
    const name = `filtered ${workspaces}`;
    const { workspace } = await ensureWorkspace(context.store, name, context.clock());
    const { mock } = t.mock.method(context.store, 'read');
    const query = { limit: 1, search: 'nothing', match: 'contains', prefersNames: true } as const;
    await listUserGroups(context, operator({ ...workspace, environment: 'Customer' }), query);
    const queries = mock.calls.filter((call) => call.arguments[0].kind === 'searchUserGroups');
    // Would be 25 if each read eight groups.
    assert.ok(queries.length > 0 && queries.length <= 5, `${queries.length} queries`);
  });

  it('binds a cursor to its filters', async () => {
    const token = await workspaceWith({ a: {}, b: {}, c: {} });
    const queries: ListQuery[] = [
      {},
      { suspended: false },
      { seen_before: '2026-03-05T16:00:00Z' },
      { search: 'n', match: 'contains' },
      { search: 'N' },
      { suspended: false, seen_before: '2026-03-05T16:00:00Z' },
    ];
    for (const query of queries) {
      const { next_cursor: cursor } = (await page(token, { ...query, limit: 1 })).json;
      for (const other of queries) {
        const response = await page(token, { ...other, cursor });
        if (other === query) assert.equal(response.status, 200);
        else assertProblem(response, 'invalid_request');
      }
    }
    const withOffset = { seen_before: '2026-03-05T17:00:00+01:00', limit: 1 };
    const { next_cursor: cursor } = (await page(token, { ...queries[2], limit: 1 })).json;
    assert.equal((await page(token, { ...withOffset, cursor })).status, 200, 'the same instant');
  });

  it('accepts match=prefix without search, which many generated clients send as the default', async () => {
    const token = await workspaceWith({ a: {}, b: {} });
    const first = await page(token, { match: 'prefix', limit: 1 });
    assert.equal(first.status, 200);
    const second = await page(token, { cursor: first.json.next_cursor });
    assert.deepEqual(
      [first, second].map(({ json }) => json.user_groups.length),
      [1, 1],
    );
  });

  const invalid: [string, RegExp][] = [
    ['match=contains', /^The parameter match requires the parameter search\.$/],
    ['search=a&match=regex', /^The parameter match must be prefix or contains\.$/],
    ['search=&match=contains', /search must not be empty/],
    ['data_source=', /data_source must not be empty/],
    [`data_source=${'x'.repeat(256)}`, /data_source must have at most 255 characters/],
    ['suspended=yes', /^The parameter suspended must be true or false\.$/],
    ['suspended=', /suspended must be true or false/],
    ['suspended=true&suspended=true', /Duplicate parameter suspended/],
    ['seen_before=yesterday', /seen_before must be an RFC 3339 timestamp, such as 2026-03-05T16:04:12Z/],
    ['seen_before=2026-02-30T00:00:00Z', /must be an RFC 3339 timestamp/],
    ['seen_before=2026-03-05', /must be an RFC 3339 timestamp, such as 2026-03-05T16:04:12Z\.$/],
    ['seen_before=2026-03-05T24:00:00Z', /must be an RFC 3339 timestamp/],
    ['seen_before=2026-03-05T16:00:00', /must be an RFC 3339 timestamp/],
    ['seen_before=2026-03-05T16:00:00+01:00', /percent-encoded as %2B/],
    ['seen_bfore=2026-03-05T16:00:00Z', /did you mean seen_before/],
  ];
  for (const [query, detail] of invalid) {
    it(`rejects ${query.slice(0, 40)}`, async () => {
      const response = await service.call('GET', `/v1/user-groups?${query}`);
      assertProblem(response, 'invalid_request');
      assert.match(response.json.detail, detail);
    });
  }
});
