// `usage export` writes usage as CSV for spreadsheets.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { parse } from 'csv-parse/sync';
import { exitCodes } from '../../src/commands/exit-code.ts';
import { computeBucket } from '../../src/domain/bucket.ts';
import { toDay } from '../../src/domain/usage.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { type Exit, runHosted, ServedDatabase } from '../support/process.ts';
import { runSql } from '../support/sql.ts';

const HEADING =
  'user_group_id,date,resolves,introspections,forward_authentications,embed_tokens,embed_tokens_by_integration';
const WORKSPACE_ID = 1;

describeOnEachDatabase('usage export', (kind) => {
  const site = ServedDatabase.of(kind);
  const { folder } = site;

  function runExport(...args: string[]): Promise<Exit> {
    return runHosted(folder, ['usage', 'export', '--workspace', 'default', ...args], site.onDatabase);
  }

  async function insert(
    counts: [id: string, date: string, kind: string, integration: string, count: number][],
  ) {
    const rows = counts.map(([id, date, kind, integration, count]) => {
      const bucket = computeBucket(WORKSPACE_ID, 'Customer', id);
      const day = toDay(Date.parse(date));
      return `(${bucket}, ${WORKSPACE_ID}, 'Customer', '${id}', ${day}, '${kind}', '${integration}', ${count})`;
    });
    await runSql(
      site.database,
      `insert into usage_counts (bucket, workspace_id, environment, provided_id, day, kind, integration, count)
        values ${rows.join(', ')}`,
    );
  }

  it('writes a record for each group and period, and prevents formulas', async () => {
    await insert([
      ['=1+1', '2022-03-01', 'resolves', '', 7],
      ['a "b", c', '2022-03-01', 'embed_tokens', 'cube', 2],
      ['a "b", c', '2022-03-01', 'embed_tokens', 'cube;-2', 3],
      ['a "b", c', '2022-03-02', 'introspections', '', 4],
      ['b;=1+1', '2022-03-02', 'introspections', '', 1],
    ]);
    const { stdout } = await runExport('--from', '2022-03-01', '--to', '2022-03-31');
    assert.ok(stdout.startsWith(`${HEADING}\n`), stdout);
    assert.deepEqual(parse(stdout, { from_line: 2 }), [
      ["'=1+1", '2022-03-01', '7', '0', '0', '0', '{}'],
      ['a "b", c', '2022-03-01', '0', '0', '0', '5', '{"cube":2,"cube\\u003b-2":3}'],
      ['a "b", c', '2022-03-02', '0', '4', '0', '0', '{}'],
      ["b;'=1+1", '2022-03-02', '0', '1', '0', '0', '{}'],
    ]);
    const file = folder.join('usage.csv');
    const march = [
      '--from',
      '2022-03-01',
      '--to',
      '2022-03-31',
      '--group-by',
      'month',
      '--integration',
      'cube',
    ];
    await runExport(file, ...march);
    assert.deepEqual(parse(readFileSync(file), { from_line: 2 }), [
      ['a "b", c', '2022-03', '0', '4', '0', '5', '{"cube":2,"cube\\u003b-2":3}'],
    ]);
    assert.equal((await runExport(file, ...march)).code, exitCodes.usage);
  });

  it('writes the same through the API of a running service', async () => {
    await insert([
      ['=1+1', '2021-03-01', 'resolves', '', 7],
      ['b', '2021-03-01', 'embed_tokens', 'cube', 2],
      ...Array.from(
        { length: 1_001 },
        (_, index) =>
          [`g${index}`, '2021-03-02', 'introspections', '', 1] as [string, string, string, string, number],
      ),
    ]);
    const weak = await site.apiToken(['--permission', 'read-only']);
    const runOverHttp = (apiToken: string, ...args: string[]) =>
      runHosted(folder, ['usage', 'export', '--url', site.service.url, ...args], {
        env: { UGS_API_TOKEN: apiToken },
      });
    for (const filter of [[], ['--group', 'b'], ['--integration', 'cube'], ['--group-by', 'month']]) {
      const args = ['--from', '2021-03-01', '--to', '2021-03-31', ...filter];
      const { code, stdout, stderr } = await runOverHttp(weak.token, ...args);
      assert.deepEqual([code, stderr], [0, '']);
      assert.equal(stdout, (await runExport(...args)).stdout);
    }
    assert.equal((await runOverHttp(weak.token, '--workspace', 'default')).code, exitCodes.usage);
    const resolving = await site.apiToken(['--permission', 'resolve']);
    const { code, stdout, stderr } = await runOverHttp(resolving.token);
    assert.deepEqual([code, stdout], [exitCodes.unavailable, '']);
    assert.match(stderr, /permission/);
  });

  it('has every use of a process that has ended', async () => {
    const created = await site.call('POST', '/v1/user-groups', {
      user_group_id: 'used',
      name: 'U',
    });
    for (let times = 0; times < 5; times++) {
      const { status } = await site.call('POST', '/v1/resolve', {
        token: created.json.user_group.token,
      });
      assert.equal(status, 200);
    }
    site.service.signal('SIGTERM');
    await site.service.exit();
    const { stdout } = await runExport('--group', 'used');
    const today = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length);
    assert.equal(stdout, `${HEADING}\nused,${today},5,0,0,0,{}\n`);
  });

  it('names the options in the error if the dates are in the wrong order or too far apart', async () => {
    const errors: [options: string[], error: string][] = [
      [['--from', '2999-01-01'], '--from must not be after today.'],
      [['--from', '2022-03-02', '--to', '2022-03-01'], '--from must not be after --to.'],
      [['--from', '2020-01-01', '--to', '2022-03-01'], '--from must not be more than 399 days before --to.'],
    ];
    for (const [options, error] of errors)
      assert.equal((await runExport(...options)).stderr, `user-group-service: ${error}\n`);
  });

  it('refuses dates that do not exist or are in the wrong order, and an unknown workspace', async () => {
    for (const args of [
      ['--from', '2022-02-30'],
      ['--from', '2022-03-02', '--to', '2022-03-01'],
      ['--group-by', 'week'],
    ]) {
      const { code, stdout } = await runExport(...args);
      assert.deepEqual([code, stdout], [exitCodes.usage, '']);
    }
    assert.equal((await runExport('--workspace', 'defualt')).code, exitCodes.notFound);
  });
});
