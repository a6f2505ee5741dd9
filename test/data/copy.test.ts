// Copying to another database: no data is lost even if the copy is killed, and all tokens keep working.

import assert from 'node:assert/strict';
import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { generateKeyLine } from '../../src/domain/key-ring.ts';
import { digestOfImportedToken } from '../../src/domain/token.ts';
import {
  type DatabaseKind,
  databaseOf,
  describeOnEachDatabase,
  postgres,
  sqlite,
  type TestDatabase,
} from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import {
  createApiToken,
  type Exit,
  eventually,
  Folder,
  Program,
  runHosted,
  serve,
  served,
} from '../support/process.ts';
import { type Callable, serveHere } from '../support/service.ts';
import { runSql, SqlConnection } from '../support/sql.ts';
import { Receiver, respondWith } from '../support/webhooks/receiver.ts';
import { PATH } from '../support/webhooks/tenant.ts';

const GROUPS_A_CALLER = 1_000;
const TOTAL = 3 * GROUPS_A_CALLER;
/** Numbers of kills: between the first and the last page, and at random times after the process starts. */
const KILLS_MIDWAY = 3;
const KILLS_ANYWHERE = 5;
const MAX_LIFETIME_MS = 1_200;
const GRACE_SECONDS = 86_400;

type Env = Record<string, string>;

describe('A copy from SQLite to PostgreSQL, and back', () => {
  const folder = Folder.of();
  const ring = { UGS_TOKEN_KEYS_FILE: 'data/token-keys' };
  const database = databaseOf(postgres);
  let targetEnv: Env;
  let callers: Caller[];
  let listed: unknown[];

  before(async () => {
    targetEnv = { DATABASE_URL: database.url, ...ring };
    callers = [
      await Caller.create(folder, 'alpha', 'Customer'),
      await Caller.create(folder, 'alpha', 'Testing'),
      await Caller.create(folder, 'beta', 'Customer'),
    ];
    await createInactiveTokens(folder);
    {
      await using service = await serve(folder);
      for (const caller of callers) await caller.fill(service);
    }
    // The service has stopped, so it has written when tokens were last used.
    listed = await apiTokens(folder, {});
  });

  const args = ['copy', '--from', 'sqlite:data/user-groups.db', '--json'];
  const copy = () => new Program(folder, args, { env: { TARGET_DATABASE_URL: database.url } });

  it('that is interrupted leaves a database that rejects every caller', async () => {
    await runHosted(folder, ['migrate'], { env: targetEnv });
    await killMidway(copy, postgresTarget(database.url), 0);
    await using service = await serveHere(folder, targetEnv);
    for (const caller of callers) await caller.assertRefused(service);
  });

  it('is completed by the next run after kills', async () => {
    await killOften(copy, postgresTarget(database.url));
    await using program = copy();
    const { code, stdout, stderr } = await program.exit();
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const { user_groups, workspaces, api_tokens, events } = JSON.parse(stdout);
    assert.ok(events.count > 0);
    assert.deepEqual([user_groups.count, workspaces.count, api_tokens.count], [TOTAL, 2, listed.length]);
    assert.ok(user_groups.copied < TOTAL);
    assert.equal(await rowsOfStatistics(database.url), TOTAL, 'lookups are planned for a table of this size');
  });

  it('copies nothing when run again', async () => {
    const { code, stdout } = await runHosted(folder, ['copy', '--json'], {
      env: { SOURCE_DATABASE_URL: 'sqlite:data/user-groups.db', TARGET_DATABASE_URL: database.url },
    });
    assert.equal(code, 0);
    const tables = Object.values(JSON.parse(stdout)) as { copied: number }[];
    assert.deepEqual(
      tables.map(({ copied }) => copied),
      tables.map(() => 0),
    );
  });

  it('preserves all tokens, including retiring, revoked and expired ones', async () => {
    assert.deepEqual(await apiTokens(folder, targetEnv), listed);
    await using service = await serveHere(folder, targetEnv);
    for (const caller of callers) await caller.assertUnchanged(service);
    await assertInactiveTokens(service);
  });

  it('never reissues an id', async () => {
    const used = new Set(callers.flatMap((caller) => caller.teamIds));
    await using service = await serve(folder, { env: targetEnv });
    for (const caller of callers) {
      await caller.create(service, 'new on PostgreSQL');
      assert.equal(used.has(caller.teamIds.at(-1)!), false);
    }
    const { id } = await createApiToken(folder, ['--create-workspace'], { env: targetEnv });
    assert.equal(id, listed.length + 1);
  });

  it('copies back to SQLite, with the changes since then and after as many kills', async () => {
    const env = { ...ring, SOURCE_DATABASE_URL: database.url };
    const copyBack = () =>
      new Program(folder, ['copy', '--to', 'sqlite:back/user-groups.db', '--json'], { env });
    const backEnv = { DATABASE_URL: 'sqlite:back/user-groups.db', ...ring };
    await runHosted(folder, ['migrate'], { env: backEnv });
    await killOften(copyBack, sqliteTarget(folder.join('back/user-groups.db')));
    await using program = copyBack();
    const { code, stdout } = await program.exit();
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).user_groups.count, TOTAL + callers.length);

    const used = new Set(callers.flatMap((caller) => caller.teamIds));
    await using service = await serveHere(folder, backEnv);
    for (const caller of callers) {
      await caller.assertUnchanged(service);
      await caller.create(service, 'new on SQLite');
      assert.equal(used.has(caller.teamIds.at(-1)!), false);
    }
    await assertInactiveTokens(service);
  });
});

