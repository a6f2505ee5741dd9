// Import and export: every line is imported once or reported, even with kills and concurrent imports, and
// exported unchanged.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DatabaseKind, databaseOf, describeOnEachDatabase, postgres } from '../support/database.ts';
import { FaultProxy } from '../support/faults/proxy.ts';
import {
  createApiToken,
  type Exit,
  eventually,
  Folder,
  PROGRAM,
  Program,
  run,
  runHosted,
  type Service,
  serve,
} from '../support/process.ts';
import { runSql, SqlConnection } from '../support/sql.ts';

const LINES = 6_000;
/** Fewer lines, because each batch involves all shards of Citus. */
const LINES_ON_CITUS = 300;
/** Number of lines imported together. */
const BATCH = 256;
const KILLS = 6;
const MAX_LIFETIME_MS = 1_500;
const CONNECTIONS = 4;
/** File on Linux that can be opened but not read. */
const UNREADABLE = '/proc/self/mem';

interface Group {
  user_group_id: string;
  name: string;
  mapping?: object | null;
  properties?: object | null;
  token?: string;
}

function newToken(): string {
  return randomBytes(32).toString('hex');
}

function newGroups(count: number, name = 'group'): Required<Group>[] {
  return Array.from({ length: count }, (_, index) => ({
    user_group_id: `${name} ${index} / ü😀`,
    name: `${name} ${index}`,
    mapping: { 40: index },
    properties: { plan: 'gold', seats: index },
    token: newToken(),
  }));
}

function write(folder: Folder, file: string, lines: readonly (object | string)[]): void {
  writeFileSync(folder.join(file), textOf(lines));
}

