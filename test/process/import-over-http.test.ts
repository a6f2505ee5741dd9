// `import --url` imports the list of customers through the API of a running service.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, it } from 'node:test';
import { mintApiToken } from '../../src/domain/token.ts';
import { LoopbackServer } from '../support/connection/loopback-server.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { send } from '../support/http.ts';
import { writeNewerFile } from '../support/migration/newer-file.ts';
import { type Exit, Folder, PROGRAM, run, runHosted, ServedDatabase, served } from '../support/process.ts';
import { runSql } from '../support/sql.ts';

describeOnEachDatabase('import --url', (kind) => {
  const site = ServedDatabase.of(kind);
  const { folder } = site;

  const call = site.call.bind(site);
  const ids = async (): Promise<string[]> => {
    const { json } = await call('GET', '/v1/user-groups?limit=1000');
    return json.user_groups.map(({ provided_id }: { provided_id: string }) => provided_id);
  };
  const read = async (id: string) => (await call('GET', `/v1/user-groups/${id}`)).json.user_group;
  const importLines = async (lines: readonly (object | string)[], ...more: string[]): Promise<Exit> => {
    const file = folder.join('customers.ndjson');
    await writeNewerFile(
      file,
      lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
    );
    const args = ['import', file, '--url', site.service.url, ...more];
    return await runHosted(folder, args, { env: { UGS_API_TOKEN: site.token } });
  };
  const groups = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ user_group_id: `g${index}`, name: `G${index}` }));

  beforeEach(async () => {
    await runSql(site.database, 'delete from user_groups');
  });

  it('creates what does not exist, with exact numbers, and changes nothing the second time', async () => {
    const lines = [
      ...groups(40),
      '{"user_group_id":"a/b ö","name":"Exact","mapping":{"40":"213"},"properties":{"n":9007199254740993,"m":1.50}}',
      { user_group_id: 'paused', name: 'Paused', suspended: true },
    ];
    const first = await importLines(lines, '--json');
    assert.deepEqual([first.code, first.stderr], [0, '']);
    assert.deepEqual(JSON.parse(first.stdout.trimEnd().split('\n').at(-1)!), {
      lines: 42,
      created: 42,
      updated: 0,
      unchanged: 0,
      refused: 0,
      dry_run: false,
    });
    const { text } = await call('GET', `/v1/user-groups/${encodeURIComponent('a/b ö')}`);
    assert.match(text, /"properties":\{"n":9007199254740993,"m":1\.50\}/);
    assert.equal((await read('paused')).suspended, true);
    const second = await importLines(lines);
    assert.deepEqual(
      [second.code, second.stdout],
      [0, '42 lines: 0 created, 0 updated, 42 unchanged, 0 refused.\n'],
    );
  });

  it('replaces the fields that a line has only with --update, and keeps tokens and other fields', async () => {
    await importLines([
      { user_group_id: 'a', name: 'A', mapping: { 40: 1 }, properties: { plan: 'gold', x: 1 } },
    ]);
    const before = await read('a');
    const line = { user_group_id: 'a', name: 'B', properties: { plan: 'silver' }, suspended: true };
    const refused = await importLines([line]);
    assert.equal(refused.code, 65);
    assert.match(refused.stderr, /line 1: name differs from the stored value: use --update/);
    assert.deepEqual(await read('a'), before);
    const { stdout } = await importLines([line], '--update');
    assert.equal(stdout, '1 line: 0 created, 1 updated, 0 unchanged, 0 refused.\n');
    const { name, mapping, properties, token: kept, suspended } = await read('a');
    assert.deepEqual(
      [name, mapping, properties, kept, suspended],
      ['B', { 40: 1 }, { plan: 'silver' }, before.token, true],
    );
    await importLines([{ ...line, suspended: false, properties: null }], '--update');
    const after = await read('a');
    assert.deepEqual([after.suspended, after.properties], [false, null]);
  });

  it('imports lines of one group in their order', async () => {
    const lines = Array.from({ length: 30 }, (_, index) => ({ user_group_id: 'same', name: `N${index}` }));
    const { stdout } = await importLines(lines, '--update');
    assert.equal(stdout, '30 lines: 1 created, 29 updated, 0 unchanged, 0 refused.\n');
    assert.equal((await read('same')).name, 'N29');
  });

  it('reports each refused line with what is wrong, and imports the others', async () => {
    await importLines([{ user_group_id: 'a', name: 'A' }]);
    const { token: own } = await read('a');
    const { code, stdout, stderr } = await importLines([
      { user_group_id: 'a', name: 'A', token: own },
      { user_group_id: 'b', name: 'B', token: 'imported-token-of-16-characters' },
      { user_group_id: 'c', name: '' },
      '{"user_group_id":"d"',
      { user_group_id: '..', name: 'F' },
      { user_group_id: 'e', name: 'E' },
    ]);
    assert.equal(code, 65);
    assert.equal(stdout, '6 lines: 1 created, 0 updated, 1 unchanged, 4 refused.\n');
    assert.match(stderr, /line 2: token is not the token of this user group/);
    assert.match(stderr, /line 3: name must not be empty/);
    assert.match(stderr, /line 4: /);
    assert.match(stderr, /line 5: user_group_id cannot be "\.\." in a URL/);
    assert.ok(!stderr.includes('imported-token'));
    assert.deepEqual(await ids(), ['a', 'e']);
  });

  it('deletes what the list does not have after a plan, unless that is too much', async () => {
    await importLines(groups(10));
    const tooMany = await importLines(groups(5), '--update', '--prune');
    assert.equal(tooMany.code, 65);
    assert.match(tooMany.stderr, /5 of 10 user groups are not in the file, and --max-delete allows 5%/);
    const plan = await importLines(groups(9), '--update', '--prune', '--max-delete', '10%', '--dry-run');
    assert.equal(
      plan.stdout,
      'Plan: 9 lines: 0 created, 0 updated, 9 unchanged, 0 refused. User groups not in the file, to be deleted: 1.\n',
    );
    assert.equal((await ids()).length, 10);
    const pruned = await importLines(groups(9), '--update', '--prune', '--max-delete', '1');
    assert.match(pruned.stdout, /not in the file, deleted: 1\.\n$/);
    assert.deepEqual(
      await ids(),
      groups(9).map(({ user_group_id }) => user_group_id),
    );
  });

  it('keeps the groups that are newer than the list', async () => {
    await importLines(groups(2));
    const file = folder.join('older.ndjson');
    await writeNewerFile(file, `${JSON.stringify(groups(1)[0])}\n`);
    await call('POST', '/v1/user-groups', { user_group_id: 'newer', name: 'N' });
    const args = ['import', file, '--url', site.service.url, '--update', '--prune', '--max-delete', '1'];
    const { stdout } = await runHosted(folder, args, { env: { UGS_API_TOKEN: site.token } });
    assert.match(stdout, /, deleted: 1; kept, because they are newer than the file: 1\.\n$/);
    assert.deepEqual(await ids(), ['g0', 'newer']);
  });

  it('changes nothing if a line of the list violates an enforced rule', async () => {
    await importLines(groups(4));
    const { token: admin } = await site.apiToken(['--permission', 'admin']);
    const configure = async (path: string, body: object) => {
      const { status } = await served(() => site.call('PUT', path, body, admin));
      assert.ok(status < 300, `${path}: ${status}`);
    };
    await configure('/v1/schemas/40', { name: 'Orders' });
    const dataSource = { schema_id: '40', name: 'Orders of G3', attributes: {} };
    await configure('/v1/data-sources/orders-3', { ...dataSource, user_group_id: 'g3' });
    await configure('/v1/data-sources/shared', dataSource);
    await configure('/v1/mapping-policy', { mode: 'enforce' });
    const schema = { properties: { limit: { maximum: 9007199254740992 } } };
    await configure('/v1/property-schema', { schema, mode: 'enforce' });
    const list = (line: object | string) => [...groups(2), line];
    const prune = ['--update', '--prune', '--max-delete', '100%'];
    const refused = {
      'mapping/40 refers to a data source that is reserved': { mapping: { 40: 'orders-3' } },
      'mapping/40 refers to a data source that does not exist': { mapping: { 40: 'orders-4' } },
      'mapping/41 is not a schema': { mapping: { 41: 'shared' } },
    };
    try {
      for (const [message, fields] of Object.entries(refused)) {
        const exit = await importLines(list({ user_group_id: 'renamed', name: 'G3', ...fields }), ...prune);
        assert.equal(exit.code, 65);
        assert.match(exit.stdout, /^Plan: 3 lines: 0 created, 0 updated, 2 unchanged, 1 refused\./);
        assert.ok(exit.stderr.startsWith(`line 3: ${message}`), exit.stderr);
        assert.deepEqual(await ids(), ['g0', 'g1', 'g2', 'g3']);
      }
      const large = '{"user_group_id":"g3","name":"G3","properties":{"limit":9007199254740993}}';
      assert.match((await importLines(list(large), ...prune)).stderr, /^line 3: properties\/limit /);
      assert.deepEqual(await ids(), ['g0', 'g1', 'g2', 'g3']);
      const fields = { mapping: { 40: 'orders-3' }, properties: { limit: 9007199254740992 } };
      const valid = { user_group_id: 'g3', name: 'G3', ...fields };
      const exit = await importLines(list(valid), ...prune);
      assert.deepEqual([exit.code, exit.stderr], [0, '']);
      assert.deepEqual(await ids(), ['g0', 'g1', 'g3']);
    } finally {
      await configure('/v1/mapping-policy', { mode: 'off' });
      await site.call('DELETE', '/v1/property-schema', undefined, admin);
    }
  });

  it('deletes no group of a list that replaces the planned one before it is read again', async () => {
    const file = folder.join('replaced.ndjson');
    const linesOf = (count: number) =>
      groups(count)
        .map((line) => `${JSON.stringify(line)}\n`)
        .join('');
    assert.equal((await importLines(groups(10))).code, 0);
    await writeNewerFile(file, linesOf(5));
    await using proxy = createHttpServer(async ({ method = '', url: path = '', headers }, response) => {
      const { status, text } = await send(site.service.url, { method, path, headers });
      // The plan lists the stored groups after it has read the file.
      if (path.startsWith('/v1/user-groups?')) writeFileSync(file, linesOf(8));
      response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const args = ['import', file, '--url', url, '--update', '--prune', '--max-delete', '5'];
    const { code, stdout } = await runHosted(folder, args, { env: { UGS_API_TOKEN: site.token } });
    assert.equal(code, 0);
    assert.match(stdout, /^Plan: 5 lines: .* to be deleted: 5\.\n8 lines: .* 8 unchanged.* deleted: 2\.\n$/);
    assert.deepEqual(
      await ids(),
      groups(8).map(({ user_group_id }) => user_group_id),
    );
  });

  it('excludes options of a database, and says which rights it lacks', async () => {
    const excluded = await importLines(groups(1), '--workspace', 'default');
    assert.deepEqual([excluded.code, excluded.stderr.includes('--url excludes --workspace')], [2, true]);
    const { token: weak } = await site.apiToken(['--permission', 'resolve']);
    const file = folder.join('customers.ndjson');
    const args = ['import', file, '--url', site.service.url];
    const { code, stderr } = await runHosted(folder, args, { env: { UGS_API_TOKEN: weak } });
    assert.equal(code, 69);
    assert.match(stderr, /may not read user groups/);
  });

  it('reports no line as imported if the API token is unknown', async () => {
    const file = folder.join('unknown.ndjson');
    writeFileSync(
      file,
      groups(40)
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    );
    const env = { UGS_API_TOKEN: mintApiToken().reveal() };
    for (const options of [[], ['--update', '--prune'], ['--dry-run']]) {
      const { code, stderr } = await runHosted(
        folder,
        ['import', file, '--url', site.service.url, ...options],
        {
          env,
        },
      );
      assert.equal(code, 69, stderr);
      assert.match(stderr, /^user-group-service: http:[^\n]+ in UGS_API_TOKEN is unknown[^\n]+\n$/);
      assert.doesNotMatch(stderr, /imported/);
    }
  });

  it('repeats calls whose responses a proxy has lost', async () => {
    const seen = new Set<string>();
    await using proxy = await LoopbackServer.listen(
      createHttpServer(async (request, response) => {
        const { method = '', url: path = '', headers } = request;
        const body = await text(request);
        const answer = await send(site.service.url, { method, path, headers, ...(body !== '' && { body }) });
        const isFirst = !seen.has(method);
        seen.add(method);
        if (isFirst)
          response.writeHead(502, { 'content-type': 'text/html', 'retry-after': '0' }).end('<html>');
        else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text);
      }),
    );
    const file = folder.join('lost.ndjson');
    writeFileSync(file, `${JSON.stringify(groups(1)[0])}\n`);
    const args = ['import', file, '--url', proxy.url];
    const { code, stdout, stderr } = await runHosted(folder, args, { env: { UGS_API_TOKEN: site.token } });
    assert.equal(code, 0, stderr);
    assert.equal(stdout, '1 line: 0 created, 0 updated, 1 unchanged, 0 refused.\n');
    assert.deepEqual([...seen], ['GET', 'POST']);
    assert.deepEqual(await ids(), ['g0']);
  });

  for (const [change, method] of [
    ['update', 'PUT'],
    ['suspension', 'POST'],
  ]) {
    it(`with --update does not change a group with another token that gets the id before the ${change}`, async () => {
      const { json } = await call('POST', '/v1/user-groups', groups(1)[0]);
      await using proxy = await LoopbackServer.listen(
        createHttpServer(async (request, response) => {
          const { url: path = '', headers } = request;
          const body = await text(request);
          if (request.method === method) {
            await call('DELETE', '/v1/user-groups/g0');
            await call('POST', '/v1/user-groups', { user_group_id: 'g0', name: 'Theirs' });
          }
          const sent = { method: request.method!, path, headers, ...(body !== '' && { body }) };
          const answer = await send(site.service.url, sent);
          response.writeHead(answer.status, answer.headers).end(answer.text);
        }),
      );
      const file = folder.join(`replaced-before-${change}.ndjson`);
      const line = { user_group_id: 'g0', name: 'New', suspended: true, token: json.user_group.token };
      writeFileSync(file, JSON.stringify(line));
      const args = ['import', file, '--url', proxy.url, '--update'];
      const { code, stderr } = await runHosted(folder, args, { env: { UGS_API_TOKEN: site.token } });
      assert.equal(code, 65, stderr);
      assert.match(stderr, /is not the token of this user group/);
      const { name, suspended } = await read('g0');
      assert.deepEqual([name, suspended], ['Theirs', false]);
    });
  }
});

