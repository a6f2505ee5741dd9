// The keys that encrypt tokens at rest: generated, missing, damaged, and replaced while the service is
// running.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { postgres } from '../support/database.ts';
import {
  createApiToken,
  eventually,
  Folder,
  Program,
  run,
  runHosted,
  type Service,
  serve,
  served,
} from '../support/process.ts';
import { type Callable, serveHere } from '../support/service.ts';

const CONNECTIONS = 6;
const MANY_GROUPS = 6_000;

async function generateKey(folder: Folder): Promise<{ id: string; line: string }> {
  return JSON.parse((await runHosted(folder, ['key', 'generate', '--json'])).stdout);
}

function withRing(...keys: { line: string }[]): { env: { UGS_TOKEN_KEYS: string } } {
  return { env: { UGS_TOKEN_KEYS: keys.map(({ line }) => line).join('\n') } };
}

/**
 * Creates a database whose tokens are encrypted with the old key, half of them imported. Returns both keys,
 * and the tokens by group id.
 */
async function folderWithGroups(folder: Folder, count: number) {
  const [oldKey, newKey] = await Promise.all([generateKey(folder), generateKey(folder)]);
  const { token } = await createApiToken(folder);
  const groups = new Map<string, string>();
  await using service = await serveHere(folder, withRing(oldKey).env);
  const create = async (id: string) => groups.set(id, await groupToken(service, token, id));
  const ids = Array.from({ length: count }, (_, index) => `group-${index}`);
  const imported = ids.filter((_, index) => index % 2 === 1);
  await inSteps(
    ids.filter((id) => !imported.includes(id)),
    create,
  );
  for (const id of imported) groups.set(id, randomBytes(32).toString('hex'));
  const lines = imported.map((id) => JSON.stringify({ user_group_id: id, name: 'G', token: groups.get(id) }));
  writeFileSync(folder.join('groups.ndjson'), lines.join('\n'));
  const args = ['import', 'groups.ndjson', '--workspace', 'default'];
  assert.equal((await runHosted(folder, args, withRing(oldKey))).code, 0);
  return { token, groups, oldKey, newKey };
}

/** Makes calls in batches: a busy machine refuses some of thousands of concurrent calls with 503. */
async function inSteps<Item>(items: readonly Item[], call: (item: Item) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < items.length; start += 100)
    await Promise.all(items.slice(start, start + 100).map(call));
}

async function groupToken(service: Callable, token: string, id: string): Promise<string> {
  const body = { user_group_id: id, name: 'G' };
  const { status, json } = await served(() => service.call(token, 'GET', '/api/user', body));
  assert.equal(status, 200);
  return json.user_group.token;
}

async function rotate(service: Callable, token: string, current: string): Promise<string> {
  const body = { current_token: current };
  const { status, json } = await served(() => service.call(token, 'POST', '/api/user', body));
  assert.equal(status, 200);
  return json.user_group.token;
}

async function assertStartRefused(
  folder: Folder,
  options: Parameters<typeof run>[2],
  reason: RegExp,
): Promise<void> {
  const { code, stdout, stderr } = await run(folder, ['serve'], options);
  assert.deepEqual({ code, stdout }, { code: 78, stdout: '' });
  assert.match(stderr, /^user-group-service: [^\n]+\n$/);
  assert.match(stderr, reason);
}

describe('key generate', () => {
  it('prints a valid line for the key ring, different each time', async () => {
    using folder = new Folder();
    const human = await runHosted(folder, ['key', 'generate']);
    assert.deepEqual({ code: human.code, stderr: human.stderr }, { code: 0, stderr: '' });
    assert.match(human.stdout, /^[0-9a-f]{8}:[A-Za-z0-9_-]{43}\n$/);
    const key = await generateKey(folder);
    assert.equal(key.line.split(':')[0], key.id);
    assert.notEqual(key.line, human.stdout.trim());
    await using _service = await serveHere(folder, withRing(key, { line: human.stdout }).env);
  });

  it('creates no file', async () => {
    using folder = new Folder();
    await runHosted(folder, ['key', 'generate']);
    assert.equal(existsSync(folder.join('data')), false);
  });
});

