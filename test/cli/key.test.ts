// The keys that tokens are encrypted with at rest: made, missing, damaged, and replaced beside a service that runs.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { postgres } from '../database.ts';
import { createApiToken, eventually, Folder, Program, run, type Service, serve } from '../process.ts';

const CONNECTIONS = 6;
const MANY_GROUPS = 6_000;

async function generateKey(folder: Folder): Promise<{ id: string; line: string }> {
  return JSON.parse((await run(folder, ['key', 'generate', '--json'])).stdout);
}

function withRing(...keys: { line: string }[]): { env: { UGS_TOKEN_KEYS: string } } {
  return { env: { UGS_TOKEN_KEYS: keys.map(({ line }) => line).join('\n') } };
}

/**
 * A database whose groups are sealed under the old key, their tokens by their ids, and a newer key. Half of the groups
 * have brought their tokens with them.
 */
async function folderWithGroups(folder: Folder, count: number) {
  const [oldKey, newKey] = await Promise.all([generateKey(folder), generateKey(folder)]);
  const { token } = await createApiToken(folder);
  const groups = new Map<string, string>();
  await using service = await serve(folder, withRing(oldKey));
  const create = async (id: string) => groups.set(id, await groupToken(service, token, id));
  const ids = Array.from({ length: count }, (_, index) => `group-${index}`);
  const brought = ids.filter((_, index) => index % 2 === 1);
  await Promise.all(ids.filter((id) => !brought.includes(id)).map(create));
  for (const id of brought) groups.set(id, randomBytes(32).toString('hex'));
  const lines = brought.map((id) => JSON.stringify({ user_group_id: id, name: 'G', token: groups.get(id) }));
  writeFileSync(folder.join('groups.ndjson'), lines.join('\n'));
  const args = ['import', 'groups.ndjson', '--workspace', 'default'];
  assert.equal((await run(folder, args, withRing(oldKey))).code, 0);
  return { token, groups, oldKey, newKey };
}

async function groupToken(service: Service, token: string, id: string): Promise<string> {
  const { status, json } = await service.call(token, 'GET', '/api/user', { user_group_id: id, name: 'G' });
  assert.equal(status, 200);
  return json.user_group.token;
}

async function rotate(service: Service, token: string, current: string): Promise<string> {
  const { status, json } = await service.call(token, 'POST', '/api/user', { current_token: current });
  assert.equal(status, 200);
  return json.user_group.token;
}

async function assertStopped(
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
  it('prints a line that a key ring takes, another one each time', async () => {
    using folder = new Folder();
    const human = await run(folder, ['key', 'generate']);
    assert.deepEqual({ code: human.code, stderr: human.stderr }, { code: 0, stderr: '' });
    assert.match(human.stdout, /^[0-9a-f]{8}:[A-Za-z0-9_-]{43}\n$/);
    const key = await generateKey(folder);
    assert.equal(key.line.split(':')[0], key.id);
    assert.notEqual(key.line, human.stdout.trim());
    await using _service = await serve(folder, withRing(key, { line: human.stdout }));
  });

  it('makes no file', async () => {
    using folder = new Folder();
    await run(folder, ['key', 'generate']);
    assert.equal(existsSync(folder.join('data')), false);
  });
});

describe('A key ring that cannot open the stored tokens stops the start with 78', () => {
  it('where the key file is gone, and makes no new one', async () => {
    using folder = new Folder();
    await (await serve(folder)).kill();
    rmSync(folder.join('data/token-keys'));
    await assertStopped(folder, {}, /token-keys is missing/);
    assert.equal(existsSync(folder.join('data/token-keys')), false);
  });

  it('where the key file is another one', async () => {
    using folder = new Folder();
    await (await serve(folder)).kill();
    const id = readFileSync(folder.join('data/token-keys'), 'utf8').split(':')[0]!;
    writeFileSync(folder.join('data/token-keys'), (await generateKey(folder)).line);
    await assertStopped(folder, {}, new RegExp(`lacks the token key ${id}`));
  });

  it('where the key file has a damaged line', async () => {
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
      await assertStopped(folder, {}, /token-keys: /);
      assert.equal(readFileSync(file, 'utf8'), damaged);
    }
  });

  it('where UGS_TOKEN_KEYS lacks a key in use, which it names by its id', async () => {
    using folder = new Folder();
    const [first, second] = [await generateKey(folder), await generateKey(folder)];
    await (await serve(folder, withRing(first))).kill();
    await assertStopped(
      folder,
      withRing(second),
      new RegExp(`UGS_TOKEN_KEYS lacks the token key ${first.id}`),
    );
    await using _service = await serve(folder, withRing(second, first));
  });

  it('where UGS_TOKEN_KEYS is not set for PostgreSQL, which has no folder for a key file', async () => {
    using folder = new Folder();
    const database = await postgres.create();
    try {
      await assertStopped(folder, { env: { DATABASE_URL: database.url } }, /UGS_TOKEN_KEYS is not set/);
    } finally {
      await database.drop();
    }
  });

  it('and key reencrypt too', async () => {
    using folder = new Folder();
    const [first, second] = [await generateKey(folder), await generateKey(folder)];
    await (await serve(folder, withRing(first))).kill();
    assert.equal((await run(folder, ['key', 'reencrypt'], withRing(second))).code, 78);
  });
});