describe('A copy is refused', () => {
  const args = ['copy', '--from', 'sqlite:data/user-groups.db', '--to', 'sqlite:other/user-groups.db'];

  async function assertRefused(exit: Exit, code: number, reason: RegExp): Promise<void> {
    assert.match(exit.stderr, reason);
    assert.match(exit.stderr, /^user-group-service: [^\n]+\n$/m);
    assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code, stdout: '' });
  }

  it('with 65 if the target contains other groups, workspaces or API tokens, and changes nothing', async () => {
    using folder = new Folder();
    const other = { DATABASE_URL: 'sqlite:other/user-groups.db' };
    const ring = { env: { UGS_TOKEN_KEYS: (await runHosted(folder, ['key', 'generate'])).stdout } };
    for (const env of [{}, other]) {
      const options = { env: { ...ring.env, ...env } };
      const { token } = await createApiToken(folder, [], options);
      await using service = await serveHere(folder, options.env);
      await service.call(token, 'GET', '/api/user', { user_group_id: 'a', name: 'A' });
    }
    const before = contentOf(folder.join('other/user-groups.db'));
    await assertRefused(await runHosted(folder, args, ring), 65, /the target contains user groups/);
    deleteFrom(folder.join('other/user-groups.db'), 'user_groups');
    await assertRefused(await runHosted(folder, args, ring), 65, /the target contains workspaces/);
    deleteFrom(folder.join('other/user-groups.db'), 'workspaces');
    await assertRefused(await runHosted(folder, args, ring), 65, /the target contains API tokens/);
    assert.deepEqual(contentOf(folder.join('other/user-groups.db')), {
      ...before,
      user_groups: [],
      workspaces: [],
    });
  });

  it('with 65 if the target was served with another key ring, and changes nothing', async () => {
    using folder = new Folder();
    const target = 'other/user-groups.db';
    await Caller.create(folder, 'default', 'Customer');
    await (await serveHere(folder, {}))[Symbol.asyncDispose]();
    const { token } = await createApiToken(folder, [], { env: { DATABASE_URL: `sqlite:${target}` } });
    {
      await using service = await serveHere(folder, { DATABASE_URL: `sqlite:${target}` });
      await service.call(token, 'GET', '/api/user', { user_group_id: 'a', name: 'A' });
    }
    await assertRefused(await runHosted(folder, args), 65, /the target contains user groups/);
    for (const table of ['user_groups', 'workspaces', 'api_tokens', 'events'])
      deleteFrom(folder.join(target), table);
    const before = contentOf(folder.join(target));
    await assertRefused(
      await runHosted(folder, args),
      65,
      /the target was served with the token key [0-9a-f]{8},/,
    );
    assert.deepEqual(contentOf(folder.join(target)), before);
  });

  it('with 65 if the source has changed since the last attempt', async () => {
    using folder = new Folder();
    const caller = await Caller.create(folder, 'default', 'Customer');
    {
      await using service = await serve(folder);
      await caller.create(service, 'a');
    }
    assert.equal((await runHosted(folder, args)).code, 0);
    {
      await using service = await serve(folder);
      await caller.update(service, 'a');
    }
    await assertRefused(await runHosted(folder, args), 65, /empty the target/);
  });

  it('with 75 while a process serves the source or the target, and the process keeps serving', async () => {
    using folder = new Folder();
    const caller = await Caller.create(folder, 'default', 'Customer');
    await using service = await serve(folder);
    await assertRefused(
      await runHosted(folder, args),
      75,
      /another process is serving data\/user-groups\.db/,
    );
    const reverse = ['copy', '--from', 'sqlite:other/user-groups.db', '--to', 'sqlite:data/user-groups.db'];
    await runHosted(folder, ['migrate'], { env: { DATABASE_URL: 'sqlite:other/user-groups.db' } });
    await assertRefused(
      await runHosted(folder, reverse),
      75,
      /another process is serving data\/user-groups\.db/,
    );
    await caller.create(service, 'a');
  });

  it('with 78 if the key ring lacks the key, or does not decrypt the tokens', async () => {
    using folder = new Folder();
    const caller = await Caller.create(folder, 'default', 'Customer');
    {
      await using service = await serveHere(folder, {});
      await caller.create(service, 'a');
    }
    const wrong = { env: { UGS_TOKEN_KEYS: (await runHosted(folder, ['key', 'generate'])).stdout } };
    await assertRefused(await runHosted(folder, args, wrong), 78, /UGS_TOKEN_KEYS lacks the token key/);
    change(folder.join('data/user-groups.db'), "update user_groups set name = 'B', team_id = team_id + 1");
    await assertRefused(await runHosted(folder, args), 78, /does not decrypt/);
    assert.deepEqual(contentOf(folder.join('other/user-groups.db')).user_groups, []);
  });

  it('with 78 if an argument contains a password, without printing it', async () => {
    using folder = new Folder();
    for (const [flag, env] of [
      ['--from', 'SOURCE_DATABASE_URL'],
      ['--to', 'TARGET_DATABASE_URL'],
    ] as const) {
      const url = 'postgres://user:hunter2@127.0.0.1:1/groups';
      const other = { SOURCE_DATABASE_URL: 'sqlite:a.db', TARGET_DATABASE_URL: 'sqlite:b.db' };
      const exit = await runHosted(folder, ['copy', flag, url], { env: other });
      await assertRefused(exit, 78, new RegExp(`${flag} must not contain a password.*${env}_FILE`));
      assert.doesNotMatch(exit.stderr, /hunter2/);
    }
  });

  it('with 3 if the source does not exist, and does not create it', async () => {
    using folder = new Folder();
    await assertRefused(await runHosted(folder, args), 3, /database data\/user-groups\.db does not exist/);
    assert.equal(existsSync(folder.join('data')), false);
  });

  it('with 2 if the source or the target is missing, or both are the same', async () => {
    using folder = new Folder();
    await runHosted(folder, ['migrate']);
    await assertRefused(await runHosted(folder, args.slice(0, 3)), 2, /--to.*TARGET_DATABASE_URL_FILE/);
    for (const path of ['data/user-groups.db', './data/../data/user-groups.db']) {
      const same = [...args.slice(0, 4), `sqlite:${path}`];
      await assertRefused(await runHosted(folder, same), 2, /the same database/);
    }
  });

  it('with 69 if PostgreSQL refuses the connection', async () => {
    using folder = new Folder();
    await runHosted(folder, ['migrate']);
    const url = folder.join('url');
    writeFileSync(url, 'postgres://user:hunter2@127.0.0.1:1/groups\n');
    const exit = await runHosted(folder, args.slice(0, 3), { env: { TARGET_DATABASE_URL_FILE: url } });
    await assertRefused(exit, 69, /PostgreSQL/);
    assert.doesNotMatch(exit.stderr, /hunter2/);
  });
});