function textOf(lines: readonly (object | string)[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
}

function countsOf({ stdout }: Exit) {
  const { lines: _, dry_run: __, ...counts } = JSON.parse(stdout.trimEnd().split('\n').at(-1)!);
  return counts;
}

describeOnEachDatabase('import', (kind: DatabaseKind) => {
  const folder = Folder.of();
  const database = databaseOf(kind);
  let env: Record<string, string>;
  let token: string;
  const count = kind.name === 'Citus' ? LINES_ON_CITUS : LINES;
  before(async () => {
    env = database.env;
    ({ token } = await createApiToken(folder, [], { env }));
  });

  const args = (file: string, ...more: string[]) => ['import', file, '--workspace', 'default', ...more];
  const runImport = (file: string, ...more: string[]) => run(folder, args(file, ...more), { env });
  const importHosted = (file: string, ...more: string[]) => runHosted(folder, args(file, ...more), { env });

  async function assertServed(service: Service, groups: readonly Required<Group>[]): Promise<void> {
    for (const group of groups) {
      const { json } = await service.call(token, 'POST', '/v1/resolve', { token: group.token });
      const { provided_id, name, mapping, properties } = json.user_group;
      assert.deepEqual({ user_group_id: provided_id, name, mapping, properties, token: group.token }, group);
    }
  }

  describe('while the service is running', () => {
    let service: Service;
    before(async () => {
      service = await serve(folder, { env });
    });
    after(() => service.kill());

    it('imports every group with its token, and fails no call', async () => {
      const groups = newGroups(count, 'beside');
      write(folder, 'beside.ndjson', groups);
      const load = new Load(service, token);
      const exit = await runImport('beside.ndjson');
      assert.equal(exit.stdout, `${count} lines: ${count} created, 0 updated, 0 unchanged, 0 refused.\n`);
      assert.deepEqual([exit.code, exit.stderr], [0, '']);
      await assertServed(service, groups.slice(-100));
      assert.ok((await load.end()) > CONNECTIONS);
    });

    it('checks each batch of lines against the policies of that moment', async () => {
      const [permitted, refused] = [newGroups(BATCH, 'permitted'), newGroups(1, 'refused')];
      execFileSync('mkfifo', [folder.join('pipe')]);
      const place = ['--workspace', 'policies'];
      const options = [...place, '--create-workspace', '--permission', 'admin'];
      const { token: admin } = await createApiToken(folder, options, { env });
      const call = (method: string, path: string, body?: object) => service.call(admin, method, path, body);
      await call('PUT', '/v1/schemas/other', { name: 'Other', default_data_source: null });
      await using program = new Program(folder, ['import', 'pipe', ...place, '--json'], { env });
      const pipe = await open(folder.join('pipe'), 'w');
      await pipe.write(textOf(permitted));
      const { user_group_id: last } = permitted.at(-1)!;
      await eventually('the first batch to be imported', async () => {
        const { status } = await call('GET', `/v1/user-groups/${encodeURIComponent(last)}`);
        return status === 200;
      });
      assert.equal((await call('PUT', '/v1/mapping-policy', { mode: 'enforce' })).status, 200);
      await pipe.write(textOf(refused));
      await pipe.close();
      assert.deepEqual(countsOf(await program.exit()), {
        created: BATCH,
        updated: 0,
        unchanged: 0,
        refused: 1,
      });
    });

    it('reports each refused line with its number and a remedy, and imports all others', async () => {
      const [good, other] = newGroups(2, 'good') as [Required<Group>, Required<Group>];
      write(folder, 'bad.ndjson', [
        good,
        '',
        '{"user_group_id":"x","name":"X"',
        { user_group_id: 'x', nam: 'X', api_environment_tag: 'Testing' },
        { user_group_id: ' x', name: '' },
        { user_group_id: 'x', name: 'X', properties: { a: 'x'.repeat(64 * 1024) } },
        '{"user_group_id":"x","name":"X","properties":{"a":1,"a":2}}',
        { user_group_id: 'x', name: 'X', token: 'too short' },
        { user_group_id: 'x', name: 'X', token: good.token },
        { ...good, token: newToken() },
        { ...good, name: 'Other', properties: null },
        '\ufeff{"user_group_id":"x","name":"X"}',
        `{"user_group_id":"x","name":"${'x'.repeat(512 * 1024)}"}`,
        '[]',
        JSON.stringify(other).concat('\r'),
      ]);
      const { code, stdout, stderr } = await importHosted('bad.ndjson');
      assert.equal(code, 65);
      assert.equal(stdout, '14 lines: 2 created, 0 updated, 0 unchanged, 12 refused.\n');
      const expected = [
        /^line 3: the line must have a comma or a closing brace here \(character 32\)$/,
        /^line 4: name is required; nam is not a known field \(did you mean name\?\); api_environment_tag is not a known field: --environment determines the environment$/,
        /^line 5: user_group_id must not have control characters, or white space at either end; name must not be empty/,
        /^line 6: properties must be at most 65536 bytes of JSON and has 65544$/,
        /^line 7: properties\/a is a duplicate key/,
        /^line 8: token must have 16 to 200 visible ASCII characters$/,
        /^line 9: token is a duplicate: the token belongs to another user group\. .*omit it to generate a new token$/,
        /^line 10: token differs from the token of the user group, .*delete the user group first$/,
        /^line 11: name differs from the stored value: use --update to replace it; properties differs/,
        /^line 12: the line must not start with a byte order mark$/,
        /^line 13: the line must be at most 524288 bytes long$/,
        /^line 14: the line must be an object$/,
        /^user-group-service: 12 lines were refused; correct them and run the same import again$/,
      ];
      const messages = stderr.trimEnd().split('\n');
      for (const [index, pattern] of expected.entries()) assert.match(messages[index] ?? '', pattern);
      assert.equal(messages.length, expected.length);
      await assertServed(service, [good, other]);
    });

    it('does not change existing groups, and replaces differing fields with --update', async () => {
      const [group] = newGroups(1, 'there') as [Required<Group>];
      write(folder, 'there.ndjson', [group]);
      await importHosted('there.ndjson');
      write(folder, 'changed.ndjson', [{ ...group, name: 'Changed', properties: null }]);
      assert.equal((await importHosted('changed.ndjson')).code, 65);
      await assertServed(service, [group]);
      const updated = await importHosted('changed.ndjson', '--update', '--json');
      assert.deepEqual(countsOf(updated), { created: 0, updated: 1, unchanged: 0, refused: 0 });
      await assertServed(service, [{ ...group, name: 'Changed', properties: null as unknown as object }]);
      // Fields that the line does not contain keep their values.
      write(folder, 'changed.ndjson', [{ user_group_id: group.user_group_id, name: 'Changed' }]);
      const unchanged = await importHosted('changed.ndjson', '--update', '--json');
      assert.deepEqual(countsOf(unchanged), { created: 0, updated: 0, unchanged: 1, refused: 0 });
    });

    it('imports lines of one group in order, even within a batch', async () => {
      const [group] = newGroups(1, 'order') as [Required<Group>];
      const named = (name: string) => ({ user_group_id: group.user_group_id, name });
      write(folder, 'order.ndjson', [group, named('B'), named(group.name), named('B'), named(group.name)]);
      const { stdout } = await importHosted('order.ndjson', '--update', '--json');
      const results = stdout.trimEnd().split('\n').slice(0, -1);
      assert.deepEqual(
        results.map((line) => JSON.parse(line).result),
        ['created', 'updated', 'updated', 'updated', 'updated'],
      );
      await assertServed(service, [group]);
    });

    it('does not undo a rotation', async () => {
      const [group] = newGroups(1, 'rotated') as [Required<Group>];
      write(folder, 'rotated.ndjson', [group]);
      await importHosted('rotated.ndjson');
      const rotated = await service.call(token, 'POST', '/api/user', { current_token: group.token });
      const again = await importHosted('rotated.ndjson', '--update', '--json');
      assert.deepEqual(countsOf(again), { created: 0, updated: 0, unchanged: 1, refused: 0 });
      const { token: current } = rotated.json.user_group;
      assert.equal((await service.call(token, 'POST', '/v1/resolve', { token: group.token })).status, 404);
      assert.equal((await service.call(token, 'POST', '/v1/resolve', { token: current })).status, 200);
    });

    it('generates a token if a line has none, and creates the group once', async () => {
      write(folder, 'none.ndjson', [{ user_group_id: 'none', name: 'None' }]);
      await importHosted('none.ndjson');
      const read = () => service.call(token, 'GET', '/v1/user-groups/none');
      const first = await read();
      assert.match(first.json.user_group.token, /^ugt_/);
      await importHosted('none.ndjson');
      assert.equal((await read()).text, first.text);
    });

    it('accepts a byte order mark, with which Windows programs start a file', async () => {
      write(folder, 'marked.ndjson', ['\ufeff{"user_group_id":"marked","name":"Marked"}']);
      const { created } = countsOf(await importHosted('marked.ndjson', '--json'));
      assert.equal(created, 1);
    });

    it('reports the results and changes nothing in a dry run', async () => {
      const [existing, absent] = newGroups(2, 'dry') as [Required<Group>, Required<Group>];
      write(folder, 'dry.ndjson', [existing]);
      await importHosted('dry.ndjson');
      write(folder, 'dry.ndjson', [
        existing,
        absent,
        { ...absent, token: existing.token },
        { ...existing, name: 'Other' },
        '{',
      ]);
      const { code, stdout } = await importHosted('dry.ndjson', '--dry-run', '--json');
      assert.equal(code, 65);
      const results = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      assert.deepEqual(
        results.slice(0, -1).map(({ result, code }) => code ?? result),
        ['unchanged', 'created', 'token_taken', 'user_group_differs', 'invalid_json'],
      );
      assert.equal(results.at(-1).dry_run, true);
      const updating = await importHosted('dry.ndjson', '--dry-run', '--update');
      assert.equal(
        updating.stdout,
        'Dry run, nothing was changed. 5 lines: 1 created, 1 updated, 1 unchanged, 2 refused.\n',
      );
      const elsewhere = ['import', 'dry.ndjson', '--workspace', 'nowhere', '--create-workspace', '--dry-run'];
      assert.match(
        (await runHosted(folder, elsewhere, { env })).stdout,
        /5 lines: 1 created, 0 updated, 0 unchanged, 4 refused/,
      );
      const list = await runHosted(folder, ['workspace', 'list'], { env });
      assert.doesNotMatch(list.stdout, /nowhere/);
      await assertServed(service, [existing]);
      assert.equal(
        (await service.call(token, 'GET', '/api/user', { user_group_id: absent.user_group_id })).status,
        404,
      );
    });

    it('imports into the given workspace and environment only', async () => {
      const [group] = newGroups(1, 'scoped') as [Required<Group>];
      write(folder, 'scoped.ndjson', [group]);
      const scope = ['--workspace', 'acme', '--environment', 'Testing'];
      const args = ['import', 'scoped.ndjson', '--create-workspace', ...scope];
      const { stderr } = await runHosted(folder, args, { env });
      assert.equal(stderr, 'Created workspace acme.\n');
      const insider = await createApiToken(folder, scope, { env });
      const statusFor = async (caller: string) =>
        (await service.call(caller, 'POST', '/v1/resolve', { token: group.token })).status;
      assert.deepEqual([await statusFor(insider.token), await statusFor(token)], [200, 404]);
    });
  });

  it('is completed by the next run after kills', async () => {
    const groups = newGroups(count, 'killed');
    write(folder, 'killed.ndjson', groups);
    for (let kill = 0; kill < KILLS; kill++) {
      await using program = new Program(folder, args('killed.ndjson'), { env });
      await sleep(Math.random() * MAX_LIFETIME_MS);
      await program.kill();
    }
    const { code, stdout } = await runImport('killed.ndjson');
    assert.equal(code, 0);
    assert.match(
      stdout,
      new RegExp(`^${count} lines: \\d+ created, 0 updated, \\d+ unchanged, 0 refused\\.\n$`),
    );
    const again = await importHosted('killed.ndjson', '--json');
    assert.deepEqual(countsOf(again), { created: 0, updated: 0, unchanged: count, refused: 0 });
    await using service = await serve(folder, { env });
    await assertServed(service, groups.slice(0, 100));
  });

  it('creates no duplicates when imports run concurrently', async () => {
    const groups = newGroups(count / 3, 'twice');
    write(folder, 'twice.ndjson', groups);
    // The same tokens for other groups.
    write(
      folder,
      'rivals.ndjson',
      groups.map((group) => ({ ...group, user_group_id: `rival of ${group.user_group_id}` })).reverse(),
    );
    const files = ['twice.ndjson', 'twice.ndjson', 'rivals.ndjson'];
    const exits = await Promise.all(files.map((file) => runImport(file, '--json')));
    const [first, second, rivals] = exits.map(countsOf);
    assert.equal(first.created + second.created + rivals.created, groups.length);
    assert.equal(rivals.refused, groups.length - rivals.created);
    assert.equal(first.refused, rivals.created);
    assert.equal(second.refused, rivals.created);
  });

  it('prints a JSON line for each line and one with the counts, and never a token', async () => {
    const [group] = newGroups(1, 'json') as [Required<Group>];
    const mistyped = { ...group, user_group_id: 'mistyped', token: `${newToken()} ` };
    write(folder, 'json.ndjson', [
      group,
      group,
      { ...group, user_group_id: 'json other' },
      mistyped,
      { [group.token]: 1 },
      `{"a":x${group.token}}`,
    ]);
    const { code, stdout, stderr } = await importHosted('json.ndjson', '--json');
    assert.equal(code, 65);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(lines.slice(0, 2), [
      { line: 1, result: 'created' },
      { line: 2, result: 'unchanged' },
    ]);
    assert.deepEqual(
      lines.slice(2, -1).map(({ line, result, code, errors }) => [line, result, code, errors[0].pointer]),
      [
        [3, 'refused', 'token_taken', '/token'],
        [4, 'refused', 'invalid_request', '/token'],
        [5, 'refused', 'unknown_field', '/user_group_id'],
        [6, 'refused', 'invalid_json', '/a'],
      ],
    );
    assert.deepEqual(lines.at(-1), {
      lines: 6,
      created: 1,
      updated: 0,
      unchanged: 1,
      refused: 4,
      dry_run: false,
    });
    for (const secret of [group.token, mistyped.token.trim()])
      assert.equal((stdout + stderr).includes(secret), false);
  });

  it('runs to completion if the reader of its output closes the pipe', async () => {
    write(folder, 'unread.jsonl', newGroups(count, 'unread'));
    const command = '"$0" "$1" import unread.jsonl --workspace unread --create-workspace --json | head -n 1';
    const reading = new Program(folder, ['-c', command, process.execPath, PROGRAM], {
      env,
      command: '/bin/sh',
    });
    const { stdout, stderr } = await reading.exit(60_000);
    assert.deepEqual(JSON.parse(stdout), { line: 1, result: 'created' });
    assert.equal(stderr, 'Created workspace unread.\n');
    const exported = await runHosted(folder, ['export', '--workspace', 'unread'], { env });
    assert.equal(exported.stdout.split('\n').length - 1, count);
  });

  it('runs to completion if the reader of its error messages closes the pipe', async () => {
    const nameless = Array.from({ length: count }, (_, index) => ({ user_group_id: `nameless ${index}` }));
    write(folder, 'refused.ndjson', [...nameless, ...newGroups(1, 'last')]);
    const command =
      '"$0" "$1" import refused.ndjson --workspace refused --create-workspace 2>&1 >counts | head -n 2';
    const reading = new Program(folder, ['-c', command, process.execPath, PROGRAM], {
      env,
      command: '/bin/sh',
    });
    const { stdout } = await reading.exit(60_000);
    assert.equal(stdout, 'Created workspace refused.\nline 1: name is required\n');
    const counts = `${count + 1} lines: 1 created, 0 updated, 0 unchanged, ${count} refused.\n`;
    assert.equal(readFileSync(folder.join('counts'), 'utf8'), counts);
  });
});

describeOnEachDatabase('export', (kind: DatabaseKind) => {
  const folder = Folder.of();
  const database = databaseOf(kind);
  let env: Record<string, string>;
  const groups = newGroups(kind.name === 'Citus' ? 100 : 1_000, 'exported');
  before(async () => {
    env = database.env;
    write(folder, 'groups.ndjson', groups);
    const args = ['import', 'groups.ndjson', '--workspace', 'default'];
    assert.equal((await runHosted(folder, args, { env })).code, 0);
  });

  const runExport = (...args: string[]) =>
    runHosted(folder, ['export', '--workspace', 'default', ...args], { env });

  it('writes the groups without their tokens, ordered by id, to standard output', async () => {
    const { code, stdout, stderr } = await run(folder, ['export', '--workspace', 'default'], { env });
    assert.deepEqual([code, stderr], [0, '']);
    const sorted = groups.toSorted((a, b) =>
      Buffer.compare(Buffer.from(a.user_group_id), Buffer.from(b.user_group_id)),
    );
    const lines = sorted.map(({ token: _, ...group }) => JSON.stringify(group));
    assert.equal(stdout, `${lines.join('\n')}\n`);
  });

  it('escapes characters that a terminal would obey, without changing a value', async () => {
    const group = {
      user_group_id: 'hostile\u202e',
      name: 'N',
      mapping: null,
      properties: { a: '\u009b31m\u007f' },
    };
    writeFileSync(folder.join('hostile.ndjson'), JSON.stringify(group));
    const place = ['--workspace', 'default', '--environment', 'Testing'];
    const imported = await runHosted(folder, ['import', 'hostile.ndjson', ...place], { env });
    assert.equal(imported.code, 0, imported.stderr);
    const { stdout } = await runHosted(folder, ['export', ...place], { env });
    assert.match(stdout, /^[\x20-\x7e]+\n$/);
    assert.deepEqual(JSON.parse(stdout), group);
    writeFileSync(folder.join('escaped.ndjson'), stdout);
    const again = await runHosted(folder, ['import', 'escaped.ndjson', ...place, '--json'], { env });
    assert.match(again.stdout, /^\{"line":1,"result":"unchanged"\}$/m);
  });

  it('writes a new file that only its owner can read, with tokens if requested', async () => {
    const { code, stdout, stderr } = await runExport('plain.ndjson');
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(stdout, `Exported ${groups.length} user groups to plain.ndjson, without their tokens.\n`);
    const secret = await runExport('secret.ndjson', '--with-tokens', '--json');
    assert.deepEqual(JSON.parse(secret.stdout), {
      file: 'secret.ndjson',
      user_groups: groups.length,
      with_tokens: true,
    });
    for (const file of ['plain.ndjson', 'secret.ndjson'])
      assert.equal(statSync(folder.join(file)).mode & 0o777, 0o600);
    const texts = ['plain.ndjson', 'secret.ndjson'].map((file) => readFileSync(folder.join(file), 'utf8'));
    assert.deepEqual(
      texts.map((text) => groups.every(({ token }) => text.includes(token))),
      [false, true],
    );
    assert.equal(
      groups.some(({ token }) => texts[0]!.includes(token)),
      false,
    );
  });

  it('writes to standard output if the file is -, and to a file called - if it is ./-', async () => {
    const { code, stdout, stderr } = await runExport('-');
    assert.deepEqual([code, stderr, existsSync(folder.join('-'))], [0, '', false]);
    assert.equal(stdout, (await runExport()).stdout);
    assert.equal((await runExport('-', '--json')).code, 2);
    assert.equal((await runExport('./-')).code, 0);
    assert.equal(readFileSync(folder.join('-'), 'utf8'), stdout);
  });

  it('leaves no partial file if it is interrupted by a signal', async () => {
    const unfinished = () => globSync('ended-*.new', { cwd: folder.path });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      // An export that completes before the signal proves nothing.
      await eventually(`an export to be interrupted by ${signal}`, async () => {
        const file = `ended-${randomBytes(4).toString('hex')}`;
        const args = ['export', '--workspace', 'default', '--with-tokens', file];
        await using program = new Program(folder, args, { env });
        await eventually('the file', () => unfinished().length > 0 || existsSync(folder.join(file)));
        program.signal(signal);
        return (await program.exit()).signal === signal;
      });
      assert.deepEqual(unfinished(), []);
    }
  });

  it('is refused with 2 if the file exists, cannot be created or is named as a CSV file, and with 3 for an unknown workspace', async () => {
    writeFileSync(folder.join('mine'), 'mine');
    const existing = await runExport('mine');
    assert.deepEqual([existing.code, readFileSync(folder.join('mine'), 'utf8')], [2, 'mine']);
    const nowhere = await runExport('nowhere/file');
    assert.equal(nowhere.code, 2);
    assert.match(nowhere.stderr, /^user-group-service: cannot write nowhere\/file: [^\n]+\n$/);
    const csv = await runExport('customers.CSV');
    assert.equal(csv.code, 2);
    assert.match(csv.stderr, /JSON lines, and an import would read customers\.CSV as CSV: use another name/);
    assert.equal(existsSync(folder.join('customers.CSV')), false);
    const stranger = await runHosted(folder, ['export', '--workspace', 'nobody', 'none'], { env });
    assert.equal(stranger.code, 3);
    assert.equal(existsSync(folder.join('none')), false);
    assert.deepEqual(globSync('*.new', { cwd: folder.path }), []);
  });
});