describe('key list', () => {
  it('lists the keys of the ring and of the database, with the number of tokens, and never prints a key', async () => {
    using folder = new Folder();
    const { oldKey, newKey } = await folderWithGroups(folder, 3);
    const unused = await generateKey(folder);
    await (await serve(folder, withRing(newKey, oldKey))).kill();
    const ring = withRing(newKey, unused);
    const { code, stdout } = await runHosted(folder, ['key', 'list', '--json'], ring);
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(stdout), [
      { id: newKey.id, in_ring: true, active: true, registered: true, tokens: 0 },
      { id: unused.id, in_ring: true, active: false, registered: false, tokens: 0 },
      { id: oldKey.id, in_ring: false, active: false, registered: true, tokens: 3 },
    ]);
    const human = await runHosted(folder, ['key', 'list'], ring);
    assert.equal(
      human.stdout,
      [
        'KEY       RING     REGISTERED  TOKENS',
        `${newKey.id}  active   yes         0`,
        `${unused.id}  yes      no          0`,
        `${oldKey.id}  missing  yes         3`,
        '',
      ].join('\n'),
    );
    for (const { line } of [oldKey, newKey, unused])
      assert.ok(!human.stdout.includes(line.split(':')[1]!), 'prints no key');
  });

  it('counts the tokens in PostgreSQL, too', async () => {
    using folder = new Folder();
    await using database = await postgres.create();
    const group = JSON.stringify({ user_group_id: 'one', name: 'One' });
    writeFileSync(folder.join('groups.ndjson'), group);
    const args = ['import', 'groups.ndjson', '--workspace', 'default', '--create-workspace'];
    const empty = await runHosted(folder, ['key', 'list', '--json'], database);
    assert.deepEqual(
      JSON.parse(empty.stdout).map(({ registered }: { registered: boolean }) => registered),
      [false],
    );
    assert.equal((await runHosted(folder, args, database)).code, 0);
    const { stdout } = await runHosted(folder, ['key', 'list', '--json'], database);
    const id = database.env.UGS_TOKEN_KEYS!.split(':')[0];
    assert.deepEqual(JSON.parse(stdout), [{ id, in_ring: true, active: true, registered: true, tokens: 1 }]);
  });

  it('exits with 3 if there is no database, and with 78 if there is no key ring', async () => {
    using folder = new Folder();
    assert.equal((await runHosted(folder, ['key', 'list'])).code, 3);
    await createApiToken(folder);
    const { code, stderr } = await runHosted(folder, ['key', 'list']);
    const message = 'the key file data/token-keys does not exist yet: the first start creates it';
    assert.deepEqual([code, stderr], [78, `user-group-service: ${message}\n`]);
    assert.equal(existsSync(folder.join('data/token-keys')), false);
  });
});

describe('A key ring that cannot decrypt the stored tokens makes serve exit with 78', () => {
  it('if the key file is missing, and creates no new one', async () => {
    using folder = new Folder();
    await (await serve(folder)).kill();
    rmSync(folder.join('data/token-keys'));
    await assertStartRefused(folder, {}, /token-keys does not exist/);
    assert.equal(existsSync(folder.join('data/token-keys')), false);
  });

  it('if the key file was replaced', async () => {
    using folder = new Folder();
    await (await serve(folder)).kill();
    const id = readFileSync(folder.join('data/token-keys'), 'utf8').split(':')[0]!;
    writeFileSync(folder.join('data/token-keys'), (await generateKey(folder)).line);
    await assertStartRefused(folder, {}, new RegExp(`lacks the token key ${id}`));
  });

  it('if the key file has a damaged line', async () => {
    using folder = new Folder();
    await (await serve(folder)).kill();
    const file = folder.join('data/token-keys');
    const ring = readFileSync(file, 'utf8');
    const damages = [
      ring.slice(0, 40),
      ring.replace(/:./, (start) => (start === ':A' ? ':B' : ':A')),
      `${ring}junk\n`,
      '',
    ];
    for (const damaged of damages) {
      writeFileSync(file, damaged);
      await assertStartRefused(folder, {}, /token-keys: /);
      assert.equal(readFileSync(file, 'utf8'), damaged);
    }
  });

  it('if UGS_TOKEN_KEYS lacks a key in use, and reports the id of the key', async () => {
    using folder = new Folder();
    const [first, second] = [await generateKey(folder), await generateKey(folder)];
    await (await serve(folder, withRing(first))).kill();
    await assertStartRefused(
      folder,
      withRing(second),
      new RegExp(`UGS_TOKEN_KEYS lacks the token key ${first.id}`),
    );
    await using _service = await serveHere(folder, withRing(second, first).env);
  });

  it('if UGS_TOKEN_KEYS lacks the key that encrypted rotated signing keys', async () => {
    using folder = new Folder();
    const [first, second] = [await generateKey(folder), await generateKey(folder)];
    await createApiToken(folder);
    await (await serve(folder, withRing(first))).kill();
    const rotate = ['signing-key', 'rotate', '--workspace', 'default'];
    assert.equal((await runHosted(folder, rotate, withRing(second, first))).code, 0);
    await assertStartRefused(folder, withRing(first), new RegExp(`lacks the token key ${second.id}`));
  });

  it('if UGS_TOKEN_KEYS is not set for PostgreSQL, which has no directory for a key file', async () => {
    using folder = new Folder();
    await using database = await postgres.create();
    const remedy =
      /UGS_TOKEN_KEYS is not set, .* has been served with, or for a new database a key of "key generate"/;
    await assertStartRefused(folder, { env: { DATABASE_URL: database.url } }, remedy);
  });

  it('and key reencrypt, too', async () => {
    using folder = new Folder();
    const [first, second] = [await generateKey(folder), await generateKey(folder)];
    await (await serve(folder, withRing(first))).kill();
    assert.equal((await runHosted(folder, ['key', 'reencrypt'], withRing(second))).code, 78);
  });
});

