// Contract: the history of a user group that was renamed often is read page by page, at a bounded cost per
// page.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { computeBucket } from '../../src/domain/bucket.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { eventually, served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { executeSql, feedIsComplete, runSql } from '../support/sql.ts';

const RENAMES = 300;
/** Maximum number of parts of a history that a page reads. */
const PARTS = 50;

interface Page {
  /** Types of the events, with the ids that they are about. */
  events: string[];
  next: string | null;
}

describeOnEachDatabase('The history of a user group that was renamed often', (database) => {
  const service = TestService.of(database);

  async function page(id: string, query: string, cursor?: string | null): Promise<Page> {
    const more = cursor ? `&cursor=${cursor}` : '';
    const path = `/v1/user-groups/${id}/events?${query}${more}`;
    const { status, json, text } = await served(() => service.call('GET', path));
    assert.equal(status, 200, text);
    const events = json.events as { type: string; target: { id: string } }[];
    return { events: events.map(({ type, target }) => `${type} ${target.id}`), next: json.next_cursor };
  }

  /**
   * Returns the events of all pages, up to the last one, or up to an empty one that repeats the requested
   * cursor.
   */
  async function pages(id: string, query: string, start?: string | null): Promise<string[][]> {
    const all: string[][] = [];
    for (let cursor = start; cursor !== null; ) {
      const { events, next } = await page(id, query, cursor);
      if (events.length === 0 && next === cursor) break;
      all.push(events);
      cursor = next;
    }
    return all;
  }

  async function rename(from: string, to: string): Promise<void> {
    const { status, text } = await served(() =>
      service.call('POST', `/v1/user-groups/${from}/rename`, { user_group_id: to }),
    );
    assert.equal(status, 200, text);
  }

  async function create(id: string): Promise<void> {
    const { status, text } = await served(() => service.get({ user_group_id: id, name: id }));
    assert.equal(status, 200, text);
  }

  /** Creates a group with the first id, and renames it through all others. */
  async function renameThrough(ids: readonly string[]): Promise<void> {
    await create(ids[0]!);
    for (const [index, id] of ids.slice(1).entries()) await rename(ids[index]!, id);
    await feedIsComplete(service.database);
  }

  const newestOf = (ids: readonly string[]) => [
    ...ids
      .slice(1)
      .reverse()
      .map((id) => `user_group.renamed ${id}`),
    `user_group.created ${ids[0]}`,
  ];

  it('has all its events, once and in order, on pages with a bounded number of them', async () => {
    const ids = Array.from({ length: RENAMES + 1 }, (_, index) => `often-${index}`);
    await create(ids[0]!);
    const [last] = await runSql(service.database, 'select max(position) as position from events');
    const created = Number(last!.position);
    const rows = ids.slice(1).flatMap((to, index) => {
      const from = ids[index]!;
      const tenant = (id: string) => `${computeBucket(1, 'Customer', id)}, 1, 'Customer'`;
      const position = created + index + 1;
      return [
        `insert into events (bucket, workspace_id, environment, target_type, target_id, event_id, position, type,
           occurred_at, actor) values (${tenant(to)}, 'user_group', '${to}', 'e${index}', ${position}, 'user_group.renamed', 0, '{}')`,
        `insert into user_group_renames (bucket, workspace_id, environment, provided_id, position, event_id, direction,
           other_id, team_id) values (${tenant(from)}, '${from}', ${position}, 'e${index}', 'to', '${to}', 1),
           (${tenant(to)}, '${to}', ${position}, 'e${index}', 'from', '${from}', 1)`,
      ];
    });
    await executeSql(service.database, `begin; ${rows.join(';')}; commit`);
    await feedIsComplete(service.database);
    const newest = newestOf(ids);
    const queries = ['order=newest', 'order=oldest', 'until=2999-01-01T00:00:00Z', 'type=user_group.created'];
    // Concurrently, because each reads hundreds of parts in transactions of its own.
    const [newestFirst, oldestFirst, until, ofType] = await Promise.all(
      queries.map((query) => pages(ids.at(-1)!, `${query}&limit=1000`)),
    );
    assert.deepEqual(newestFirst!.flat(), newest);
    assert.deepEqual(oldestFirst!.flat(), newest.toReversed());
    for (const { length } of [...newestFirst!, ...oldestFirst!])
      assert.ok(length <= PARTS, `${length} events`);
    // On a busy machine, a page takes long and ends early.
    assert.deepEqual(until!.flat(), newest);
    assert.ok(until!.length < newest.length / 2, `${until!.length} pages`);
    for (const { length } of until!) assert.ok(length <= PARTS, `${length} events`);
    assert.deepEqual(ofType!.flat(), [`user_group.created ${ids[0]}`]);
  });

  it('continues in the feed with what happens later, even after another rename', async () => {
    const ids = Array.from({ length: PARTS + 10 }, (_, index) => `feed-${index}`);
    await renameThrough(ids);
    let cursor: string | null = null;
    const read: string[] = [];
    const readOn = async () => {
      for (;;) {
        const { events, next } = await page(ids.at(-1)!, 'order=oldest&limit=7', cursor);
        const isEnd = events.length === 0 && next === cursor;
        read.push(...events);
        cursor = next;
        if (isEnd) return;
      }
    };
    await readOn();
    await rename(ids.at(-1)!, 'elsewhere');
    await rename('elsewhere', ids.at(-1)!);
    await served(() => service.put({ user_group_id: ids.at(-1)!, name: 'Changed' }));
    await feedIsComplete(service.database);
    await readOn();
    assert.deepEqual(read, [
      ...newestOf(ids).reverse(),
      'user_group.renamed elsewhere',
      `user_group.renamed ${ids.at(-1)}`,
      `user_group.updated ${ids.at(-1)}`,
    ]);
  });

  it('has no event of the group that leaves the id between two pages, nor the other way round', async () => {
    const ids = Array.from({ length: PARTS + 10 }, (_, index) => `left-${index}`);
    await renameThrough(ids);
    const id = ids.at(-1)!;
    const orders = ['newest', 'oldest'];
    const first = await Promise.all(orders.map((order) => page(id, `order=${order}&limit=5`)));
    await rename(id, 'gone');
    await create(id);
    await served(() => service.put({ user_group_id: 'gone', name: 'Secret' }));
    await feedIsComplete(service.database);
    const [newest, oldest] = await Promise.all(
      orders.map((order, index) => page(id, `order=${order}`, first[index]!.next)),
    );
    assert.deepEqual(newest, { events: [], next: null });
    assert.deepEqual(oldest!.events, ['user_group.renamed gone', `user_group.created ${id}`]);
    const ofGone = await pages('gone', 'order=oldest');
    assert.deepEqual(ofGone.flat(), [
      ...newestOf(ids).reverse(),
      'user_group.renamed gone',
      'user_group.updated gone',
    ]);
  });

  it('has no event of a group that had its present id before', async () => {
    await create('kept');
    await create('reused');
    assert.equal((await served(() => service.call('DELETE', '/v1/user-groups/reused'))).status, 204);
    await rename('kept', 'reused');
    await feedIsComplete(service.database);
    const newest = newestOf(['kept', 'reused']);
    assert.deepEqual(await pages('reused', 'order=newest'), [newest]);
    assert.deepEqual(await pages('reused', 'order=oldest'), [newest.toReversed()]);
  });

  it('continues after a rename that is no longer kept', async () => {
    const ids = Array.from({ length: 10 }, (_, index) => `old-${index}`);
    await renameThrough(ids);
    const id = ids.at(-1)!;
    const { next } = await page(id, 'order=oldest&limit=3');
    // On a busy machine, a page may end before its first event.
    const { event_id: eventId } = await eventually('an event', async () => {
      const { json } = await served(() => service.call('GET', `/v1/user-groups/${ids[5]}/events`));
      return json.events[0] ?? null;
    });
    await executeSql(
      service.database,
      `delete from user_group_renames where position <= (select position from events where event_id = '${eventId}')
         and provided_id like 'old-%'`,
    );
    const rest = await pages(id, 'order=oldest', next);
    assert.equal(rest.flat().at(-1), `user_group.renamed ${id}`);
  });
});
