// API tokens and workspaces on the command line, with and without a service running on the same database.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { describeOnEachDatabase, type TestDatabase } from '../support/database.ts';
import {
  createApiToken,
  type Exit,
  Folder,
  run,
  runHosted,
  type Service,
  serve,
} from '../support/process.ts';
import { runSql } from '../support/sql.ts';
import { suiteStack } from '../support/suite.ts';

const API_TOKEN = /uga_[0-9A-Za-z]{49}/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

async function runJson(folder: Folder, ...args: string[]) {
  const { code, stdout } = await runHosted(folder, [...args, '--json']);
  assert.equal(code, 0);
  assert.match(stdout, /^[^\n]+\n$/);
  return JSON.parse(stdout);
}

function apiToken(folder: Folder, ...args: string[]): Promise<Exit> {
  return runHosted(folder, ['api-token', ...args]);
}

async function statusOf(service: Service, token: string): Promise<number> {
  return (await service.call(token, 'GET', '/api/user', { user_group_id: 'nobody' })).status;
}

describe('api-token create', () => {
  it('prints the token once, and reports a created database and workspace', async () => {
    using folder = new Folder();
    const first = await run(folder, ['api-token', 'create', '--workspace', 'acme']);
    assert.equal(first.code, 0);
    assert.match(
      first.stdout,
      /^Created API token 1 \(read-write, acme, Customer\)[^\n]*\n\nuga_[0-9A-Za-z]{49}\n$/,
    );
    assert.equal(first.stderr, 'Created database data/user-groups.db.\nCreated workspace acme.\n');
    const second = await apiToken(folder, 'create', '--workspace', 'acme');
    assert.equal(second.stderr, '');
    assert.notEqual(API_TOKEN.exec(second.stdout)?.[0], API_TOKEN.exec(first.stdout)?.[0]);
  });

  it('prints JSON with the value of every option', async () => {
    using folder = new Folder();
    const args = [
      '--workspace',
      'acme',
      '--environment',
      'Testing',
      '--permission',
      'resolve',
      '--name',
      'wall',
    ];
    const { token, ...rest } = await runJson(folder, 'api-token', 'create', ...args);
    assert.match(token, API_TOKEN);
    assert.deepEqual(rest, {
      id: 1,
      workspace: 'acme',
      environment: 'Testing',
      permission: 'resolve',
      name: 'wall',
      expires_at: null,
    });
  });

  const durations = {
    '1m': 60_000,
    '12h': 43_200_000,
    '90d': 7_776_000_000,
    '2w': 1_209_600_000,
    '1y': 31_536_000_000,
  };
  it('creates tokens that expire after --expires', async () => {
    using folder = new Folder();
    for (const [text, ms] of Object.entries(durations)) {
      const before = Date.now();
      const { expires_at: expiresAt } = await runJson(
        folder,
        'api-token',
        'create',
        '--workspace',
        'acme',
        '--expires',
        text,
      );
      assert.match(expiresAt, INSTANT);
      const createdAt = Date.parse(expiresAt) - ms;
      assert.ok(createdAt >= before && createdAt <= Date.now(), `${text}: ${expiresAt}`);
    }
  });

  const badArguments: string[][] = [
    [],
    ['--workspace', ' '],
    ['--workspace', 'a\nb'],
    ['--workspace', 'acme', '--environment', 'customer'],
    ['--workspace', 'acme', '--permission', 'owner'],
    ['--workspace', 'acme', '--expires', '0d'],
    ['--workspace', 'acme', '--expires', '90'],
    ['--workspace', 'acme', '--expires', '101y'],
    ['--workspace', 'acme', '--name', ''],
    ['--workspace', 'acme', '--expire', '1d'],
  ];
  for (const args of badArguments) {
    it(`exits with 2 and creates no database: ${JSON.stringify(args)}`, async () => {
      using folder = new Folder();
      const { code, stdout, stderr } = await apiToken(folder, 'create', ...args);
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      assert.match(stderr, /^user-group-service: [^\n]+\n/);
      assert.equal(existsSync(folder.join('data')), false);
    });
  }
});

