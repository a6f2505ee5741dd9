// Contract: GET /v1/usage says how often the tokens of each user group were used, by UTC day or month.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { computeBucket } from '../../src/domain/bucket.ts';
import { DAY_MS } from '../../src/domain/instant.ts';
import { dayDate, toDay } from '../../src/domain/usage.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { EmbedSite } from '../support/embed-token/site.ts';
import { assertProblem } from '../support/problem.ts';
import { runSql } from '../support/sql.ts';

interface Entry {
  user_group_id: string;
  date: string;
  resolves: number;
  introspections: number;
  forward_authentications: number;
  embed_tokens: Record<string, number>;
}

/** Workspace of the test's API token. */
const WORKSPACE_ID = 1;

/** Properties that the integrations need. */
const properties = { region: 'EMEA', plan: 'gold', seats: 1 };

const NONE = { resolves: 0, introspections: 0, forward_authentications: 0, embed_tokens: {} };

describeOnEachDatabase('GET /v1/usage', (database) => {
  const site = EmbedSite.of(database);
  const { service } = site;
  before(async () => {
    await site.putAll();
  });

  const today = () => toDay(Date.now() + service.clockAheadMs);

  /** Returns the entries of all pages. */
  async function list(query: string, token = service.token): Promise<Entry[]> {
    const entries: Entry[] = [];
    for (let cursor = ''; ; ) {
      const response = await service.call('GET', `/v1/usage?${query}${cursor}`, undefined, { token });
      assert.equal(response.status, 200, response.text);
      entries.push(...response.json.usage);
      if (response.json.next_cursor === null) return entries;
      cursor = `&cursor=${encodeURIComponent(response.json.next_cursor)}`;
    }
  }

  /** Stores counts of resolves, or of embed tokens for an integration. */
  async function insert(
    counts: readonly (readonly [id: string, day: number, count: number, integration?: string])[],
  ): Promise<void> {
    const rows = counts.map(([id, day, count, integration = '']) => {
      const bucket = computeBucket(WORKSPACE_ID, 'Customer', id);
      const kind = integration === '' ? 'resolves' : 'embed_tokens';
      return `(${bucket}, ${WORKSPACE_ID}, 'Customer', '${id}', ${day}, '${kind}', '${integration}', ${count})`;
    });
    await runSql(
      service.database,
      `insert into usage_counts (bucket, workspace_id, environment, provided_id, day, kind, integration, count)
        values ${rows.join(', ')}`,
    );
  }

  it('counts what resolved, was found active, was let through and was minted', async () => {
    const token = await site.createGroup({ user_group_id: 'counted', name: 'A', properties });
    for (let times = 0; times < 3; times++) assert.equal((await service.resolve(token)).status, 200);
    for (let times = 0; times < 2; times++) assert.equal((await service.introspect(token)).json.active, true);
    const headers = { 'x-user-group-token': token };
    assert.equal((await service.forwardAuth(headers)).status, 200);
    const refused = await service.call('GET', '/v1/forward-auth?properties=missing', undefined, { headers });
    assert.equal(refused.status, 401);
    const minted = await site.mint({ integration: 'jwt', token });
    assert.equal(minted.status, 201, minted.text);
    await site.mint({ integration: 'jwt', user_group_id: 'counted' });
    // An embed token resolves too; a refusal is not counted.
    await service.resolve(minted.json.embed_token.token);
    await service.resolve('unknown-token-of-nobody');
    await site.mint({ integration: 'missing', token });
    await service.writeUsage();
    const [entry, ...others] = await list('user_group_id=counted');
    assert.deepEqual(others, []);
    assert.deepEqual(entry, {
      user_group_id: 'counted',
      date: dayDate(today()),
      resolves: 4,
      introspections: 2,
      forward_authentications: 1,
      embed_tokens: { jwt: 2 },
    });
  });

  it('adds to what is stored, through restarts, and continues on the next day', async () => {
    const token = await site.createGroup({ user_group_id: 'restarted', name: 'R' });
    const dates: string[] = [];
    for (const count of [1, 2]) {
      dates.push(dayDate(today()));
      for (let times = 0; times < count; times++) {
        await service.resolve(token);
        await service.restart();
        await service.resolve(token);
      }
      service.clockAheadMs += DAY_MS;
    }
    await service.restart();
    const found = await list('user_group_id=restarted');
    const expected = dates.map((date, index) => ({
      ...NONE,
      user_group_id: 'restarted',
      date,
      resolves: 2 * (index + 1),
    }));
    assert.deepEqual(found, expected);
  });

  it('pages through days, and in a day through ids in the order of their bytes', async () => {
    // In UTF-16, the last two would be in the other order.
    const ids = ['A', 'a', 'ab', 'é', '\u{ff5e}', '\u{1f600}'];
    const first = 18_000;
    const counts = [0, 1, 3].flatMap((day) =>
      ids.map((id, index) => [id, first + day, day + index + 1] as const),
    );
    await insert(counts.toReversed());
    const expected = counts.map(([user_group_id, day, resolves]) => ({
      ...NONE,
      user_group_id,
      date: dayDate(day),
      resolves,
    }));
    const range = `from=${dayDate(first)}&to=${dayDate(first + 5)}`;
    for (const limit of [1, 4, 6, 7, 1_000])
      assert.deepEqual(await list(`${range}&limit=${limit}`), expected);
    assert.deepEqual(
      await list(`${range}&user_group_id=ab&limit=2`),
      expected.filter(({ user_group_id }) => user_group_id === 'ab'),
    );
    assert.deepEqual(
      await list(`from=${dayDate(first + 1)}&to=${dayDate(first + 1)}`),
      expected.filter(({ date }) => date === dayDate(first + 1)),
    );
  });

  it('adds up the days of a month within the range', async () => {
    const start = toDay(Date.UTC(2021, 0, 1));
    const days = [-1, 0, 14, 30, 31, 58, 59].map((offset) => start + offset);
    await insert(days.flatMap((day) => [['m1', day, 1] as const, ['m2', day, 10] as const]));
    const months = await list('from=2021-01-01&to=2021-02-28&group_by=month&limit=1');
    assert.deepEqual(
      months.map(({ user_group_id, date, resolves }) => [date, user_group_id, resolves]),
      [
        ['2021-01', 'm1', 3],
        ['2021-01', 'm2', 30],
        ['2021-02', 'm1', 2],
        ['2021-02', 'm2', 20],
      ],
    );
    const [half] = await list('from=2021-01-10&to=2021-01-20&group_by=month&user_group_id=m1');
    assert.deepEqual([half!.date, half!.resolves], ['2021-01', 1]);
  });

  it('pages through the periods of one group, however many counts they have', async () => {
    const [first, days, integrations] = [toDay(Date.parse('2021-01-01')), 400, 11];
    const dates = Array.from({ length: days }, (_, index) => dayDate(first + index));
    await insert(
      dates.flatMap((_, index) => [
        ['busy', first + index, 1] as const,
        ...Array.from(
          { length: integrations },
          (_, number) => ['busy', first + index, 1, `tool-${number}`] as const,
        ),
      ]),
    );
    const range = `user_group_id=busy&from=${dates[0]}&to=${dates.at(-1)}`;
    const entries = await list(`${range}&limit=150`);
    assert.deepEqual(
      entries.map(({ date }) => date),
      dates,
    );
    assert.ok(entries.every(({ embed_tokens }) => Object.keys(embed_tokens).length === integrations));
    assert.ok(entries.every(({ resolves }) => resolves === 1));
    const months = await list(`${range}&group_by=month&limit=5`);
    assert.equal(months.length, 14);
    assert.deepEqual(
      months.map(({ embed_tokens }) => embed_tokens['tool-10']),
      [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31, 4],
    );
    const one = await list(`${range}&integration=tool-3&limit=399`);
    assert.deepEqual([one.length, one.at(-1)!.date], [days, dates.at(-1)]);
  });

  it('has every group of a day once, however many they are', async () => {
    const day = toDay(Date.UTC(2022, 5, 1));
    const counts = Array.from({ length: 2_500 }, (_, index): [string, number, number] => [
      `many-${index}`,
      day,
      index + 1,
    ]);
    await insert(counts);
    for (const grouping of ['day', 'month']) {
      const found = await list(`from=2022-06-01&to=2022-06-30&limit=1000&group_by=${grouping}`);
      const byId = new Map(found.map(({ user_group_id, resolves }) => [user_group_id, resolves]));
      assert.equal(found.length, counts.length);
      assert.deepEqual(byId, new Map(counts.map(([id, , count]) => [id, count])));
    }
  });

  it('has only groups and periods with embed tokens of the integration, if one is given', async () => {
    await site.createGroup({ user_group_id: 'minted', name: 'M', properties });
    await site.mint({ integration: 'jwt', user_group_id: 'minted' });
    await service.writeUsage();
    const found = await list(`integration=jwt&from=${dayDate(today())}`);
    assert.deepEqual(found, [
      { ...NONE, user_group_id: 'minted', date: dayDate(today()), embed_tokens: { jwt: 1 } },
    ]);
    assert.deepEqual(await list('integration=nothing'), []);
  });

  it('keeps the usage of a deleted group, and shows none to another workspace or environment', async () => {
    const token = await site.createGroup({ user_group_id: 'deleted', name: 'D' });
    await service.resolve(token);
    await service.writeUsage();
    await service.call('DELETE', '/v1/user-groups/deleted');
    assert.equal((await list('user_group_id=deleted')).length, 1);
    for (const other of [{ workspaceName: 'elsewhere' }, { environment: 'Testing' }] as const) {
      const { token: apiToken } = await service.apiToken(other);
      assert.deepEqual(await list('user_group_id=deleted', apiToken), []);
      assert.deepEqual(await list(`from=${dayDate(today() - 300)}`, apiToken), []);
    }
  });

  it('adds up what a deleted group and its successor with the same id have used', async () => {
    for (let times = 0; times < 2; times++) {
      const token = await site.createGroup({ user_group_id: 'again', name: 'A' });
      await service.resolve(token);
      await service.call('DELETE', '/v1/user-groups/again');
    }
    await service.writeUsage();
    const [entry] = await list('user_group_id=again');
    assert.equal(entry!.resolves, 2);
  });

  it('has the last 30 days by default, in pages of 100 entries', async () => {
    const first = today() - 29;
    await insert([['day-before', first - 1, 1] as const, ['first-day', first, 1] as const]);
    await insert(Array.from({ length: 100 }, (_, index) => [`page-${index}`, first + 1, 1] as const));
    const { json } = await service.call('GET', '/v1/usage');
    assert.deepEqual([json.usage[0].user_group_id, json.usage[0].date], ['first-day', dayDate(first)]);
    assert.deepEqual([json.usage.length, typeof json.next_cursor], [100, 'string']);
  });

  it('continues after a page of days that are far in the future', async () => {
    assert.deepEqual(await list('from=9999-01-01&to=9999-12-31'), []);
  });

  it('continues a list of 400 days up to today after midnight', async () => {
    const from = today() - 399;
    await insert(['y1', 'y2'].map((id) => [id, from, 1] as const));
    const query = `/v1/usage?limit=1&from=${dayDate(from)}`;
    const { json } = await service.call('GET', query);
    service.clockAheadMs += DAY_MS;
    const next = await service.call('GET', `${query}&cursor=${encodeURIComponent(json.next_cursor)}`);
    assert.equal(next.status, 200, next.text);
    assert.equal(next.json.usage[0].user_group_id, 'y2');
  });

  it('refuses days that do not exist, are in the wrong order or too far apart', async () => {
    const refused = {
      'from=2026-02-29': /from must be a date that exists/,
      'to=2026-13-01': /to must be a date that exists/,
      'to=1969-12-31': /not before 1970/,
      'from=2026-3-1': /must be a date such as/,
      'from=2026-03-01T00:00:00Z': /must be a date such as/,
      'from=2026-03-02&to=2026-03-01': /from must not be after to\./,
      'from=9999-01-01': /from must not be after today\./,
      'from=2025-01-01&to=2026-02-05': /from must not be more than 399 days before to/,
      'group_by=week': /group_by/,
      'limit=0': /limit/,
    };
    for (const [query, detail] of Object.entries(refused)) {
      const response = await service.call('GET', `/v1/usage?${query}`);
      assertProblem(response, 'invalid_request');
      assert.match(response.json.detail, detail);
    }
    const { json } = await service.call(
      'GET',
      `/v1/usage?limit=1&from=${dayDate(18_000)}&to=${dayDate(18_005)}`,
    );
    const cursor = encodeURIComponent(json.next_cursor);
    assertProblem(await service.call('GET', `/v1/usage?cursor=${cursor}`), 'invalid_request');
  });

  it('is deleted with events, by the retention, and the day that it begins with is kept', async () => {
    using _clock = service.stopClock();
    const token = await site.createGroup({ user_group_id: 'kept', name: 'K' });
    await service.resolve(token);
    await service.writeUsage();
    const from = dayDate(today());
    service.clockAheadMs += 90 * DAY_MS;
    await service.app.eventRetention.run();
    assert.equal((await list(`from=${from}&user_group_id=kept`)).length, 1);
    service.clockAheadMs += DAY_MS;
    await service.app.eventRetention.run();
    assert.deepEqual(await list(`from=${from}&user_group_id=kept`), []);
  });
});
