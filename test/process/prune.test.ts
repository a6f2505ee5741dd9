// `import --update --prune` makes the user groups of an environment equal to a list, after a plan.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { beforeEach, it } from 'node:test';
import { describeOnEachDatabase } from '../support/database.ts';
import { writeNewerFile } from '../support/migration/newer-file.ts';
import { openFiles } from '../support/open-files.ts';
import {
  type Exit,
  eventually,
  PROGRAM,
  Program,
  run,
  runHosted,
  ServedDatabase,
  served,
} from '../support/process.ts';
import { runSql } from '../support/sql.ts';

describeOnEachDatabase('import --update --prune', (kind) => {
  const site = ServedDatabase.of(kind);
  const { folder } = site;
  beforeEach(async () => {
    await runSql(site.database, 'delete from user_groups');
    for (let number = 0; number < 10; number++)
      await call('POST', '/v1/user-groups', { user_group_id: `g${number}`, name: `G${number}` });
  });

  const call = site.call.bind(site);
  const ids = async (): Promise<string[]> => {
    const { json } = await call('GET', '/v1/user-groups?limit=1000');
    return json.user_groups.map(({ provided_id }: { provided_id: string }) => provided_id);
  };
  const lines = (...groups: object[]) => groups.map((group) => `${JSON.stringify(group)}\n`).join('');
  const listed = (numbers: readonly number[]) =>
    lines(...numbers.map((number) => ({ user_group_id: `g${number}`, name: `G${number}` })));
  const args = (file: string, ...more: string[]) => ['import', file, '--workspace', 'default', ...more];
  const prune = async (text: string, ...more: string[]): Promise<Exit> => {
    const file = folder.join('customers.ndjson');
    await writeNewerFile(file, text);
    return await runHosted(folder, args(file, '--update', '--prune', ...more), site.onDatabase);
  };

  it('prints a plan, updates the listed groups, and deletes the others', async () => {
    const text = `${listed([1, 2, 3, 4, 5, 6, 7, 8])}${lines({ user_group_id: 'g9', name: 'Renamed' }, { user_group_id: 'new', name: 'N' })}`;
    const exit = await prune(text, '--max-delete', '10%');
    assert.deepEqual([exit.code, exit.stderr], [0, '']);
    const [plan, result] = exit.stdout.trimEnd().split('\n');
    const counts = '10 lines: 1 created, 1 updated, 8 unchanged, 0 refused.';
    assert.equal(plan, `Plan: ${counts} User groups not in the file, to be deleted: 1.`);
    assert.equal(result, `${counts} User groups not in the file, deleted: 1.`);
    assert.deepEqual(await ids(), ['g1', 'g2', 'g3', 'g4', 'g5', 'g6', 'g7', 'g8', 'g9', 'new']);
    const again = await prune(text, '--json', '--max-delete', '0');
    assert.equal(again.code, 0);
    const printed = again.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual([printed[0].dry_run, printed[0].deleted, printed.length], [true, 0, 12]);
    const { created, updated, unchanged, deleted } = printed.at(-1);
    assert.deepEqual([created, updated, unchanged, deleted], [0, 0, 10, 0]);
  });

  it('changes nothing if two lines have the same id', async () => {
    const text = `${listed([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])}${lines({ user_group_id: 'g3', name: 'Other' })}`;
    const exit = await prune(text);
    assert.equal(exit.code, 65);
    assert.match(exit.stderr, /line 11: .*user_group_id.* has the same id as line 4/);
    const { json } = await call('GET', '/v1/user-groups/g3');
    assert.equal(json.user_group.name, 'G3');
  });

  it('changes nothing if more groups would be deleted than allowed, by default 5%', async () => {
    const before = await ids();
    for (const max of [[], ['--max-delete', '9'], ['--max-delete', '19.9%']]) {
      const kept =
        max.length === 0 ? [0, 1, 2, 3, 4, 5, 6, 7, 8] : max[1] === '9' ? [] : [0, 1, 2, 3, 4, 5, 6, 7];
      const text = `${listed(kept)}${lines({ user_group_id: 'new', name: 'N' })}`;
      const exit = await prune(text, ...max);
      assert.equal(exit.code, 65, exit.stderr);
      assert.match(
        exit.stderr,
        /of 10 user groups are not in the file, and --max-delete allows .*; nothing was changed/,
      );
      assert.deepEqual(await ids(), before);
    }
    assert.equal((await prune(listed([0, 1, 2, 3, 4, 5, 6, 7]), '--max-delete', '20%')).code, 0);
    assert.equal((await ids()).length, 8);
  });

  it('refuses an empty list, which a failed query leaves, unless all groups may be deleted', async () => {
    const before = await ids();
    for (const max of ['5%', '10', '1000', '99.9%']) {
      const exit = await prune('', '--max-delete', max);
      assert.equal(exit.code, 65, max);
      assert.match(exit.stderr, /the file has no user group.*nothing was changed/);
      assert.deepEqual(await ids(), before);
    }
    assert.equal((await prune('', '--max-delete', '100%')).code, 0);
    assert.deepEqual(await ids(), []);
    assert.equal((await prune('', '--max-delete', '0')).code, 0);
  });

  it('changes nothing if a line is refused: its customer would be deleted', async () => {
    const before = await ids();
    for (const line of ['{"user_group_id":"g9","name":7}', 'g9', '{"user_group_id":"g9"', '']) {
      const text = `${listed([0, 1, 2, 3, 4, 5, 6, 7, 8])}${lines({ user_group_id: 'new', name: 'N' })}${line}\n`;
      const exit = await prune(text, '--max-delete', line === '' ? '0' : '100%');
      assert.equal(exit.code, 65, line);
      assert.deepEqual(await ids(), before, line);
    }
  });

  it('changes nothing if a line violates an enforced rule, and says so in the plan', async () => {
    const { token: admin } = await site.apiToken(['--permission', 'admin']);
    const configure = async (path: string, body: object) => {
      const { status } = await served(() => site.call('PUT', path, body, admin));
      assert.ok(status < 300, `${path}: ${status}`);
    };
    await configure('/v1/schemas/40', { name: 'Orders' });
    const dataSource = { schema_id: '40', name: 'Orders of G9', attributes: {}, user_group_id: 'g9' };
    await configure('/v1/data-sources/orders-9', dataSource);
    await configure('/v1/mapping-policy', { mode: 'enforce' });
    const schema = { properties: { plan: { enum: ['gold'] } } };
    await configure('/v1/property-schema', { schema, mode: 'enforce' });
    const before = await ids();
    const invalid = {
      mapping: { mapping: { 40: 'orders-9' } },
      'mapping/40 refers to a data source that does not exist': { mapping: { 40: 'orders-8' } },
      properties: { properties: { plan: 'golden' } },
    };
    try {
      for (const [message, fields] of Object.entries(invalid))
        for (const id of ['g8', 'new']) {
          const text = `${listed([0, 1, 2])}${lines({ user_group_id: id, name: 'N', ...fields })}`;
          const exit = await prune(text, '--max-delete', '100%');
          assert.equal(exit.code, 65, `${id}, ${message}`);
          assert.match(exit.stdout, /^Plan: 4 lines: 0 created, 0 updated, 3 unchanged, 1 refused\./);
          assert.ok(exit.stderr.startsWith(`line 4: ${message}`), exit.stderr);
          assert.deepEqual(await ids(), before);
        }
      const fields = { mapping: { 40: 'orders-9' }, properties: { plan: 'gold' } };
      const valid = { user_group_id: 'g9', name: 'G9', ...fields };
      const text = `${listed([0, 1, 2, 3, 4, 5, 6, 7, 8])}${lines(valid)}`;
      const exit = await prune(text);
      assert.deepEqual([exit.code, exit.stderr], [0, '']);
    } finally {
      await configure('/v1/mapping-policy', { mode: 'off' });
      await site.call('DELETE', '/v1/property-schema', undefined, admin);
    }
  });

  it('deletes nothing if a line is refused after the plan', async () => {
    const token = 'imported-token-of-two-customers';
    const text = `${listed([0, 1, 2])}${lines({ user_group_id: 'n1', name: 'N', token }, { user_group_id: 'n2', name: 'N', token })}`;
    const exit = await prune(text, '--max-delete', '100%');
    assert.equal(exit.code, 65);
    assert.match(exit.stdout, /^Plan: 5 lines: 2 created, .* 0 refused\. .* to be deleted: 7\.$/m);
    assert.match(exit.stdout, /1 refused\. User groups not in the file, deleted: 0\.\n$/);
    assert.match(exit.stderr, /no user group was deleted/);
    assert.equal((await ids()).length, 11);
  });

  it('changes nothing with --dry-run, and requires --update', async () => {
    const before = await ids();
    const exit = await prune(listed([0]), '--dry-run', '--max-delete', '100%');
    assert.deepEqual([exit.code, exit.stderr], [0, '']);
    assert.match(exit.stdout, /^Plan: .* to be deleted: 9\.$/m);
    const { stdout } = await prune(
      listed([0, 1, 2, 3, 5, 6, 7, 9]),
      '--dry-run',
      '--json',
      '--max-delete',
      '2',
    );
    const deletions = stdout
      .split('\n')
      .filter((line) => line.includes('"result":"deleted"'))
      .map((line) => JSON.parse(line).user_group_id);
    assert.deepEqual(deletions, ['g4', 'g8'], 'groups that the plan deletes');
    assert.deepEqual(await ids(), before);
    const without = await runHosted(folder, args('x', '--prune'), site.onDatabase);
    assert.equal(without.code, 2);
    assert.match(without.stderr, /--prune requires --update/);
    for (const share of ['5 %', '101%', '1.5']) {
      const wrong = await prune(listed([0]), '--max-delete', share);
      assert.equal(wrong.code, 2);
    }
  });

  it('reads standard input', async () => {
    await writeNewerFile(folder.join('stdin.ndjson'), listed([0, 1, 2, 3, 4, 5, 6, 7, 8]));
    const piped = ['-c', 'exec "$0" "$@" < stdin.ndjson', process.execPath, PROGRAM];
    const start = (maximum: string) =>
      new Program(folder, [...piped, ...args('-', '--update', '--prune', '--max-delete', maximum)], {
        ...site.onDatabase,
        command: 'bash',
      }).exit();
    const refused = await start('0');
    assert.equal(refused.code, 65, refused.stdout);
    assert.match(refused.stderr, /1 of 10 user groups are not in the file/);
    const exit = await start('1');
    assert.deepEqual([exit.code, exit.stderr], [0, '']);
    assert.equal((await ids()).length, 9);
  });

  it('keeps the groups that are newer than the file', async () => {
    const file = folder.join('older.ndjson');
    const older = listed([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    await writeNewerFile(file, older);
    await call('POST', '/v1/user-groups', { user_group_id: 'newer', name: 'N' });
    const redirected = ['-c', 'exec "$0" "$@" < older.ndjson', process.execPath, PROGRAM];
    const exit = await new Program(
      folder,
      [...redirected, ...args('-', '--update', '--prune', '--dry-run')],
      {
        ...site.onDatabase,
        command: 'bash',
      },
    ).exit();
    assert.match(exit.stderr, /1 of 11 user groups are not in the file/);
    const { stdout } = await runHosted(
      folder,
      args(file, '--update', '--prune', '--max-delete', '1'),
      site.onDatabase,
    );
    assert.match(stdout, /, deleted: 1; kept, because they are newer than the file: 1\.\n$/);
    assert.deepEqual((await ids()).slice(-2), ['g8', 'newer']);
  });

  it('keeps a group that was renamed after the file was written, and its token', async () => {
    const file = folder.join('before.ndjson');
    await writeNewerFile(file, listed([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
    const { json } = await call('GET', '/v1/user-groups/g9');
    const renamed = await call('POST', '/v1/user-groups/g9/rename', { user_group_id: 'renamed' });
    assert.equal(renamed.status, 200, renamed.text);
    const exit = await runHosted(
      folder,
      args(file, '--update', '--prune', '--max-delete', '1'),
      site.onDatabase,
    );
    assert.match(exit.stdout, /, deleted: 0; kept, because they are newer than the file: 1\.\n$/);
    const kept = await call('GET', '/v1/user-groups/renamed');
    assert.equal(kept.json.user_group.token, json.user_group.token);
  });

  it('keeps the groups that are created while it runs, even if the clock that dated the file is ahead', async () => {
    const file = folder.join('ahead.ndjson');
    writeFileSync(file, listed([0, 1, 2, 3, 4, 5, 6, 7, 8]));
    const hour = 3_600;
    utimesSync(file, Date.now() / 1_000 + hour, Date.now() / 1_000 + hour);
    await runSql(
      site.database,
      `update user_groups set updated_at = ${Date.now() + (hour / 2) * 1_000} where provided_id = 'g9'`,
    );
    const { stdout } = await runHosted(folder, args(file, '--update', '--prune'), site.onDatabase);
    assert.match(stdout, /, deleted: 0; kept, because they are newer than the file: 1\.\n$/);
  });

  it('keeps the groups that are newer than the file, if the clock of the service is behind', async () => {
    const file = folder.join('customers.ndjson');
    const listedAt = Date.now();
    writeFileSync(file, listed([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
    await call('POST', '/v1/user-groups', { user_group_id: 'newer', name: 'N' });
    const hour = 3_600_000;
    utimesSync(file, (listedAt + hour) / 1_000, (listedAt + hour) / 1_000);
    const clock = `const now = Date.now; Date.now = () => now() + ${hour}`;
    const env = {
      UGS_API_TOKEN: site.token,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(clock)}`,
    };
    const importArgs = [
      'import',
      file,
      '--update',
      '--prune',
      '--max-delete',
      '1',
      '--url',
      site.service.url,
    ];
    const { stdout, stderr } = await run(folder, importArgs, { env });
    assert.match(stdout, /, deleted: 0; kept, because they are newer than the file: \d+\.\n$/, stderr);
    assert.ok((await ids()).includes('newer'));
  });

  const targets = [
    ['the database', 3_000],
    ['the service', 300],
  ] as const;
  // Through the service, the command is the same on every database.
  for (const [target, count] of kind.name === 'SQLite' ? targets : targets.slice(0, 1))
    it(`keeps a group that changes between the plan and the deletions, in ${target}`, async () => {
      const numbers = Array.from({ length: count }, (_, index) => index);
      const many = lines(...numbers.map((number) => ({ user_group_id: `many-${number}`, name: 'M' })));
      const file = folder.join('many.ndjson');
      await writeNewerFile(file, `${listed([0, 1, 2, 3, 4, 5, 6, 7])}${many}`);
      const importArgs = ['import', file, '--update', '--prune', '--max-delete', '100%'];
      const [more, env] =
        target === 'the service'
          ? [['--url', site.service.url], { UGS_API_TOKEN: site.token }]
          : [['--workspace', 'default'], site.onDatabase.env];
      await using program = new Program(folder, [...importArgs, ...more], { env });
      await program.says(/^Plan: /m);
      const renew = () => call('PUT', '/api/user', { user_group_id: 'g9', name: 'Renewed' });
      assert.equal((await served(renew)).status, 200);
      const { code, stdout, stderr } = await program.exit();
      await runSql(site.database, `delete from user_groups where provided_id like 'many-%'`);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /, deleted: 1; kept, because they are newer than the file: 1\.\n$/);
      assert.deepEqual((await ids()).slice(-2), ['g7', 'g9']);
    });

  it('keeps the groups that are created while it reads a pipe', async () => {
    const fifo = folder.join('list');
    execFileSync('mkfifo', [fifo]);
    const importArgs = args(fifo, '--update', '--prune', '--max-delete', '1', '--json');
    await using program = new Program(folder, importArgs, site.onDatabase);
    // Waits until the import has opened its end.
    const pipe = await open(fifo, 'w');
    await call('POST', '/v1/user-groups', { user_group_id: 'newer', name: 'N' });
    await pipe.write(listed([0, 1, 2, 3, 4, 5, 6, 7, 8]));
    await pipe.close();
    const exit = await program.exit();
    const { deleted, newer } = JSON.parse(exit.stdout.trimEnd().split('\n').at(-1)!);
    assert.deepEqual([exit.code, deleted, newer], [0, 1, 1], exit.stderr);
    assert.deepEqual((await ids()).slice(-2), ['g8', 'newer']);
  });

  it('leaves no copy of standard input if it is killed', async () => {
    const [fifo, temporary] = [folder.join('fifo'), folder.join('temporary')];
    execFileSync('mkfifo', [fifo]);
    mkdirSync(temporary);
    const piped = ['-c', 'exec "$0" "$@" < fifo', process.execPath, PROGRAM];
    const env = { ...site.onDatabase.env, TMPDIR: temporary };
    await using program = new Program(folder, [...piped, ...args('-', '--update', '--prune')], {
      env,
      command: 'bash',
    });
    await using writer = await open(fifo, 'w');
    await writer.write(listed([0, 1, 2]));
    const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    await eventually('a copy', () =>
      openFiles(program.id).some(
        ({ path, target }) => target.startsWith(`${temporary}/user`) && sizeOf(path) > 0,
      ),
    );
    await program.kill();
    assert.deepEqual(
      readdirSync(temporary).filter((name) => name.startsWith('user')),
      [],
    );
  });

  it('reads a customer table as CSV, whose cells cannot become other fields', async () => {
    const table = folder.join('customers.csv');
    const importTable = (text: string | Buffer, ...more: string[]) => {
      rmSync(table, { force: true });
      writeFileSync(table, text);
      return runHosted(folder, args(table, '--update', ...more), site.onDatabase);
    };
    const group = async (id: string) => (await call('GET', `/v1/user-groups/${id}`)).json.user_group;
    const exit = await importTable(
      '\ufeffuser_group_id,name,mapping.40,properties.plan,properties.a b,suspended\r\n' +
        'g1,"Acme, ""Inc."" GmbH\u00fc",orders,gold,,TRUE\r\n' +
        'g2,Globex,,,"{""x"":1}",False\r\n',
    );
    assert.deepEqual([exit.code, exit.stderr], [0, '']);
    const { name, mapping, properties, suspended } = await group('g1');
    assert.deepEqual(
      [name, mapping, properties, suspended],
      ['Acme, "Inc." GmbH\u00fc', { 40: 'orders' }, { plan: 'gold' }, true],
    );
    assert.deepEqual((await group('g2')).properties, { 'a b': '{"x":1}' });
    for (const [columns, cells] of [
      ['', ''],
      [',mapping.40,properties.plan', ',,'],
    ]) {
      const { mapping, properties } = await group('g1');
      assert.deepEqual([mapping, properties], [{ 40: 'orders' }, { plan: 'gold' }]);
      const { code, stderr } = await importTable(`user_group_id,name${columns}\ng1,A${cells}\n`);
      assert.deepEqual([code, stderr], [0, '']);
    }
    const cleared = await group('g1');
    assert.deepEqual([cleared.mapping, cleared.properties], [null, null], 'a row without any member');
    const json = await importTable('user_group_id,name,properties\ng3,G3,"{""seats"":9007199254740993}"\n');
    assert.equal(json.code, 0, json.stderr);
    const { text } = await call('GET', '/v1/user-groups/g3');
    assert.match(text, /"seats":9007199254740993/);
    for (const cell of ['{},"suspended":true', '1', '{"a":1,"a":2}', 'x']) {
      const refused = await importTable(
        `user_group_id,name,properties\ng4,G4,"${cell.replaceAll('"', '""')}"\n`,
      );
      assert.equal(refused.code, 65, cell);
      assert.match(refused.stderr, /line 2: /);
    }
    assert.equal((await group('g4')).suspended, false);
    const wrong: Record<string, RegExp> = {
      'user_group_id,name,plan\ng1,A,gold\n': /the column "plan" is not a field/,
      'user_group_id,name,name\ng1,A,B\n': /the column name occurs twice/,
      'user_group_id,name,mapping,mapping.40\ng1,A,,\n': /both mapping and members of it/,
      'user_group_id,name\ng1\n': /not valid CSV/,
      'user_group_id,name\n"g1,A\n': /not valid CSV/,
      'user_group_id,name,token\ng1,A,explo-token-1234"5\n': /not valid CSV: .* at line 2$/m,
      'user_group_id;name\n"g1";"A"\n': /whose separator must be a comma, is not valid CSV/,
      'user_group_id;name\r\ng1;A\r\n':
        /"user_group_id;name" is not a field: separate the columns with commas/,
      'user_group_id\tname\ng1\tA\n': /is not a field: separate the columns with commas/,
    };
    const before = await ids();
    for (const [text, message] of Object.entries(wrong)) {
      const refused = await importTable(text, '--prune', '--max-delete', '100%');
      assert.equal(refused.code, 65, text);
      assert.match(refused.stderr, message);
      assert.doesNotMatch(refused.stderr, /explo-token/);
    }
    assert.deepEqual(await ids(), before);
  });

  it('counts the line breaks in the cells of a customer table as an editor does', async () => {
    const table = folder.join('lines.csv');
    for (const lineBreak of ['\n', '\r\n']) {
      const lines = ['user_group_id,"properties.a', 'b",name', 'l1,"x', '', 'y",L1', ',z,', ''];
      writeFileSync(table, lines.join(lineBreak));
      const { code, stdout } = await runHosted(folder, args(table, '--dry-run', '--json'), site.onDatabase);
      const results = stdout.split('\n').slice(0, 2);
      assert.deepEqual(
        [code, ...results.map((line) => JSON.parse(line)).map(({ line, result }) => [line, result])],
        [65, [5, 'created'], [6, 'refused']],
      );
      writeFileSync(table, [...lines, 'short'].join(lineBreak));
      const invalid = await runHosted(folder, args(table, '--dry-run'), site.onDatabase);
      assert.match(invalid.stderr, /on line 8/);
    }
  });

  it('reads a customer table whose lines end differently from its header', async () => {
    const table = folder.join('line-ends.csv');
    for (const [header, row] of [
      ['\n', '\r\n'],
      ['\r\n', '\n'],
    ]) {
      writeFileSync(table, `user_group_id,name,properties.plan${header}ends,Ends,gold${row}`);
      assert.equal((await runHosted(folder, args(table), site.onDatabase)).code, 0);
      const { properties } = (await call('GET', '/v1/user-groups/ends')).json.user_group;
      assert.deepEqual(properties, { plan: 'gold' });
      await call('DELETE', '/v1/user-groups/ends');
    }
  });

  it('says which lines of a customer table are imported if the rest is not valid', async () => {
    const table = folder.join('broken.csv');
    const rows = Array.from({ length: 600 }, (_, index) => `broken-${index},${'x'.repeat(250)}\n`);
    writeFileSync(table, `user_group_id,name\n${rows.join('')}broken\n`);
    const { code, stderr } = await runHosted(folder, args(table), site.onDatabase);
    assert.equal(code, 65);
    assert.match(stderr, /not valid CSV: .* on line 602; the lines before \d{3} are imported: run the same/);
  });

  it('refuses a customer table that is not UTF-8, instead of replacing characters', async () => {
    const table = folder.join('encoded.csv');
    const text = '\ufeffuser_group_id,name\nencoded,M\u00fcller\n';
    const importAs = (encoding: 'latin1' | 'utf16le') => {
      writeFileSync(table, text.slice(encoding === 'latin1' ? 1 : 0), encoding);
      return runHosted(folder, args(table), site.onDatabase);
    };
    const refused = await importAs('latin1');
    assert.equal(refused.code, 65);
    assert.match(refused.stderr, /the file is not UTF-8/);
    writeFileSync(table, Buffer.from(text).subarray(0, text.indexOf('\u00fc') + 3));
    assert.match((await runHosted(folder, args(table), site.onDatabase)).stderr, /the file is not UTF-8/);
    const exit = await importAs('utf16le');
    assert.deepEqual([exit.code, exit.stderr], [0, '']);
    assert.equal((await call('GET', '/v1/user-groups/encoded')).json.user_group.name, 'M\u00fcller');
    await call('DELETE', '/v1/user-groups/encoded');
  });

  it('keeps suspensions in an export and an import, and suspends and resumes by the list', async () => {
    await call('POST', '/v1/user-groups/g3/suspend');
    const file = folder.join('export.ndjson');
    rmSync(file, { force: true });
    const env = site.onDatabase;
    const exported = await runHosted(
      folder,
      ['export', file, '--workspace', 'default', '--with-tokens'],
      env,
    );
    assert.equal(exported.code, 0, exported.stderr);
    const { json } = await call('GET', '/v1/user-groups/g3');
    for (const id of await ids()) await call('DELETE', `/v1/user-groups/${id}`);
    const imported = await runHosted(folder, args(file), env);
    assert.deepEqual([imported.code, imported.stderr], [0, '']);
    const suspended = async (id: string) =>
      (await call('GET', `/v1/user-groups/${id}`)).json.user_group.suspended;
    assert.deepEqual([await suspended('g3'), await suspended('g4')], [true, false]);
    const resolve = async () => (await call('POST', '/v1/resolve', { token: json.user_group.token })).status;
    assert.equal(await resolve(), 404);
    assert.match((await runHosted(folder, args(file), env)).stdout, /10 unchanged/);
    const changes = lines(
      { user_group_id: 'g3', name: 'G3', suspended: false },
      { user_group_id: 'g4', name: 'G4', suspended: true },
    );
    writeFileSync(folder.join('changes.ndjson'), changes);
    const refused = await runHosted(folder, args(folder.join('changes.ndjson')), env);
    assert.equal(refused.code, 65);
    assert.match(refused.stderr, /suspended differs from the stored value: use --update/);
    assert.equal((await runHosted(folder, args(folder.join('changes.ndjson'), '--update'), env)).code, 0);
    assert.deepEqual([await suspended('g3'), await suspended('g4')], [false, true]);
    assert.equal(await resolve(), 200);
  });
});