describe('api-token list', () => {
  it('prints each API token with its status, without the token itself', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder, ['--name', 'first']);
    await createApiToken(folder, [
      '--environment',
      'Testing',
      '--permission',
      'read-only',
      '--expires',
      '1y',
    ]);
    await apiToken(folder, 'revoke', '1');

    const human = await apiToken(folder, 'list');
    const [heading, first, second, ...rest] = human.stdout.split('\n');
    assert.match(
      heading!,
      /^ID +WORKSPACE +ENVIRONMENT +PERMISSION +STATUS +CREATED +EXPIRES +LAST USED +NAME$/,
    );
    assert.match(first!, /^1 +default +Customer +read-write +revoked +\S+Z +- +- {2,}first$/);
    assert.match(second!, /^2 +default +Testing +read-only +active +\S+Z +\S+Z +- +-$/);
    assert.deepEqual(rest, ['']);
    assert.doesNotMatch(human.stdout, API_TOKEN);

    const json = await runJson(folder, 'api-token', 'list');
    assert.deepEqual(
      json.map(({ created_at, expires_at, revoked_at, ...row }: Record<string, string>) => row),
      [
        {
          id: 1,
          workspace: 'default',
          environment: 'Customer',
          permission: 'read-write',
          name: 'first',
          status: 'revoked',
          last_used_at: null,
          previous_token_expires_at: null,
        },
        {
          id: 2,
          workspace: 'default',
          environment: 'Testing',
          permission: 'read-only',
          name: null,
          status: 'active',
          last_used_at: null,
          previous_token_expires_at: null,
        },
      ],
    );
    for (const instant of [json[0].created_at, json[0].revoked_at, json[1].expires_at])
      assert.match(instant, INSTANT);
    assert.deepEqual([json[0].expires_at, json[1].revoked_at], [null, null]);
    assert.equal(JSON.stringify(json).includes(token), false);
  });

  it('is empty on a new database', async () => {
    using folder = new Folder();
    await runHosted(folder, ['migrate']);
    assert.deepEqual(await runJson(folder, 'api-token', 'list'), []);
  });
});

describe('api-token revoke', () => {
  it('exits with 3 and one line if the API token does not exist', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    const { code, stdout, stderr } = await apiToken(folder, 'revoke', '2');
    assert.deepEqual({ code, stdout }, { code: 3, stdout: '' });
    assert.match(stderr, /^user-group-service: API token 2 does not exist[^\n]*\n$/);
  });

  it('exits with 2 if the argument is the token itself, and does not print it', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    const { code, stderr } = await apiToken(folder, 'revoke', token);
    assert.equal(code, 2);
    assert.match(stderr, /'\[redacted\]' is invalid for argument 'id'/);
  });

  for (const id of ['0', '-1', '1.5', 'one', '9999999999999999']) {
    it(`exits with 2 if the id is invalid: "${id}"`, async () => {
      using folder = new Folder();
      assert.equal((await apiToken(folder, 'revoke', '--', id)).code, 2);
    });
  }
});

describe('api-token rotate', () => {
  it('prints the new text once, and until when the replaced one works', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    const first = await apiToken(folder, 'rotate', '1', '--grace-period', '0');
    assert.deepEqual([first.code, first.stderr], [0, '']);
    assert.match(
      first.stdout,
      /^Rotated API token 1\. The replaced text is rejected from now on\. [^\n]*\n\nuga_[0-9A-Za-z]{49}\n$/,
    );
    assert.equal(first.stdout.includes(token), false);
    const second = await apiToken(folder, 'rotate', '1', '--grace-period', '1h');
    assert.match(second.stdout, /The replaced text works until \S+Z\./);
    const before = Date.now();
    const { token: third, ...rest } = await runJson(
      folder,
      'api-token',
      'rotate',
      '1',
      '--grace-period',
      '30d',
    );
    assert.match(third, API_TOKEN);
    assert.deepEqual(Object.keys(rest), ['id', 'previous_token_expires_at']);
    const graceMs = Date.parse(rest.previous_token_expires_at) - before;
    assert.ok(graceMs >= 30 * 86_400_000 && graceMs < 30 * 86_400_000 + 60_000);
    const [listed] = await runJson(folder, 'api-token', 'list');
    assert.equal(listed.previous_token_expires_at, rest.previous_token_expires_at);
  });

  it('exits with 65 if the API token is not active, and with 3 if it does not exist', async () => {
    using folder = new Folder();
    await createApiToken(folder);
    await apiToken(folder, 'revoke', '1');
    const { code, stdout, stderr } = await apiToken(folder, 'rotate', '1');
    assert.deepEqual(
      { code, stdout, stderr },
      {
        code: 65,
        stdout: '',
        stderr: 'user-group-service: API token 1 is revoked; create a new one\n',
      },
    );
    assert.equal((await apiToken(folder, 'rotate', '2')).code, 3);
  });

  for (const duration of ['31d', '0h', '1', '1y']) {
    it(`exits with 2 if the grace period is invalid: ${duration}`, async () => {
      using folder = new Folder();
      assert.equal((await apiToken(folder, 'rotate', '1', '--grace-period', duration)).code, 2);
    });
  }
});

describe('api-token generate', () => {
  it('prints a different text each time, without a database', async () => {
    using folder = new Folder();
    const first = await apiToken(folder, 'generate');
    assert.match(first.stdout, /^uga_[0-9A-Za-z]{49}\n$/);
    const second = await runJson(folder, 'api-token', 'generate');
    assert.deepEqual(Object.keys(second), ['token']);
    assert.notEqual(`${second.token}\n`, first.stdout);
    assert.equal(existsSync(folder.join('data')), false);
  });
});