describe('import and export', () => {
  it('report their position when the database becomes unreachable, and are completed by the next run', async () => {
    using folder = new Folder();
    await using database = await postgres.create();
    write(folder, 'lost.ndjson', newGroups(LINES));
    const args = ['import', 'lost.ndjson', '--workspace', 'w', '--json'];
    await using proxy = await FaultProxy.start(database.url);
    await using program = new Program(folder, args, { env: { ...database.env, DATABASE_URL: proxy.url } });
    await program.says(/"result":"created"/);
    await proxy.refuse();
    const { code, stdout, stderr } = await program.exit();
    assert.equal(code, 69);
    assert.match(stderr, /^user-group-service: PostgreSQL: .*: run the same import again to continue\n$/m);
    const reported = stdout.trimEnd().split('\n').length;
    assert.equal(Number(/the lines before (\d+) are imported/.exec(stderr)?.[1]), reported + 1);
    const { created, unchanged } = countsOf(await runHosted(folder, args, { env: database.env }));
    assert.equal(created + unchanged, LINES);
    assert.ok(unchanged >= reported);
  });

  it('import each line once if the response to a commit is lost', async () => {
    using folder = new Folder();
    await using database = await postgres.create();
    const groups = newGroups(1_000);
    write(folder, 'groups.ndjson', groups);
    await using proxy = await FaultProxy.start(database.url);
    await runHosted(folder, ['migrate'], { env: database.env });
    let commits = 0;
    proxy.decide = (subject) => (subject === 'commit' && ++commits === 2 ? { responseBytes: 0 } : 'pass');
    const env = { ...database.env, DATABASE_URL: proxy.url };
    const exit = await run(folder, ['import', 'groups.ndjson', '--workspace', 'w', '--json'], { env });
    assert.deepEqual(countsOf(exit), { created: groups.length, updated: 0, unchanged: 0, refused: 0 });
    assert.ok(commits > 2);
    const [{ count }] = (await runSql(database, 'select count(*) from imported_tokens')) as [
      { count: string },
    ];
    assert.equal(Number(count), groups.length);
  });

  it('succeed if gathering statistics fails', async () => {
    using folder = new Folder();
    await using database = await postgres.create();
    await runHosted(folder, ['migrate'], { env: database.env });
    // Holds the lock of a VACUUM, which may take hours.
    const vacuum = await SqlConnection.open(database.url);
    await vacuum.query('begin; lock table user_groups in share update exclusive mode');
    const url = new URL(database.url);
    url.searchParams.set('options', '-c lock_timeout=200');
    const env = { ...database.env, DATABASE_URL: url.href, UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '0' };
    write(folder, 'groups.ndjson', newGroups(3));
    const imported = await run(folder, ['import', 'groups.ndjson', '--workspace', 'w'], { env });
    await vacuum.end();
    assert.deepEqual([imported.code, imported.stderr], [0, 'Created workspace w.\n']);
    assert.equal(imported.stdout, '3 lines: 3 created, 0 updated, 0 unchanged, 0 refused.\n');
  });

  it('exit with 3 if the file or the database does not exist, and do not create it', async () => {
    using folder = new Folder();
    const scope = ['--workspace', 'w'];
    for (const command of [
      ['import', 'nothing.ndjson'],
      ['export'],
      ['import', '--dry-run', 'empty.ndjson'],
    ]) {
      writeFileSync(folder.join('empty.ndjson'), '');
      assert.equal((await runHosted(folder, [...command, ...scope])).code, 3);
    }
    assert.equal((await runHosted(folder, ['import', '.', ...scope])).code, 2);
    assert.equal(existsSync(folder.join('data')), false);
  });

  it('exit with 2 and one line if the file cannot be read', { skip: !existsSync(UNREADABLE) }, async () => {
    using folder = new Folder();
    const { code, stdout, stderr } = await run(folder, ['import', UNREADABLE, '--workspace', 'default']);
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.match(stderr, /^user-group-service: cannot read \/proc\/self\/mem: [^\n]+\n$/m);
    assert.doesNotMatch(stderr, /^ +at /m);
  });

  it('run in constant memory', async () => {
    using folder = new Folder();
    const text = 'x'.repeat(60_000);
    const lines = newGroups(1_200).map((group) => ({ ...group, properties: { text } }));
    write(folder, 'large.ndjson', lines);
    // Passes 72 MB through a heap of 60 MB, of which the program itself needs a third.
    const env = { NODE_OPTIONS: '--max-old-space-size=60' };
    for (const command of [
      ['import', 'large.ndjson'],
      ['export', 'out.ndjson', '--with-tokens'],
    ]) {
      await using program = new Program(folder, [...command, '--workspace', 'w'], { env });
      const { code, stderr } = await program.exit(60_000);
      assert.equal(code, 0, stderr);
    }
    assert.equal(statSync(folder.join('out.ndjson')).size, statSync(folder.join('large.ndjson')).size);
  });

  it('keep imported tokens working after a copy to PostgreSQL, a key rotation and a backup', async () => {
    using folder = new Folder();
    const groups = newGroups(600);
    write(folder, 'groups.ndjson', groups);
    const { token } = await createApiToken(folder);
    assert.equal((await runHosted(folder, ['import', 'groups.ndjson', '--workspace', 'default'])).code, 0);
    const assertResolve = async (service: Service) => {
      for (const group of groups.slice(0, 50)) {
        const { json } = await service.call(token, 'POST', '/v1/resolve', { token: group.token });
        assert.equal(json.user_group.provided_id, group.user_group_id);
      }
    };

    const database = await postgres.create();
    const copy = ['copy', '--from', 'sqlite:data/user-groups.db'];
    assert.equal((await runHosted(folder, copy, { env: { TARGET_DATABASE_URL: database.url } })).code, 0);
    const ring = readFileSync(folder.join('data/token-keys'), 'utf8');
    const key = (await run(folder, ['key', 'generate'])).stdout;
    const env = { DATABASE_URL: database.url, UGS_TOKEN_KEYS: key + ring };
    {
      await using service = await serve(folder, { env });
      await assertResolve(service);
      const [group] = groups.splice(0, 1);
      const rotated = await service.call(token, 'POST', '/api/user', { current_token: group!.token });
      assert.equal(rotated.status, 200);
      assert.equal((await service.call(token, 'POST', '/v1/resolve', { token: group!.token })).status, 404);
    }
    assert.equal((await runHosted(folder, ['key', 'reencrypt'], { env })).code, 0);
    {
      await using service = await serve(folder, { env: { ...env, UGS_TOKEN_KEYS: key } });
      await assertResolve(service);
    }
    await database.drop();

    assert.equal((await runHosted(folder, ['backup', 'groups.backup'])).code, 0);
    await using service = await serve(folder, {
      env: { DATABASE_URL: 'sqlite:groups.backup', UGS_TOKEN_KEYS: ring },
    });
    await assertResolve(service);
  });
});

/** Creates groups on several connections; every call must succeed. */
class Load {
  #calls = 0;
  #ended = false;
  readonly #connections: Promise<void>[];

  constructor(service: Service, token: string) {
    this.#connections = Array.from({ length: CONNECTIONS }, async (_, connection) => {
      while (!this.#ended) {
        const id = `load-${connection}-${this.#calls++}`;
        const response = await service.call(token, 'GET', '/api/user', { user_group_id: id, name: id });
        assert.equal(response.json.new_user_group, true, response.text);
      }
    });
    // `end` reports failures.
    for (const connection of this.#connections) connection.catch(() => {});
  }

  /** Stops the load, and returns the number of calls. */
  async end(): Promise<number> {
    this.#ended = true;
    await Promise.all(this.#connections);
    return this.#calls;
  }
}