describeOnEachDatabase('A copy of imported tokens', (kind) => {
  const args = ['copy', '--from', 'sqlite:data/user-groups.db'];
  const [current, retiring] = ['current', 'retiring'].map((name) => `${name}-from-another-system`);
  const folder = Folder.of();
  const target = databaseOf(kind);
  let apiToken: string;
  let env: Env;
  before(async () => {
    env = { DATABASE_URL: target.url, UGS_TOKEN_KEYS_FILE: 'data/token-keys' };
    apiToken = (await createApiToken(folder)).token;
    const lines = [current, retiring].map((token) => ({ user_group_id: token, name: 'Imported', token }));
    writeFileSync(folder.join('groups'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    assert.equal((await runHosted(folder, ['import', 'groups', '--workspace', 'default'])).code, 0);
    await using service = await serve(folder);
    const body = { current_token: retiring, grace_period_seconds: GRACE_SECONDS };
    assert.equal((await service.call(apiToken, 'POST', '/api/user', body)).status, 200);
    assert.equal((await runHosted(folder, ['migrate'], { env })).code, 0);
  });

  const copy = () => runHosted(folder, args, { env: { TARGET_DATABASE_URL: target.url } });

  it('ends with 65 where the target lacks one, or has it in the wrong bucket', async () => {
    const digest = digestOfImportedToken(retiring!)!;
    await runSql(target, losing(kind, digest));
    for (let time = 0; time < 2; time++) {
      const { code, stdout, stderr } = await copy();
      assert.match(
        stderr,
        /^user-group-service: the copy lacks an imported token of the user group "retiring-/,
      );
      assert.deepEqual({ code, stdout }, { code: 65, stdout: '' });
    }
    await runSql(target, `drop trigger lose${kind.name === 'SQLite' ? '' : ' on imported_tokens'}`);
    const [row] = await runSql(target, 'select bucket from imported_tokens');
    const { bucket: ofOtherGroup } = row as { bucket: number };
    await runSql(
      target,
      `insert into imported_tokens (token_digest, bucket) values ('${digest}', ${ofOtherGroup})`,
    );
    assert.equal((await copy()).code, 65);
    await runSql(target, 'delete from imported_tokens');
    await runSql(target, 'delete from user_groups');
    assert.equal((await copy()).code, 0);
  });

  it('resolves them, current and retiring', async () => {
    await using service = await serveHere(folder, env);
    for (const [token, status] of [
      [current, 'current'],
      [retiring, 'retiring'],
    ]) {
      const { json } = await service.call(apiToken, 'POST', '/v1/resolve', { token });
      assert.deepEqual([json.user_group.provided_id, json.token.status], [token, status]);
    }
  });
});

for (const [source, target] of [
  [sqlite, postgres],
  [postgres, sqlite],
] as const) {
  it(`A copy from ${source.name} to ${target.name} keeps the history of renamed groups, and delivers the webhooks that were pending`, async () => {
    using folder = new Folder();
    await using receiver = await Receiver.start(respondWith(503));
    const [from, to] = [await source.create(), await target.create()];
    try {
      const settings = { UGS_WEBHOOK_ALLOW_PRIVATE: 'on', UGS_TOKEN_KEYS: generateKeyLine().reveal() };
      const [fromEnv, toEnv] = [from, to].map(({ url }) => ({ ...settings, DATABASE_URL: url }));
      const { token } = await createApiToken(folder, ['--permission', 'admin'], { env: fromEnv! });
      let history = '';
      {
        await using service = await serve(folder, { env: fromEnv! });
        const endpoint = { url: receiver.url, event_types: ['user_group.created'] };
        const call = async (method: string, path: string, body: object) => {
          const { status, text } = await served(() => service.call(token, method, path, body));
          assert.ok(status < 300, text);
        };
        await call('PUT', `${PATH}/moved`, endpoint);
        const create = (id: string) => call('POST', '/v1/user-groups', { user_group_id: id, name: id });
        await Promise.all(Array.from({ length: PENDING }, (_, index) => create(`group-${index}`)));
        await receiver.waitFor(PENDING);
        await eventually('every attempt to be recorded', async () => {
          const { json } = await service.call(token, 'GET', `${PATH}/moved/deliveries`);
          return json.deliveries.every(({ attempts }: { attempts: number }) => attempts > 0);
        });
        await call('POST', '/v1/user-groups/group-0/rename', { user_group_id: 'renamed' });
        history = (await service.call(token, 'GET', HISTORY)).text;
      }
      const env = { ...settings, SOURCE_DATABASE_URL: from.url, TARGET_DATABASE_URL: to.url };
      const { code, stdout } = await runHosted(folder, ['copy', '--json'], { env });
      assert.equal(code, 0);
      assert.equal(JSON.parse(stdout).deliveries.count, PENDING);
      assert.deepEqual(await failingEndpoints(to), await failingEndpoints(from));
      // Compared before the service starts, because some deliveries may be due by then.
      assert.deepEqual(await deliveriesIn(to), await deliveriesIn(from));
      const refused = idsOf(receiver);
      receiver.received.length = 0;
      receiver.respond = respondWith(204);
      await using service = await serveHere(folder, toEnv!);
      assert.equal((await service.call(token, 'GET', HISTORY)).text, history);
      await receiver.waitFor(PENDING, 20_000);
      assert.deepEqual(idsOf(receiver), refused);
    } finally {
      await from.drop();
      await to.drop();
    }
  });
}

for (const [source, target] of [
  [sqlite, sqlite],
  [sqlite, postgres],
  [postgres, sqlite],
] as const) {
  it(`A copy from ${source.name} to ${target.name} keeps new events after the cursors of readers, also if all events were deleted`, async () => {
    using folder = new Folder();
    await using from = await source.create();
    await using to = await target.create();
    const settings = { UGS_TOKEN_KEYS: generateKeyLine().reveal() };
    const [fromEnv, toEnv] = [from, to].map(({ url }) => ({ ...settings, DATABASE_URL: url }));
    const { token } = await createApiToken(folder, [], { env: fromEnv! });
    // Later than any position of the other database.
    if (source === sqlite) await runSql(from, 'update sqlite_sequence set seq = 1000000000000000');
    let cursor = '';
    {
      await using service = await serveHere(folder, fromEnv!);
      cursor = (await createAndFollow(service, token, 'earlier', '')).cursor;
    }
    await runSql(from, 'update events set occurred_at = 0');
    assert.equal((await runHosted(folder, ['event', 'purge', '--yes'], { env: fromEnv! })).code, 0);
    const env = { ...settings, SOURCE_DATABASE_URL: from.url, TARGET_DATABASE_URL: to.url };
    const { code, stdout } = await runHosted(folder, ['copy', '--json'], { env });
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).events.count, 0);
    await using service = await serveHere(folder, toEnv!);
    assert.deepEqual((await createAndFollow(service, token, 'later', cursor)).targets, ['later']);
  });
}