describe('key reencrypt', () => {
  it('fails no request of a service under load, after which the old key can be removed', async () => {
    using folder = new Folder();
    const { token, groups, oldKey, newKey } = await folderWithGroups(folder, 1_000);
    const ring = withRing(newKey, oldKey);
    {
      await using service = await serve(folder, ring);
      const load = new Load(service, token, groups);
      await eventually('calls on each connection', () => load.turns > CONNECTIONS);
      const { code, stdout } = await runHosted(folder, ['key', 'reencrypt', '--json'], ring);
      assert.equal(code, 0);
      const { active_key: activeKey, resealed } = JSON.parse(stdout);
      assert.equal(activeKey, newKey.id);
      assert.ok(resealed > 0);
      await load.end();
    }
    await using service = await serveHere(folder, withRing(newKey).env);
    for (const [id, expected] of groups) assert.equal(await groupToken(service, token, id), expected);
  });

  it('before the required restart does not let a service start later without the old key', async () => {
    using folder = new Folder();
    const { token, oldKey, newKey } = await folderWithGroups(folder, 3);
    let late: string;
    {
      await using service = await serve(folder, withRing(oldKey, newKey));
      assert.equal((await runHosted(folder, ['key', 'reencrypt'], withRing(newKey, oldKey))).code, 0);
      late = await groupToken(service, token, 'late');
      service.signal('SIGTERM');
      assert.equal((await service.exit()).code, 0);
    }
    await assertStartRefused(folder, withRing(newKey), new RegExp(`lacks the token key ${oldKey.id}`));
    assert.equal((await runHosted(folder, ['key', 'reencrypt'], withRing(newKey, oldKey))).code, 0);
    await using service = await serveHere(folder, withRing(newKey).env);
    assert.equal(await groupToken(service, token, 'late'), late);
  });

  it('exits with 78 and reports the key that a service that was not restarted still encrypts with', async () => {
    using folder = new Folder();
    const { token, groups, oldKey, newKey } = await folderWithGroups(folder, 1_000);
    {
      await using service = await serve(folder, withRing(oldKey, newKey));
      const load = new Load(service, token, groups);
      await eventually('rotations on each connection', () => load.turns > 4 * CONNECTIONS);
      // On a busy machine, the service may write nothing while the command runs, so there is nothing to
      // report.
      const { code, stdout, stderr } = await eventually('a run with a concurrent write', async () => {
        const exit = await runHosted(folder, ['key', 'reencrypt'], withRing(newKey, oldKey));
        return exit.code !== 0 && exit;
      });
      await load.end();
      assert.deepEqual({ code, stdout }, { code: 78, stdout: '' });
      assert.match(
        stderr,
        new RegExp(`^user-group-service: [^\\n]* with the key ${oldKey.id} [^\\n]* restart [^\\n]*\\n$`),
      );
    }
    assert.equal((await runHosted(folder, ['key', 'reencrypt'], withRing(newKey, oldKey))).code, 0);
    await using _service = await serveHere(folder, withRing(newKey).env);
  });

  it('reports how many tokens it has re-encrypted', async () => {
    using folder = new Folder();
    const { oldKey, newKey } = await folderWithGroups(folder, 3);
    const ring = withRing(newKey, oldKey);
    for (const count of [3, 0]) {
      const { code, stdout, stderr } = await runHosted(folder, ['key', 'reencrypt'], ring);
      const report = `Re-encrypted ${count} of 3 tokens; all are now encrypted with key ${newKey.id}.\n`;
      assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: report, stderr: '' });
    }
  });

  it('makes the new key required to serve the database', async () => {
    using folder = new Folder();
    const { oldKey, newKey } = await folderWithGroups(folder, 3);
    await runHosted(folder, ['key', 'reencrypt'], withRing(newKey, oldKey));
    await assertStartRefused(folder, withRing(oldKey), new RegExp(`lacks the token key ${newKey.id}`));
  });

  it('exits with 78 and reports the group whose token cannot be decrypted', async () => {
    using folder = new Folder();
    const { oldKey, newKey } = await folderWithGroups(folder, 3);
    const database = new DatabaseSync(folder.join('data/user-groups.db'));
    database.exec("update user_groups set team_id = team_id + 1000 where provided_id = 'group-1'");
    database.close();
    const { code, stdout, stderr } = await runHosted(folder, ['key', 'reencrypt'], withRing(newKey, oldKey));
    assert.deepEqual({ code, stdout }, { code: 78, stdout: '' });
    assert.match(
      stderr,
      new RegExp(
        `^user-group-service: cannot decrypt the token of user group "group-1": [^\\n]+ key ${oldKey.id} [^\\n]+\\n$`,
      ),
    );
  });

  it('is completed by the next run after a kill', async () => {
    using folder = new Folder();
    const { token, groups, oldKey, newKey } = await folderWithGroups(folder, MANY_GROUPS);
    const ring = withRing(newKey, oldKey);
    const killedAt = await killMidway(folder, new Program(folder, ['key', 'reencrypt'], ring), newKey.id);
    assert.ok(killedAt > 0 && killedAt < MANY_GROUPS, `killed after ${killedAt}`);

    await assertStartRefused(folder, withRing(newKey), /lacks the token key/);
    const { code, stdout } = await runHosted(folder, ['key', 'reencrypt', '--json'], ring);
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).resealed, MANY_GROUPS - killedAt);
    await using service = await serveHere(folder, withRing(newKey).env);
    await inSteps([...groups], async ([id, expected]) =>
      assert.equal(await groupToken(service, token, id), expected),
    );
  });
});

