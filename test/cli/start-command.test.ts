// The quick start: one command creates what is missing, runs the service, and prints an example request that
// works.

import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { before, describe, it } from 'node:test';
import { freePort } from '../support/connection/free-port.ts';
import { LoopbackServer } from '../support/connection/loopback-server.ts';
import { send } from '../support/http.ts';
import { Folder, Program, type ProgramOptions, run, runHosted } from '../support/process.ts';
import { suiteStack } from '../support/suite.ts';

class QuickStart extends Program {
  url = '';
  token = '';

  static async ready(folder: Folder, options?: ProgramOptions, args: string[] = []): Promise<QuickStart> {
    const program = new QuickStart(folder, ['start', ...args], options);
    try {
      await program.says(/Press Ctrl-C to stop/);
      program.url = /Address +(http:\S+)/.exec(program.stdout)?.[1] ?? '';
      program.token = /API token +(uga_\w+)/.exec(program.stdout)?.[1] ?? '';
      return program;
    } catch (error) {
      await program.kill();
      throw error;
    }
  }

  /** Returns the token of a fixed group. */
  async groupToken(): Promise<string> {
    const body = { user_group_id: 'customer-1', name: 'Acme' };
    const { json } = await send(this.url, { token: this.token, body });
    return json.user_group.token;
  }

  async end(): Promise<void> {
    this.signal('SIGINT');
    assert.equal((await this.exit()).code, 0);
  }
}

/** Data that a first start has left, with a user group. */
class UsedData {
  readonly #folder = Folder.of();
  token = '';
  groupToken = '';