/** Creates the group, and returns the next page of the feed that has events, with its cursor. */
async function createAndFollow(service: Callable, token: string, id: string, cursor: string) {
  await served(() => service.call(token, 'POST', '/v1/user-groups', { user_group_id: id, name: id }));
  const path = `/v1/events?order=oldest&type=user_group.created${cursor && `&cursor=${cursor}`}`;
  return eventually('the event', async () => {
    const { json } = await service.call(token, 'GET', path);
    if (!json.events?.length) return null;
    const targets = json.events.map(({ target }: { target: { id: string } }) => target.id);
    return { targets, cursor: json.next_cursor as string };
  });
}

it('A copy from PostgreSQL has every event while a transaction of another database is running', async () => {
  using folder = new Folder();
  await using source = await postgres.create();
  await using other = await postgres.create();
  const settings = { UGS_TOKEN_KEYS: generateKeyLine().reveal() };
  const sourceEnv = { ...settings, DATABASE_URL: source.url };
  const { token } = await createApiToken(folder, [], { env: sourceEnv });
  await using transaction = await SqlConnection.open(other.url);
  await transaction.query('begin');
  await transaction.query('select pg_current_xact_id()');
  {
    await using service = await serve(folder, { env: sourceEnv });
    await service.call(token, 'POST', '/v1/user-groups', { user_group_id: 'a', name: 'A' });
  }
  const databases = { SOURCE_DATABASE_URL: source.url, TARGET_DATABASE_URL: 'sqlite:new/user-groups.db' };
  const { code, stdout } = await runHosted(folder, ['copy', '--json'], {
    env: { ...settings, ...databases },
  });
  assert.equal(code, 0);
  assert.equal(JSON.parse(stdout).events.count, 2);
});

