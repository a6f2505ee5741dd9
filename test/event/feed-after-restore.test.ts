// Contract: a reader of the feed whose cursor is newer than a restored database learns of it.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';

describeOnEachDatabase('The feed of a database that was restored', (database) => {
  const service = TestService.of(database);

  function page(cursor: string, filter = ''): Promise<TestResponse> {
    return service.call('GET', `/v1/events?order=oldest${filter}${cursor && `&cursor=${cursor}`}`);
  }

  /** Returns the cursor of the page that ends with the event of the group, which is the last one. */
  function cursorAfter(id: string, filter = ''): Promise<string> {
    return eventually('the event', async () => {
      const { json } = await page('', filter);
      return json.events.at(-1)?.target.id === id ? (json.next_cursor as string) : null;
    });
  }

  /** Takes the positions of events back to those of an earlier time. */
  async function loseEvents(): Promise<void> {
    const isPostgres = service.database.url.startsWith('postgres');
    await runSql(service.database, 'delete from events');
    await runSql(
      service.database,
      isPostgres
        ? 'update event_positions set base = base - 1000000'
        : "update sqlite_sequence set seq = 0 where name = 'events'",
    );
  }

  it('refuses a cursor that is newer than every event, and accepts others', async () => {
    if (service.database.url.startsWith('postgres'))
      await runSql(service.database, 'update event_positions set base = base + 1000000');
    const filters = ['', '&type=user_group.created', '&field=name'];
    await service.get({ user_group_id: 'lost', name: 'Lost' });
    const cursors = await Promise.all(filters.map((filter) => cursorAfter('lost', filter)));
    for (const [index, filter] of filters.entries())
      assert.equal((await page(cursors[index]!, filter)).status, 200);
    await loseEvents();
    for (const [index, filter] of filters.entries()) {
      const refused = await page(cursors[index]!, filter);
      assertProblem(refused, 'invalid_request');
      assert.match(refused.json.detail, /^cursor is newer than the database, which was restored /);
    }
    const start = await page('');
    assert.equal(start.status, 200);
    assert.equal((await page(start.json.next_cursor)).status, 200);
    await service.get({ user_group_id: 'later', name: 'Later' });
    assert.deepEqual((await page(await cursorAfter('later'))).json.events, []);
  });
});