  /** Returns the data of a suite, which exist from before its tests until after them. */
  static of(): UsedData {
    const used = new UsedData();
    before(() => used.#create());
    return used;
  }

  async #create(): Promise<void> {
    await using first = await QuickStart.ready(this.#folder);
    this.token = first.token;
    this.groupToken = await first.groupToken();
    await first.end();
  }

  /** Returns a folder with a copy. */
  copy(): Folder {
    const folder = new Folder();
    cpSync(this.#folder.path, folder.path, { recursive: true });
    return folder;
  }
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

async function apiTokens(folder: Folder): Promise<Record<string, unknown>[]> {
  return JSON.parse((await runHosted(folder, ['api-token', 'list', '--json'])).stdout);
}

describe('The first start', () => {
  const stack = suiteStack();
  const folder = stack.use(new Folder());
  let program: QuickStart;
  before(async () => {
    program = stack.use(await QuickStart.ready(folder, { env: { UGS_API_TOKEN: 'uga_other' } }));
  });

  it('stores all data in the directory of --data, and names it with one slash', async () => {
    using folder = new Folder();
    await using program = await QuickStart.ready(folder, {}, ['--data', 'else/where/']);
    assert.match(program.stdout, / database in else\/where\/\. .* \(stored in else\/where\/api-token\)/);
    assert.equal(modeOf(folder.join('else/where/user-groups.db')), '600');
    assert.throws(() => statSync(folder.join('data')), { code: 'ENOENT' });
  });

  it('creates the database, a key file and an API token that only their owner can read', () => {
    assert.equal(modeOf(folder.join('data/user-groups.db')), '600');
    assert.equal(modeOf(folder.join('data/token-keys')), '600');
    assert.equal(modeOf(folder.join('data/api-token')), '600');
    assert.equal(modeOf(folder.join('data/admin-token')), '600');
    assert.equal(modeOf(folder.join('data')), '700');
    assert.equal(readFileSync(folder.join('data/api-token'), 'utf8'), `${program.token}\n`);
    assert.match(
      program.stdout,
      /Created a new database in data\/\. Created an API token \(stored in data\/api-token\)/,
    );
  });

  it('creates the workspace "default" with a read-write and an admin API token for Customer', async () => {
    const tokens = await apiTokens(folder);
    const shared = { workspace: 'default', environment: 'Customer', status: 'active' };
    assert.deepEqual(
      tokens.map(({ workspace, environment, permission, status }) => ({
        workspace,
        environment,
        status,
        permission,
      })),
      [
        { ...shared, permission: 'read-write' },
        { ...shared, permission: 'admin' },
      ],
    );
    const { stdout } = await runHosted(folder, ['workspace', 'list', '--json']);
    assert.deepEqual(
      JSON.parse(stdout).map(({ name }: { name: string }) => name),
      ['default'],
    );
  });

  it('does not mention DATABASE_URL if it is not set', () => {
    assert.doesNotMatch(program.stdout, /DATABASE_URL/);
  });

  it('has stored both API tokens when it is ready', async () => {
    using folder = new Folder();
    const port = await freePort();
    await using program = new QuickStart(folder, ['start', '--port', String(port)]);
    const url = `http://127.0.0.1:${port}/readyz`;
    const isReady = () =>
      fetch(url, { headers: { connection: 'close' } }).then(
        ({ ok }) => ok,
        () => false,
      );
    while (!(await isReady())) assert.equal(program.stderr, '');
    for (const file of ['api-token', 'admin-token']) assert.equal(modeOf(folder.join('data', file)), '600');
    await program.end();
  });

  it('ignores an API token for commands with --url', () => {
    assert.equal(program.stdout.includes('uga_other'), false);
  });

  it('stores the admin API token in a file, and does not print it', async () => {
    const token = readFileSync(folder.join('data/admin-token'), 'utf8').trim();
    const { status } = await send(program.url, { path: '/v1/api-tokens', token });
    assert.equal(status, 200);
    assert.match(program.stdout, /for administration is stored in data\/admin-token/);
    assert.equal(program.stdout.includes(token), false);
  });

  it('prints a curl command that works when pasted', async () => {
    const command = /^ {2}curl [\s\S]*?\n\n/m.exec(program.stdout)?.[0] ?? '';
    const pasted = new Program(folder, ['-c', command.replace('curl', 'curl -sS')], { command: 'sh' });
    const { code, stdout, stderr } = await pasted.exit();
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const response = JSON.parse(stdout);
    assert.equal(response.success, 1);
    assert.equal(response.new_user_group, true);
    assert.equal(response.user_group.provided_id, 'customer-1');
    assert.equal(response.user_group.name, 'Acme');
  });

  it('exits with 75 and one line that names the process that is serving the directory', async () => {
    const { code, stdout, stderr } = await run(folder, ['start']);
    assert.equal(code, 75);
    assert.equal(stdout, '');
    const owner = process.platform === 'linux' ? ` \\(process ${program.id}\\)` : '';
    const message = `^user-group-service: another process is serving data/user-groups\\.db${owner}; .*\\n$`;
    assert.match(stderr, new RegExp(message));
  });
});

describe('A second start', () => {
  const used = UsedData.of();

  it('uses the existing data, with the same API token and the same user group tokens', async () => {
    using folder = used.copy();
    await using second = await QuickStart.ready(folder);
    assert.match(second.stdout, /Using the existing database in data\/ with its user groups and tokens/);
    assert.match(second.stdout, /Using the existing API token/);
    assert.equal(second.token, used.token);
    assert.equal(await second.groupToken(), used.groupToken);
    assert.equal((await apiTokens(folder)).length, 2);
  });

  const losses: Record<string, (folder: Folder) => Promise<unknown> | undefined> = {
    'is revoked': (folder) => runHosted(folder, ['api-token', 'revoke', '1']),
    'is lost with its file': (folder) => {
      rmSync(folder.join('data/api-token'));
      return undefined;
    },
    'is damaged and its file readable for others': (folder) => {
      writeFileSync(folder.join('data/api-token'), 'uga_junk');
      chmodSync(folder.join('data/api-token'), 0o644);
      return undefined;
    },
  };
  for (const [loss, lose] of Object.entries(losses)) {
    it(`creates a new API token if the first ${loss}, and keeps the groups`, async () => {
      using folder = used.copy();
      await lose(folder);

      await using second = await QuickStart.ready(folder);
      assert.match(second.stdout, /Using the existing database .* Created an API token/);
      assert.notEqual(second.token, used.token);
      assert.equal(readFileSync(folder.join('data/api-token'), 'utf8'), `${second.token}\n`);
      assert.equal(modeOf(folder.join('data/api-token')), '600');
      assert.equal(await second.groupToken(), used.groupToken);
    });
  }

  describe('after the workspace was renamed', () => {
    const losses: Record<string, (folder: Folder) => Promise<unknown> | undefined> = {
      'its API tokens were revoked': async (folder) => {
        for (const id of ['1', '2']) await runHosted(folder, ['api-token', 'revoke', id]);
      },
      'the file of an API token was lost': (folder) => {
        rmSync(folder.join('data/api-token'));
        return undefined;
      },
      'the files of both API tokens were lost': (folder) => {
        for (const file of ['api-token', 'admin-token']) rmSync(folder.join('data', file));
        return undefined;
      },
    };
    for (const [loss, lose] of Object.entries(losses)) {
      it(`creates new API tokens in it, and no other workspace, if ${loss}`, async () => {
        using folder = used.copy();
        await runHosted(folder, ['workspace', 'rename', 'default', 'acme']);
        await lose(folder);

        await using second = await QuickStart.ready(folder);
        assert.equal(await second.groupToken(), used.groupToken);
        const workspaces = JSON.parse((await runHosted(folder, ['workspace', 'list', '--json'])).stdout);
        assert.deepEqual(
          workspaces.map(({ name }: { name: string }) => name),
          ['acme'],
        );
      });
    }
  });
});

describe('start', () => {
  it('ignores DATABASE_URL, and says so', async () => {
    using folder = new Folder();
    for (const env of [
      { DATABASE_URL: 'sqlite:other/other.db' },
      { DATABASE_URL: 'nonsense' },
      { DATABASE_URL_FILE: 'nowhere' },
    ]) {
      await using program = await QuickStart.ready(folder, { env });
      const [name] = Object.keys(env);
      assert.match(
        program.stdout,
        new RegExp(`\n${name} is set but ignored: start keeps all data in data/\\. Use serve .*\n`),
      );
      assert.match(await program.groupToken(), /^ugt_/);
      assert.throws(() => statSync(folder.join('other')), { code: 'ENOENT' });
      await program.end();
    }
  });

  it('exits with 75 and one line that names the port if the port is in use', async () => {
    using folder = new Folder();
    await using blocker = await LoopbackServer.listen(createServer());
    const { port } = blocker;
    const { code, stdout, stderr } = await run(folder, ['start', '--port', String(port)]);
    assert.equal(code, 75);
    assert.equal(stdout, '');
    assert.equal(
      stderr,
      `user-group-service: port ${port} is already in use; choose another port with --port or PORT\n`,
    );
  });

  for (const data of ['~/data', './~data', './ data', '$HOME/data', '"data"', ' data', 'data?mode=ro'])
    it(`exits with 2 and one line that names --data, and creates nothing: ${data}`, async () => {
      using folder = new Folder();
      const { code, stderr } = await runHosted(folder, ['start', '--data', data]);
      assert.equal(code, 2);
      assert.match(
        stderr,
        /^user-group-service: option '--data <directory>' argument '.+' is invalid\. .+\n/,
      );
      assert.deepEqual(readdirSync(folder.path), []);
    });

  it('exits with 78 and one line if the file of the API token cannot be used', async () => {
    using folder = new Folder();
    mkdirSync(folder.join('data/api-token'), { recursive: true });
    const { code, stdout, stderr } = await run(folder, ['start']);
    assert.equal(code, 78);
    assert.equal(stdout, '');
    assert.match(stderr, /^user-group-service: cannot use data\/api-token: [^\n]+\n$/);
  });
});
