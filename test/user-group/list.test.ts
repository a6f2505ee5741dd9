// Contract: GET /v1/user-groups lists the groups of a workspace and environment, page by page.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/domain/field.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { assertProblem } from '../support/problem.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import {
  type ListedGroup,
  type ListQuery,
  listPage,
  listPages,
} from '../support/user-group/listed-user-group.ts';

describeOnEachDatabase('GET /v1/user-groups', (database) => {
  const service = TestService.of(database);
  let workspaces = 0;

  /** Creates a workspace without groups and returns an API token of it. */
  async function newWorkspace(): Promise<{ token: string; workspaceName: string }> {
    const workspaceName = `workspace ${++workspaces}`;
    return { ...(await service.apiToken({ workspaceName })), workspaceName };
  }

  const page = (token: string, query?: ListQuery) => listPage(service, token, query);
  const list = async (token: string, query?: ListQuery, between?: (page: number) => Promise<unknown>) =>
    (await listPages(service, token, query, between)).flat();

  async function create(
    token: string,
    ids: readonly string[],
    nameOf = (id: string) => `Name of ${id}`,
  ): Promise<void> {
    await Promise.all(
      ids.map((id) => served(() => service.get({ user_group_id: id, name: nameOf(id) }, { token }))),
    );
  }

  const idsOf = (groups: readonly ListedGroup[]): string[] => groups.map(({ provided_id }) => provided_id);
  const numbered = (count: number, prefix = 'group-') =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  const byBytes = (a: string, b: string) => Buffer.from(a).compare(Buffer.from(b));

  it('returns the same fields as the read, in the same order, without the token', async () => {
    const { token } = await newWorkspace();
    await service.get('{"user_group_id":"one","name":"One","properties":{"b":1.10,"a":[]}}', { token });
    await service.get({ user_group_id: 'two', name: 'Two', mapping: { 40: 213 } }, { token });
    const reads = await Promise.all(
      ['one', 'two'].map((id) => service.call('GET', `/v1/user-groups/${id}`, undefined, { token })),
    );
    const texts = reads.map(({ text }) =>
      text.replace(/^.*"user_group":(.*)}$/, '$1').replace(/"token":"\w+",/, ''),
    );
    const response = await page(token);
    assert.equal(response.status, 200);
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.equal(response.text, `{"success":1,"user_groups":[${texts}],"next_cursor":null}`);
    assert.doesNotMatch(response.text, /ugt_/);
  });

  it('returns an empty list if there are no groups', async () => {
    const { token } = await newWorkspace();
    assert.equal((await page(token)).text, '{"success":1,"user_groups":[],"next_cursor":null}');
  });

  it('returns 50 groups per page by default, and each group exactly once', async () => {
    const { token } = await newWorkspace();
    const ids = numbered(60);
    await create(token, ids);
    assert.equal((await page(token)).json.user_groups.length, 50);
    for (const limit of [1, 7, 59, 60, 61, 1_000]) {
      assert.equal((await page(token, { limit })).json.user_groups.length, Math.min(limit, 60));
      const groups = await list(token, { limit });
      assert.deepEqual(idsOf(groups), ids.toSorted(byBytes));
      assert.equal(new Set(groups.map(({ team_id }) => team_id)).size, ids.length);
    }
  });

  it('returns no next_cursor on a full last page', async () => {
    const { token } = await newWorkspace();
    await create(token, numbered(4));
    assert.equal((await page(token, { limit: 4 })).json.next_cursor, null);
    assert.equal((await page(token, { limit: 4, search: 'group' })).json.next_cursor, null);
    assert.equal((await page(token, { limit: 4, search: 'Name' })).json.next_cursor, null);
    const first = await page(token, { limit: 2 });
    assert.equal((await page(token, { limit: 2, cursor: first.json.next_cursor })).json.next_cursor, null);
  });

  it('sorts by the bytes of the ids, in every script', async () => {
    const { token } = await newWorkspace();
    const ids = [
      ...[
        'a',
        'B',
        'b',
        'A',
        'a b',
        'a-b',
        'ab',
        'a/b',
        'é',
        'e\u0301',
        'z',
        'ß',
        'ss',
        '10',
        '9',
        '_',
        '~',
        '%',
      ],
      ...['中', '日', 'ア', 'אב', 'مر', '😀', '\uffff', '\u{10ffff}', '\ue000', 'a\u{10ffff}', 'a😀'],
    ];
    await create(token, ids);
    assert.deepEqual(idsOf(await list(token, { limit: 3 })), ids.toSorted(byBytes));
  });

  describe('search', () => {
    it('returns matches by id prefix and then matches by name prefix, each group once', async () => {
      const { token } = await newWorkspace();
      const names: Record<string, string> = {
        'ac-2': 'acorn',
        'ac-1': 'Other',
        x: 'acid',
        y: 'accent',
        z: 'Acme',
        ab: 'cac',
      };
      await create(token, Object.keys(names), (id) => names[id]!);
      for (const limit of [1, 2, 3, 50]) {
        assert.deepEqual(idsOf(await list(token, { search: 'ac', limit })), ['ac-1', 'ac-2', 'y', 'x']);
      }
    });

    it('compares byte for byte, without wildcards', async () => {
      const { token } = await newWorkspace();
      const ids = [
        '%a',
        '_a',
        'aa',
        'Aa',
        'é',
        'e\u0301',
        '\\a',
        '*',
        'a%',
        '😀',
        '😁',
        '中文',
        'a\u{10ffff}b',
        'a b',
      ];
      await create(token, ids, () => 'N');
      const found = async (search: string) => idsOf(await list(token, { search }));
      for (const id of ids) assert.deepEqual(await found(id), [id]);
      assert.deepEqual(await found('a'), ['a b', 'a%', 'aa', 'a\u{10ffff}b']);
      assert.deepEqual(await found('e'), ['e\u0301']);
      assert.deepEqual(await found('中'), ['中文']);
      assert.deepEqual(await found('aab'), []);
      assert.equal((await found('N')).length, ids.length);
    });

    it('pages through duplicate names', async () => {
      const { token } = await newWorkspace();
      const ids = numbered(60);
      await create(token, ids, (id) => (id.endsWith('7') ? 'Seven' : 'Same'));
      const same = ids.filter((id) => !id.endsWith('7')).toSorted(byBytes);
      assert.deepEqual(idsOf(await list(token, { search: 'Same', limit: 7 })), same);
      const seven = ids.filter((id) => id.endsWith('7')).toSorted(byBytes);
      assert.deepEqual(idsOf(await list(token, { search: 'S', limit: 7 })), [...same, ...seven]);
    });

    it('terminates with any limit if all names equal their ids', async () => {
      const { token } = await newWorkspace();
      const ids = numbered(60);
      await create(token, [...ids, 'x'], (id) => (id === 'x' ? 'group of x' : id));
      for (const limit of [1, 3, 50]) {
        assert.deepEqual(idsOf(await list(token, { search: 'group', limit })), [
          ...ids.toSorted(byBytes),
          'x',
        ]);
      }
    });

    it('finds the longest possible id by its full text', async () => {
      const { token } = await newWorkspace();
      const longest = ['😀'.repeat(255), '\u{10ffff}'.repeat(255)];
      await create(token, longest, () => 'N');
      for (const id of longest) assert.deepEqual(idsOf(await list(token, { search: id })), [id]);
    });
  });

  describe('a cursor', () => {
    it('is rejected for another search, environment or workspace, or if it was modified', async () => {
      const { token, workspaceName } = await newWorkspace();
      const testing = (await service.apiToken({ workspaceName, environment: 'Testing' })).token;
      const other = (await newWorkspace()).token;
      for (const each of [token, testing, other]) await create(each, numbered(3));
      const cursor: string = (await page(token, { limit: 1 })).json.next_cursor;
      const searched: string = (await page(token, { limit: 1, search: 'g' })).json.next_cursor;
      const responses = await Promise.all([
        page(testing, { cursor }),
        page(other, { cursor }),
        page(token, { cursor, search: 'g' }),
        page(token, { cursor: searched }),
        page(token, { cursor: searched, search: 'gr' }),
        ...[cursor.slice(1), cursor.slice(0, -1), `${cursor}A`, `${cursor}=`].map((each) =>
          page(token, { cursor: each }),
        ),
      ]);
      for (const response of responses) assertProblem(response, 'invalid_request');
    });

    it('is valid with any limit, for any API token of the same list, after a restart, and repeatedly', async () => {
      const { token, workspaceName } = await newWorkspace();
      await create(token, numbered(5));
      const cursor: string = (await page(token, { limit: 2 })).json.next_cursor;
      await service.restart();
      const readOnly = (await service.apiToken({ workspaceName, permission: 'read-only' })).token;
      for (const [each, limit] of [
        [token, 1],
        [token, 50],
        [readOnly, 3],
        [token, 1],
      ] as const) {
        const { json } = await page(each, { cursor, limit });
        assert.deepEqual(idsOf(json.user_groups), numbered(5).slice(2, 2 + limit));
      }
    });
  });

  describe('while groups are created and deleted', () => {
    it('returns each remaining group exactly once', async () => {
      const { token } = await newWorkspace();
      const staying = numbered(30, 'stays-');
      const leaving = numbered(30, 'leaves-').concat(numbered(30, 'stays-').map((id) => `${id}-leaves`));
      await create(token, [...staying, ...leaving]);
      const groups = await list(token, { limit: 7 }, async (pages) => {
        const gone = leaving.splice(0, 4);
        await Promise.all(
          gone.map((id) => service.call('DELETE', `/v1/user-groups/${id}`, undefined, { token })),
        );
        await create(token, [`a-new-${pages}`, `stays-${pages}-new`, `z-new-${pages}`]);
        // Changes to a group do not change its position.
        const changed = staying[pages % staying.length]!;
        const { json } = await service.get({ user_group_id: changed }, { token });
        await service.put({ user_group_id: changed, name: `Renamed ${pages}` }, { token });
        await service.post({ current_token: json.user_group.token }, { token });
      });
      const ids = idsOf(groups);
      assert.equal(new Set(ids).size, ids.length);
      assert.deepEqual(
        ids.filter((id) => staying.includes(id)),
        staying.toSorted(byBytes),
      );
    });

    it('returns each remaining match of a search by id or by name exactly once', async () => {
      const { token } = await newWorkspace();
      const byId = numbered(20, 'acme-');
      const byName = numbered(20, 'x-');
      const leaving = numbered(20, 'acme-leaves-').concat(numbered(20, 'y-'));
      await create(token, [...byId, ...byName, ...leaving], (id) =>
        id.startsWith('acme') ? `Other ${id}` : `acme ${id}`,
      );
      const groups = await list(token, { search: 'acme', limit: 3 }, async (pages) => {
        const gone = leaving.splice(0, 2);
        await Promise.all(
          gone.map((id) => service.call('DELETE', `/v1/user-groups/${id}`, undefined, { token })),
        );
        await create(token, [`acme-new-${pages}`], () => 'New');
        // A match by id remains one, whatever its name becomes.
        await service.put({ user_group_id: byId[pages % 20], name: `acme ${pages}` }, { token });
      });
      const ids = idsOf(groups);
      assert.equal(new Set(ids).size, ids.length);
      assert.deepEqual(
        ids.filter((id) => byId.includes(id)),
        byId.toSorted(byBytes),
      );
      assert.deepEqual(
        ids.filter((id) => byName.includes(id)),
        byName.toSorted(byBytes),
      );
    });

    it('continues after the last group of a page is deleted', async () => {
      const { token } = await newWorkspace();
      await create(token, numbered(6));
      const first = (await page(token, { limit: 3 })).json;
      await service.call('DELETE', `/v1/user-groups/${first.user_groups[2].provided_id}`, undefined, {
        token,
      });
      const rest = (await page(token, { cursor: first.next_cursor })).json;
      assert.deepEqual(idsOf(rest.user_groups), numbered(6).slice(3));
    });
  });

  it('ends a page early if the groups are large, and skips no group', async () => {
    const { token } = await newWorkspace();
    const ids = numbered(15);
    const properties = { text: 'x'.repeat(60_000) };
    await Promise.all(
      ids.map((id) => served(() => service.get({ user_group_id: id, name: 'Large', properties }, { token }))),
    );
    const first = await page(token, { limit: 1_000 });
    assert.ok(first.json.user_groups.length > 1 && first.json.user_groups.length < ids.length);
    assert.ok(first.text.length < 1.3 * limits.pageBytes);
    assert.deepEqual(idsOf(await list(token, { limit: 1_000 })), ids.toSorted(byBytes));
    assert.deepEqual(idsOf(await list(token, { limit: 1_000, search: 'La' })), ids.toSorted(byBytes));
  });

  it('does not delay lookups of single groups', async () => {
    const { token } = await newWorkspace();
    const ids = Array.from({ length: 100 }, (_, index) => `group ${index}`);
    await create(token, ids);
    let completed = 0;
    const lists = Array.from({ length: 60 }, async () => {
      const { status } = await served(() => page(token, { limit: 1_000 }));
      assert.equal(status, 200);
      completed++;
    });
    const lookUp = async () => {
      const { status } = await service.get({ user_group_id: ids[0] }, { token });
      assert.equal(status, 200);
      return completed;
    };
    await Promise.race(lists);
    const completedBefore = await lookUp();
    await Promise.all(lists);
    assert.ok(completedBefore < lists.length / 2, `${completedBefore} lists completed before the lookup`);
  });
});