const PENDING = 8;
const HISTORY = '/v1/user-groups/renamed/events';

async function failingEndpoints(database: TestDatabase): Promise<string> {
  const sql = 'select endpoint_id, cast(failing_since as text) as since from failing_webhook_endpoints';
  return JSON.stringify(await runSql(database, sql));
}

async function deliveriesIn(database: TestDatabase): Promise<string> {
  const sql = `select event_id, event_type, target_type, target_id, state, attempts, response_status, error, attempt_log,
      cast(next_attempt_at as text) as next, cast(last_attempt_at as text) as last, cast(created_at as text) as created
    from deliveries order by event_id`;
  return JSON.stringify(await runSql(database, sql));
}

/** Returns the event ids in the bodies, and asserts that they match the headers. */
function idsOf({ received }: Receiver): Set<string> {
  for (const { headers, body } of received) assert.equal(JSON.parse(body).event_id, headers['webhook-id']);
  return new Set(received.map(({ headers }) => headers['webhook-id']!));
}

/** SQL that makes the database lose this imported token without an error. */
function losing({ name }: DatabaseKind, digest: string): string {
  if (name === 'SQLite') {
    return `create trigger lose before insert on imported_tokens when new.token_digest = '${digest}'
      begin select raise(ignore); end`;
  }
  return `create function lose() returns trigger language plpgsql as 'begin return null; end';
    create trigger lose before insert on imported_tokens for each row
      when (new.token_digest = '${digest}') execute function lose()`;
}