describe('key reencrypt', () => {
  it('fails no call of a service under load, and then the old key can go', async () => {
    using folder = new Folder();
    const { token, groups, oldKey, newKey } = await folderWithGroups(folder, 1_000);
    const ring = withRing(newKey, oldKey);
    {
      await using service = await serve(folder, ring);
      const load = new Load(service, token, groups);
      const { code, stdout } = await run(folder, ['key', 'reencrypt', '--json'], ring);
      assert.equal(code, 0);
      const { active_key: activeKey, resealed } = JSON.parse(stdout);
      assert.equal(activeKey, newKey.id);
      assert.ok(resealed > 0);
      await load.end();
      assert.ok(load.turns > 20, `${load.turns} turns`);
    }
    await using service = await serve(folder, withRing(newKey));
    for (const [id, expected] of groups) assert.equal(await groupToken(service, token, id), expected);
  });

  it('before the restart that it needs keeps a service from starting without the old key', async () => {
    using folder = new Folder();
    const { token, oldKey, newKey } = await folderWithGroups(folder, 3);
    let late: string;
    {
      await using service = await serve(folder, withRing(oldKey, newKey));
      assert.equal((await run(folder, ['key', 'reencrypt'], withRing(newKey, oldKey))).code, 0);
      late = await groupToken(service, token, 'late');
      service.signal('SIGTERM');
      assert.equal((await service.exit()).code, 0);
    }
    await assertStopped(folder, withRing(newKey), new RegExp(`lacks the token key ${oldKey.id}`));
    assert.equal((await run(folder, ['key', 'reencrypt'], withRing(newKey, oldKey))).code, 0);
    await using service = await serve(folder, withRing(newKey));
    assert.equal(await groupToken(service, token, 'late'), late);
  });

  it('ends with 78 and names the key that a service goes on sealing under, which has not been restarted', async () => {
    using folder = new Folder();
    const { token, groups, oldKey, newKey } = await folderWithGroups(folder, 1_000);
    {
      await using service = await serve(folder, withRing(oldKey, newKey));
      const load = new Load(service, token, groups);
      const { code, stdout, stderr } = await run(folder, ['key', 'reencrypt'], withRing(newKey, oldKey));
      await load.end();
      assert.deepEqual({ code, stdout }, { code: 78, stdout: '' });
      assert.match(
        stderr,
        new RegExp(`^user-group-service: [^\\n]* under the key ${oldKey.id} [^\\n]* restart [^\\n]*\\n$`),
      );
    }
    assert.equal((await run(folder, ['key', 'reencrypt'], withRing(newKey, oldKey))).code, 0);
    await using _service = await serve(folder, withRing(newKey));
  });

  it('says what it has done, and then that there is nothing to do', async () => {
    using folder = new Folder();
    const { oldKey, newKey } = await folderWithGroups(folder, 3);
    const ring = withRing(newKey, oldKey);
    for (const count of [3, 0]) {
      const { code, stdout, stderr } = await run(folder, ['key', 'reencrypt'], ring);
      const done = `${count} of 3 tokens were encrypted anew; all are under key ${newKey.id}.\n`;
      assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: done, stderr: '' });
    }
  });

  it('leaves a database that a ring without the new key cannot serve', async () => {
    using folder = new Folder();
    const { oldKey, newKey } = await folderWithGroups(folder, 3);
    await run(folder, ['key', 'reencrypt'], withRing(newKey, oldKey));
    await assertStopped(folder, withRing(oldKey), new RegExp(`lacks the token key ${newKey.id}`));
  });

  it('ends with 78 and names the group whose token does not open', async () => {
    using folder = new Folder();
    const { oldKey, newKey } = await folderWithGroups(folder, 3);
    const database = new DatabaseSync(folder.join('data/user-groups.db'));
    database.exec("update user_groups set team_id = team_id + 1000 where provided_id = 'group-1'");
    database.close();
    const { code, stdout, stderr } = await run(folder, ['key', 'reencrypt'], withRing(newKey, oldKey));
    assert.deepEqual({ code, stdout }, { code: 78, stdout: '' });
    assert.match(
      stderr,
      new RegExp(
        `^user-group-service: the token of the user group "group-1" [^\\n]+ key ${oldKey.id} [^\\n]+\\n$`,
      ),
    );
  });

  it('killed in the midst, is completed by the next', async () => {
    using folder = new Folder();
    const { token, groups, oldKey, newKey } = await folderWithGroups(folder, MANY_GROUPS);
    const ring = withRing(newKey, oldKey);
    const killedAt = await killMidway(folder, new Program(folder, ['key', 'reencrypt'], ring), newKey.id);
    assert.ok(killedAt > 0 && killedAt < MANY_GROUPS, `killed after ${killedAt}`);

    await assertStopped(folder, withRing(newKey), /lacks the token key/);
    const { code, stdout } = await run(folder, ['key', 'reencrypt', '--json'], ring);
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).resealed, MANY_GROUPS - killedAt);
    await using service = await serve(folder, withRing(newKey));
    const checks = [...groups].map(async ([id, expected]) =>
      assert.equal(await groupToken(service, token, id), expected),
    );
    await Promise.all(checks);
  });
});

/** Reads, rotations and creates by several connections, until it is told to end. */
class Load {
  turns = 0;
  #ended = false;
  readonly #connections: Promise<void>[];

  constructor(service: Service, token: string, groups: Map<string, string>) {
    this.#connections = Array.from({ length: CONNECTIONS }, (_, connection) => {
      // Each connection has groups of its own, so it knows what their tokens are.
      const own = [...groups.keys()].filter((_id, index) => index % CONNECTIONS === connection);
      return this.#run(service, token, groups, own);
    });
    // A failure shows when the load is ended.
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

/** Kills the program when it has sealed some tokens under the key and not all; returns how many. */
async function killMidway(folder: Folder, program: Program, keyId: string): Promise<number> {
  await using _program = program;
  const database = new DatabaseSync(folder.join('data/user-groups.db'), { timeout: 5_000 });
  const count = database.prepare('select count(*) as done from user_groups where token_key_id = ?');
  try {
    return await eventually('a token under the new key', async () => {
      // While this holds the lock for writing, the program can get no further.
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