describe('workspace list', () => {
  it('prints the workspaces that were created with API tokens', async () => {
    using folder = new Folder();
    for (const name of ['beta', 'alpha', 'beta'])
      await apiToken(folder, 'create', '--workspace', name, '--create-workspace');
    const { code, stdout } = await runHosted(folder, ['workspace', 'list']);
    assert.equal(code, 0);
    assert.match(stdout, /^NAME +CREATED\nalpha +\S+Z\nbeta +\S+Z\n$/);
    const json = await runJson(folder, 'workspace', 'list');
    assert.deepEqual(
      json.map(({ name }: { name: string }) => name),
      ['alpha', 'beta'],
    );
    for (const { created_at: createdAt } of json) assert.match(createdAt, INSTANT);
  });
});

describeOnEachDatabase('API tokens while the service is running', (kind) => {
  const stack = suiteStack();
  const folder = stack.use(new Folder());
  let database: TestDatabase;
  let service: Service;
  before(async () => {
    database = stack.use(await kind.create());
    service = stack.use(await serve(folder, { env: database.env }));
  });

  function create(...args: string[]): Promise<{ id: number; token: string }> {
    return createApiToken(folder, args, { env: database.env });
  }

  function command(...args: string[]): Promise<Exit> {
    return runHosted(folder, ['api-token', ...args], { env: database.env });
  }

  /** Returns the entry of an API token in the list. */
  async function listed(id: number): Promise<Record<string, unknown>> {
    const { stdout } = await runHosted(folder, ['api-token', 'list', '--json'], { env: database.env });
    return JSON.parse(stdout).find((row: { id: number }) => row.id === id);
  }

  it('work after creation and are rejected after revocation, from the next request on', async () => {
    const { id, token } = await create();
    assert.equal(await statusOf(service, token), 404);
    assert.equal((await listed(id)).status, 'active');
    assert.equal((await command('revoke', String(id))).code, 0);
    assert.equal(await statusOf(service, token), 401);
    const { last_used_at: _, ...revoked } = await listed(id);
    assert.equal(revoked.status, 'revoked');
    assert.equal((await command('revoke', String(id))).stdout, `Revoked API token ${id}.\n`);
    assert.equal((await command('revoke', String(id), '--json')).stdout, `{"id":${id},"status":"revoked"}\n`);
    const { last_used_at: __, ...again } = await listed(id);
    assert.deepEqual(again, revoked);
    assert.equal((await command('revoke', '999999')).code, 3);
  });

  it('have a new text after a rotation, and the replaced one until its grace period ends', async () => {
    const { id, token } = await create();
    const rotated = async (...args: string[]): Promise<string> => {
      const { stdout } = await command('rotate', String(id), '--json', ...args);
      return JSON.parse(stdout).token;
    };
    const second = await rotated('--grace-period', '1h');
    assert.deepEqual(await Promise.all([token, second].map((each) => statusOf(service, each))), [404, 404]);
    const third = await rotated();
    const statuses = [token, second, third].map((each) => statusOf(service, each));
    assert.deepEqual(await Promise.all(statuses), [401, 401, 404]);
  });

  it('are recorded as changed by the operator on the command line', async () => {
    const { id } = await create();
    await command('rotate', String(id));
    await command('revoke', String(id));
    const rows = await runSql(
      database,
      `select type, actor from events where target_type = 'api_token' and target_id = '${id}' order by event_id`,
    );
    const actor = { type: 'command_line', id: null, name: null, via: 'command_line' };
    assert.deepEqual(
      rows.map((row) => [row.type, JSON.parse(String(row.actor))]),
      ['created', 'rotated', 'revoked'].map((change) => [`api_token.${change}`, actor]),
    );
  });

  it('are rejected and listed as expired after their expiry', async () => {
    const { id, token } = await create('--expires', '1y');
    assert.equal(await statusOf(service, token), 404);
    const { expires_at: expiresAt } = await listed(id);
    assert.match(String(expiresAt), INSTANT);
    await runSql(database, `update api_tokens set expires_at = ${Date.now()} where api_token_id = ${id}`);
    assert.equal(await statusOf(service, token), 401);
    assert.equal((await listed(id)).status, 'expired');
  });
});

describe('While the service is running', () => {
  it('commands use the database of --database-url, which takes precedence over DATABASE_URL', async () => {
    using folder = new Folder();
    await using service = await serve(folder, { env: { DATABASE_URL: 'sqlite:here.db' } });
    const byFlag = await createApiToken(folder, ['--database-url', 'sqlite:here.db']);
    assert.equal(await statusOf(service, byFlag.token), 404);
    const env = { DATABASE_URL: 'sqlite:elsewhere.db' };
    const list = ['api-token', 'list', '--json'];
    const { stdout } = await run(folder, [...list, '--database-url', 'sqlite:here.db'], { env });
    assert.equal(JSON.parse(stdout).length, 1);
    const elsewhere = await run(folder, list, { env });
    assert.match(elsewhere.stderr, /^user-group-service: database elsewhere\.db does not exist;/);
  });
});