it('A copy between two files reports what it copied, and how to serve the target', async () => {
  using folder = new Folder();
  const caller = await Caller.create(folder, 'default', 'Customer');
  {
    await using service = await serve(folder);
    await caller.create(service, 'a');
  }
  const { code, stdout } = await runHosted(folder, [
    'copy',
    ...['--from', 'sqlite:data/user-groups.db'],
    ...['--to', 'sqlite:new/user-groups.db'],
  ]);
  assert.equal(code, 0);
  assert.match(stdout, /^user groups +1 +1 +[0-9a-f]{64}$/m);
  assert.match(stdout, /UGS_TOKEN_KEYS_FILE=data\/token-keys/);
  copyFileSync(folder.join('data/token-keys'), folder.join('new/token-keys'));
  await using service = await serve(folder, { args: ['--database-url', 'sqlite:new/user-groups.db'] });
  await caller.assertUnchanged(service);
});

interface Group {
  token: string;
  teamId: number;
  etag: string;
  /** Token in its grace period. */
  retiring: { token: string; expiresAt: string } | null;
}

/** API token, with the expected state of its groups. */
class Caller {
  readonly #token: string;
  readonly #groups = new Map<string, Group>();

  static async create(folder: Folder, workspace: string, environment: string): Promise<Caller> {
    const args = ['--workspace', workspace, '--create-workspace', '--environment', environment];
    return new Caller((await createApiToken(folder, args)).token);
  }