describe('import --url without a service', () => {
  const folder = Folder.of();

  it('closes the file if the service cannot be reached before it is read', async () => {
    const file = folder.join('unread.ndjson');
    writeFileSync(file, `${JSON.stringify({ user_group_id: 'g0', name: 'G0' })}\n`);
    const env = { UGS_API_TOKEN: mintApiToken().reveal() };
    // Node ends the process with 1 when it garbage-collects a file that is still open.
    const collecting = ['--expose-gc', '--import', 'data:text/javascript,setInterval(gc,1).unref()'];
    const command = [...collecting, PROGRAM, 'import', file, '--url', 'http://127.0.0.1:1'];
    for (const options of [[], ['--update', '--prune'], ['--dry-run']]) {
      const { code, stderr } = await run(folder, [...command, ...options], {
        command: process.execPath,
        env,
      });
      assert.match(stderr, /^user-group-service: cannot reach [^\n]+\n$/);
      assert.equal(code, 69);
    }
  });

  it('is refused if a response ends early, or the connection ends without one', async () => {
    const file = folder.join('ended.ndjson');
    writeFileSync(file, `${JSON.stringify({ user_group_id: 'g0', name: 'G0' })}\n`);
    const env = { UGS_API_TOKEN: mintApiToken().reveal() };
    for (const response of ['HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{', 'HTTP/1.1 200', '']) {
      await using receiver = createServer((socket) => socket.once('data', () => socket.end(response)));
      receiver.listen(0, '127.0.0.1');
      await once(receiver, 'listening');
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
      const { code, stderr } = await runHosted(folder, ['import', file, '--url', url], { env });
      assert.equal(code, 69, stderr);
      assert.match(stderr, /^user-group-service: cannot reach http:[^\n]+; check the URL[^\n]+\n$/);
    }
  });
});
