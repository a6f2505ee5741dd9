// UGS_BOOTSTRAP_API_TOKEN: the operator's own API token, created at start.

import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { mintApiToken } from '../../src/domain/token.ts';
import { databaseOf, describeOnEachDatabase } from '../support/database.ts';
import { createApiToken, Folder, runHosted, type Service, serve } from '../support/process.ts';
import { type Callable, serveHere } from '../support/service.ts';
import { runSql } from '../support/sql.ts';

const FILE = 'bootstrap-token';

describeOnEachDatabase('The bootstrap API token', (kind) => {
  const folder = Folder.of();
  const database = databaseOf(kind);

  function write(token: string): void {
    writeFileSync(folder.join(FILE), `${token}\n`);
    chmodSync(folder.join(FILE), 0o600);
  }

  function envWith(more: Record<string, string> = {}): Record<string, string> {
    return { ...database.env, UGS_BOOTSTRAP_API_TOKEN_FILE: FILE, ...more };
  }

  function start(more?: Record<string, string>): ReturnType<typeof serveHere> {
    return serveHere(folder, { ...envWith(more), UGS_BOOTSTRAP_API_TOKEN_FILE: folder.join(FILE) });
  }

  /** Starts the service, which must exit with 78 and one line, and returns the line. */
  async function refusal(more?: Record<string, string>): Promise<string> {
    const { code, stdout, stderr } = await runHosted(folder, ['serve'], { env: envWith(more) });
    assert.equal(code, 78);
    assert.equal(stdout.includes('listening'), false);
    assert.match(stderr, /^user-group-service: UGS_BOOTSTRAP_API_TOKEN [^\n]+\n$/);
    return stderr;
  }

  /** Returns the check of doctor, as `status message`. */
  async function checked(more?: Record<string, string>): Promise<string> {
    const { stdout } = await runHosted(folder, ['doctor', '--json'], { env: envWith(more) });
    const { status, message } = JSON.parse(stdout).checks.find(
      (check: { name: string }) => check.name === 'bootstrap API token',
    );
    return `${status} ${message}`;
  }

  async function tokens(): Promise<Record<string, unknown>[]> {
    const { stdout } = await runHosted(folder, ['api-token', 'list', '--json'], { env: database.env });
    return JSON.parse(stdout);
  }

  async function statusOf(service: Callable, token: string): Promise<number> {
    return (await service.call(token, 'GET', '/v1/api-tokens')).status;
  }

  const text = mintApiToken().reveal();

  it('is an admin token of the workspace "default", created once', async () => {
    write(text);
    for (let time = 0; time < 2; time++) {
      await using service = await start();
      assert.equal(await statusOf(service, text), 200);
      assert.equal(await checked(), 'ok is API token 1, which is active');
      const [{ name, workspace, environment, permission }, ...others] = (await tokens()) as [
        Record<string, unknown>,
      ];
      assert.deepEqual(
        { name, workspace, environment, permission, others },
        {
          name: 'bootstrap',
          workspace: 'default',
          environment: 'Customer',
          permission: 'admin',
          others: [],
        },
      );
    }
    const [event, ...others] = await runSql(
      database,
      "select actor from events where type = 'api_token.created'",
    );
    assert.deepEqual(others, []);
    const actor = { type: 'service', id: null, name: null, via: 'service' };
    assert.deepEqual(JSON.parse(String(event!.actor)), actor);
  });

  it('is added when the text changes; the old one still works until it is revoked', async () => {
    const next = mintApiToken().reveal();
    write(next);
    assert.equal(await checked(), 'ok the next start creates it');
    await using service = await start();
    assert.deepEqual([await statusOf(service, text), await statusOf(service, next)], [200, 200]);
    assert.equal((await service.call(next, 'DELETE', '/v1/api-tokens/1')).status, 204);
    assert.equal(await statusOf(service, text), 401);
  });

  it('refuses to start with the text of a revoked API token', async () => {
    write(text);
    assert.match(await refusal(), /is the text of API token 1, which was revoked/);
    assert.equal(await checked(), 'failed is API token 1, which was revoked: the next start is refused');
  });

  it('refuses to start with a text that a rotation has replaced', async () => {
    const { id, token } = await createApiToken(folder, ['--permission', 'admin'], { env: database.env });
    write(token);
    assert.match(await checked(), /^ok /);
    const { code } = await runHosted(folder, ['api-token', 'rotate', String(id)], { env: database.env });
    assert.equal(code, 0);
    assert.match(await refusal(), new RegExp(`is the text of API token ${id}, which has another text since`));
    assert.match(await checked(), /^failed .* which has another text since a rotation/);
  });

  it('refuses to start with the text of an API token without the permission admin', async () => {
    const { token } = await createApiToken(folder, [], { env: database.env });
    write(token);
    assert.match(await refusal(), /has the permission read-write/);
    assert.match(await checked(), /^failed .* which has the permission read-write/);
  });

  it('belongs to the configured workspace and environment, and stays there', async () => {
    const own = mintApiToken().reveal();
    write(own);
    const place = { UGS_BOOTSTRAP_WORKSPACE: 'acme', UGS_BOOTSTRAP_ENVIRONMENT: 'Testing' };
    {
      await using service = await start(place);
      const { json } = await service.call(own, 'GET', '/v1/api-tokens');
      assert.deepEqual([json.api_tokens.length, json.api_tokens[0].environment], [1, 'Testing']);
      assert.equal((await tokens()).find(({ workspace }) => workspace === 'acme')?.permission, 'admin');
    }
    for (const other of [{ UGS_BOOTSTRAP_WORKSPACE: 'default' }, { UGS_BOOTSTRAP_ENVIRONMENT: 'Customer' }]) {
      assert.match(await refusal({ ...place, ...other }), /is in another workspace or environment/);
      assert.match(
        await checked({ ...place, ...other }),
        /^failed .* is in another workspace or environment/,
      );
    }
    assert.match(await checked(place), /^ok is API token/);
  });

  // Checked before the database is opened.
  const malformed = {
    'another word': 'password',
    'a text without its last character': text.slice(0, -1),
    'a user group token': text.replace('uga_', 'ugt_'),
    'two tokens': `${mintApiToken().reveal()}\n${mintApiToken().reveal()}`,
  };
  for (const [what, content] of kind.name === 'SQLite' ? Object.entries(malformed) : []) {
    it(`refuses to start with a malformed text, without printing it: ${what}`, async () => {
      write(content);
      const line = await refusal();
      assert.match(line, /must be one API token/);
      assert.equal(line.includes(content), false);
    });
  }
});

describeOnEachDatabase('Processes that start together', (kind) => {
  it('create one bootstrap API token', async () => {
    using folder = new Folder();
    const database = await kind.create();
    const token = mintApiToken().reveal();
    const env = { ...database.env, UGS_BOOTSTRAP_API_TOKEN: token };
    const services: Service[] = [];
    try {
      const count = kind.name === 'SQLite' ? 1 : 4;
      services.push(...(await Promise.all(Array.from({ length: count }, () => serve(folder, { env })))));
      for (const service of services)
        assert.equal((await service.call(token, 'GET', '/v1/api-tokens')).status, 200);
      assert.equal((await runSql(database, 'select 1 from api_tokens')).length, 1);
    } finally {
      await Promise.all(services.map((service) => service.kill()));
      await database.drop();
    }
  });
});

describe('The file of the bootstrap API token', () => {
  it('is reported if other users can read it', async () => {
    using folder = new Folder();
    writeFileSync(folder.join(FILE), mintApiToken().reveal());
    chmodSync(folder.join(FILE), 0o644);
    await using service = await serve(folder, { env: { UGS_BOOTSTRAP_API_TOKEN_FILE: FILE } });
    await service.says(/bootstrap-token contains a secret and other users can read it/);
  });
});