  constructor(token: string) {
    this.#token = token;
  }

  get teamIds(): number[] {
    return [...this.#groups.values()].map(({ teamId }) => teamId);
  }

  async fill(service: Callable): Promise<void> {
    const ids = Array.from({ length: GROUPS_A_CALLER }, (_, index) => `group ${index} / ü😀`);
    await Promise.all(ids.map((id) => this.create(service, id)));
    await Promise.all(ids.filter((_, index) => index % 10 === 0).map((id) => this.update(service, id)));
    await Promise.all(ids.filter((_, index) => index % 15 === 0).map((id) => this.#rotate(service, id)));
  }

  async create(service: Callable, id: string): Promise<void> {
    const body = { user_group_id: id, name: `Name of ${id}`, mapping: { 40: id } };
    const response = await served(() => service.call(this.#token, 'GET', '/api/user', body));
    assert.equal(response.json.new_user_group, true);
    this.#groups.set(id, groupOf(response, null));
  }

  async update(service: Callable, id: string): Promise<void> {
    const body = `{"user_group_id":${JSON.stringify(id)},"properties":{"b":1.10,"a":9007199254740993,"c":"\\u0000"}}`;
    const response = await served(() => service.call(this.#token, 'PUT', '/api/user', body));
    assert.equal(response.status, 200);
    this.#groups.set(id, groupOf(response, this.#groups.get(id)!.retiring));
  }

  async #rotate(service: Callable, id: string): Promise<void> {
    const { token } = this.#groups.get(id)!;
    const body = { current_token: token, grace_period_seconds: GRACE_SECONDS };
    const response = await served(() => service.call(this.#token, 'POST', '/api/user', body));
    assert.equal(response.status, 200);
    const { json } = await service.call(this.#token, 'POST', '/v1/resolve', { token });
    assert.equal(json.token.status, 'retiring');
    this.#groups.set(id, groupOf(response, { token, expiresAt: json.token.expires_at }));
  }

  async assertUnchanged(service: Callable): Promise<void> {
    await Promise.all([...this.#groups].map(([id, group]) => this.#assertUnchanged(service, id, group)));
  }

  async assertRefused(service: Callable): Promise<void> {
    const [id] = this.#groups.keys();
    const { status } = await service.call(this.#token, 'GET', '/api/user', { user_group_id: id });
    assert.equal(status, 401);
  }

  async #assertUnchanged(service: Callable, id: string, { retiring, ...group }: Group): Promise<void> {
    const found = await served(() => service.call(this.#token, 'GET', '/api/user', { user_group_id: id }));
    assert.equal(found.json.new_user_group, false);
    assert.deepEqual(groupOf(found, null), { ...group, retiring: null });
    await this.#assertResolves(service, id, group.token, { status: 'current', expires_at: null });
    if (retiring === null) return;
    const status = { status: 'retiring', expires_at: retiring.expiresAt };
    await this.#assertResolves(service, id, retiring.token, status);
  }

  async #assertResolves(service: Callable, id: string, token: string, status: object): Promise<void> {
    const { json } = await served(() => service.call(this.#token, 'POST', '/v1/resolve', { token }));
    assert.deepEqual(json.token, status);
    assert.equal(json.user_group.provided_id, id);
    assert.deepEqual(json.user_group.mapping, { 40: id });
  }
}

function groupOf({ json, headers }: TestResponse, retiring: Group['retiring']): Group {
  const { token, team_id: teamId } = json.user_group;
  return { token, teamId, etag: headers.etag!, retiring };
}

const inactiveTokens: string[] = [];

/** Creates a revoked and an expired API token. */
async function createInactiveTokens(folder: Folder): Promise<void> {
  const revoked = await createApiToken(folder, ['--workspace', 'alpha', '--name', 'revoked']);
  const expired = await createApiToken(folder, ['--workspace', 'beta', '--expires', '1m']);
  assert.equal((await runHosted(folder, ['api-token', 'revoke', String(revoked.id)])).code, 0);
  change(
    folder.join('data/user-groups.db'),
    `update api_tokens set expires_at = ${Date.now()} where api_token_id = ${expired.id}`,
  );
  inactiveTokens.push(revoked.token, expired.token);
}

async function assertInactiveTokens(service: Callable): Promise<void> {
  assert.equal(inactiveTokens.length, 2);
  for (const token of inactiveTokens) {
    const { status } = await service.call(token, 'GET', '/api/user', { user_group_id: 'any' });
    assert.equal(status, 401);
  }
}

async function apiTokens(folder: Folder, env: Env): Promise<unknown[]> {
  return JSON.parse((await runHosted(folder, ['api-token', 'list', '--json'], { env })).stdout);
}

/** Target of a copy. */
interface Target {
  /** Delays each page by some tenths of a second, so that the test can observe pages. */
  slowDown: () => Promise<void> | void;
  /** Removes the delay. */
  speedUp: () => Promise<void> | void;
  /** Counts the groups; on PostgreSQL, waits for the page that is being written. */
  count: () => Promise<number> | number;
}

/** Kills a copy when the target has more than `groups` groups, but not all; returns how many. */
async function killMidway(start: () => Program, target: Target, groups: number): Promise<number> {
  await target.slowDown();
  await using program = start();
  await eventually('another page', async () => (await target.count()) > groups);
  await program.kill();
  const killedAt = await target.count();
  await target.speedUp();
  assert.ok(killedAt < TOTAL);
  return killedAt;
}

async function killOften(start: () => Program, target: Target): Promise<void> {
  for (let kill = 0, groups = 0; kill < KILLS_MIDWAY; kill++)
    groups = await killMidway(start, target, groups);
  for (let kill = 0; kill < KILLS_ANYWHERE; kill++) {
    await using program = start();
    await sleep(Math.random() * MAX_LIFETIME_MS);
    await program.kill();
  }
}

function postgresTarget(url: string): Target {
  const execute = (sql: string) => onPostgres(url, async (client) => void (await client.query(sql)));
  return {
    slowDown: () =>
      execute(`create function take_time() returns trigger language plpgsql
          as 'begin perform pg_sleep(0.2); return null; end';
        create trigger take_time after insert on user_groups execute function take_time()`),
    speedUp: () => execute('drop function take_time cascade'),
    count: () =>
      onPostgres(url, async (client) => {
        await client.query('begin; lock table user_groups in share mode');
        const { rows } = await client.query('select count(*)::integer as groups from user_groups');
        return rows[0].groups;
      }),
  };
}

function rowsOfStatistics(url: string): Promise<number> {
  return onPostgres(url, async (client) => {
    const { rows } = await client.query("select reltuples from pg_class where relname = 'user_groups'");
    return rows[0].reltuples;
  });
}

async function onPostgres<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  await using client = await SqlConnection.open(url);
  return await work(client);
}

function sqliteTarget(path: string): Target {
  return {
    slowDown: () =>
      change(
        path,
        `create trigger take_time after insert on user_groups begin select length(hex(randomblob(300000))); end`,
      ),
    speedUp: () => change(path, 'drop trigger take_time'),
    count: () => {
      const database = new DatabaseSync(path, { timeout: 5_000 });
      const row = database.prepare('select count(*) as groups from user_groups').get();
      database.close();
      return row?.groups as number;
    },
  };
}

function change(path: string, sql: string): void {
  const database = new DatabaseSync(path, { timeout: 5_000 });
  database.exec(sql);
  database.close();
}

function deleteFrom(path: string, table: string): void {
  change(path, `delete from ${table}`);
}

/** Returns all rows of all tables. */
function contentOf(path: string): Record<string, unknown[]> {
  const database = new DatabaseSync(path);
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
  const rows = tables.map(({ name }) => [name, database.prepare(`select * from ${name}`).all()]);
  database.close();
  return Object.fromEntries(rows);
}
