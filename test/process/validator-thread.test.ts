// Contract: a thread that cannot check properties gives no verdict about them or their schema.

import assert from 'node:assert/strict';
import { cpSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { describeOnEachDatabase, sqlite } from '../support/database.ts';
import { assertProblem } from '../support/problem.ts';
import {
  createApiToken,
  eventually,
  Folder,
  PROGRAM,
  run,
  ServedDatabase,
  serve,
  served,
} from '../support/process.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const THREAD = 'src/operations/property-schema/validator/thread.ts';

describeOnEachDatabase('A service whose files are being replaced', (kind) => {
  it('answers 500 while the thread that checks properties cannot be loaded, and works afterwards', async () => {
    using folder = new Folder();
    for (const part of ['bin', 'src', 'package.json'])
      cpSync(join(ROOT, part), folder.join(part), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), folder.join('node_modules'));
    await using database = await kind.create();
    const { env } = database;
    await using service = await serve(folder, { env, command: folder.join('bin/user-group-service.js') });
    const { token } = await createApiToken(folder, ['--permission', 'admin'], { env });
    const putSchema = (schema: unknown) =>
      service.call(token, 'PUT', '/v1/property-schema', { schema, mode: 'enforce' });
    renameSync(folder.join(THREAD), folder.join('moved'));
    assertProblem(await putSchema({ required: ['plan'] }), 'internal_error');
    await service.says(/the thread that checks properties failed[^\n]*thread\.ts/);
    renameSync(folder.join('moved'), folder.join(THREAD));
    // A thread that the failure has started may still fail to load.
    await eventually('the property schema to be stored', async () => {
      const { status } = await served(() => putSchema({ required: ['plan'] }));
      return status === 201;
    });
    assertProblem(
      await service.call(token, 'GET', '/api/user', { user_group_id: 'a', name: 'A' }),
      'properties_invalid',
    );
  });
});

describe('A service whose working directory was deleted', () => {
  it('starts the threads that check properties', async () => {
    await using running = await ServedDatabase.start(sqlite, ['--permission', 'admin']);
    rmSync(running.folder.path, { recursive: true });
    const schema = { schema: { required: ['plan'] }, mode: 'enforce' };
    const { status } = await running.service.call(running.token, 'PUT', '/v1/property-schema', schema);
    assert.equal(status, 201);
  });

  it('does not start with a relative path to its database, which would lead to another directory', async () => {
    using folder = new Folder();
    const command = 'mkdir deleted; cd deleted; rmdir ../deleted; exec "$0" "$@"';
    for (const args of [['serve'], ['start']]) {
      const script = ['-c', command, process.execPath, PROGRAM, ...args, '--port', '0'];
      const { code, stdout, stderr } = await run(folder, script, { command: 'sh' });
      assert.deepEqual({ code, stdout }, { code: 78, stdout: '' });
      assert.match(stderr, /^user-group-service: [^\n]+ because the working directory was deleted\n$/);
    }
  });
});
