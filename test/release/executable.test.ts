// The single executable, built from this checkout, runs without Node, packages or any other file of the
// checkout.

import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { buildExecutable } from '../../scripts/release/executable.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { send } from '../support/http.ts';
import { createApiToken, Folder, Program, run, serve, served } from '../support/process.ts';

const LIMIT_MS = 120_000;
const WITHOUT_NODE = { PATH: '', UGS_THREADS: '3' };

describe('The single executable', () => {
  const folder = Folder.of();
  const command = folder.join('user-group-service');
  before(() => buildExecutable({ node: process.execPath, work: folder.path, output: command }), {
    timeout: LIMIT_MS,
  });

  it('sets up a data directory with one command and answers the first request', async () => {
    using site = new Folder();
    await using program = new Program(site, ['start'], { command, env: WITHOUT_NODE });
    await program.says(/Run "user-group-service --help"/);
    const [, url = ''] = await program.says(/Address +(http:\S+)/);
    const token = readFileSync(site.join('data/api-token'), 'utf8').trim();
    const body = { user_group_id: 'customer-1', name: 'Acme' };
    assert.equal((await send(url, { token, path: '/api/user', body })).json.new_user_group, true);
    program.signal('SIGTERM');
    assert.deepEqual((({ code, stderr }) => ({ code, stderr }))(await program.exit()), {
      code: 0,
      stderr: '',
    });
  });

  it('serves the API description, and the pages with their style sheets and scripts', async () => {
    using site = new Folder();
    await using service = await serve(site, { command, env: WITHOUT_NODE });
    for (const page of ['/docs', '/console/sign-in']) {
      const { status, text } = await service.send({ token: null, path: page });
      assert.equal(status, 200, page);
      const assets = Array.from(text.matchAll(/"(\/(?:docs|console)\/assets\/[^"]+)"/g), ([, path]) => path!);
      assert.ok(assets.length >= 2, text);
      for (const path of [...assets, '/openapi.json'])
        assert.equal((await service.send({ token: null, path })).status, 200, path);
    }
  });

  describeOnEachDatabase('The single executable', (kind) => {
    it('serves with several threads, checks properties in another one, and passes doctor', async () => {
      using site = new Folder();
      await using database = await kind.create();
      const env = { ...database.env, ...WITHOUT_NODE };
      const { token } = await createApiToken(site, ['--permission', 'admin'], { command, env });
      await using service = await serve(site, { command, env });
      await service.says(/"threads":3,[^\n]*"msg":"listening"/);
      const schema = { type: 'object', properties: { seats: { type: 'integer' } } };
      const rule = { mode: 'enforce', schema };
      const put = await served(() => service.call(token, 'PUT', '/v1/property-schema', rule));
      assert.equal(put.status, 201, put.text);
      const group = { user_group_id: 'one', name: 'One', properties: { seats: 'many' } };
      const refused = await served(() => service.call(token, 'GET', '/api/user', group));
      assert.equal(refused.json.code, 'properties_invalid');
      const doctor = await run(site, ['doctor', '--json'], { command, env });
      const { checks } = JSON.parse(doctor.stdout);
      assert.deepEqual(
        checks.filter(({ status }: { status: string }) => status === 'failed'),
        [],
      );
      await service.kill();
    });
  });

  it('backs up and restores a database', async () => {
    using site = new Folder();
    const options = { command, env: WITHOUT_NODE };
    await createApiToken(site, [], options);
    assert.equal((await run(site, ['backup', 'copy.db'], options)).code, 0);
    rmSync(site.join('data/user-groups.db'));
    const { code, stderr } = await run(site, ['restore', 'copy.db'], options);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  });
});