/** Reads, rotates and creates groups on several connections until `end` is called. */
class Load {
  turns = 0;
  #ended = false;
  readonly #connections: Promise<void>[];

  constructor(service: Service, token: string, groups: Map<string, string>) {
    this.#connections = Array.from({ length: CONNECTIONS }, (_, connection) => {
      // Divides the groups among the connections, so that each knows the current tokens.
      const own = [...groups.keys()].filter((_id, index) => index % CONNECTIONS === connection);
      return this.#run(service, token, groups, own);
    });
    // `end` reports failures.
    for (const connection of this.#connections) connection.catch(() => {});
  }

  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#connections);
  }

  async #run(service: Service, token: string, groups: Map<string, string>, own: string[]): Promise<void> {
    for (let turn = 0; !this.#ended; turn++) {
      const id = own[turn % own.length]!;
      assert.equal(await groupToken(service, token, id), groups.get(id));
      if (turn % 4 === 1) groups.set(id, await rotate(service, token, groups.get(id)!));
      if (turn % 4 === 3) groups.set(`${id}+`, await groupToken(service, token, `${id}+`));
      this.turns++;
    }
  }
}

/** Kills the program when it has encrypted some, but not all, tokens with the key; returns how many. */
async function killMidway(folder: Folder, program: Program, keyId: string): Promise<number> {
  await using _program = program;
  const database = new DatabaseSync(folder.join('data/user-groups.db'), { timeout: 5_000 });
  const count = database.prepare('select count(*) as done from user_groups where token_key_id = ?');
  try {
    return await eventually('a token encrypted with the new key', async () => {
      // Pauses the program with the write lock.
      database.exec('begin immediate');
      const { done } = count.get(keyId) as { done: number };
      if (done > 0) await program.kill();
      database.exec('rollback');
      return done > 0 && done;
    });
  } finally {
    database.close();
  }
}
