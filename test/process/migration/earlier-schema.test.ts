// Every schema that a version of the service has written: doctor checks it, restore restores it, and serve
// migrates it. Those versions wrote the databases.

import assert from 'node:assert/strict';
import { globSync, renameSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { postgres, sqlite, type TestDatabase } from '../../support/database.ts';
import {
  countGroups,
  type FrozenAdministration,
  type FrozenDatabase,
  frozenDatabases,
  thaw,
} from '../../support/migration/frozen-database.ts';
import { Folder, runHosted } from '../../support/process.ts';
import { type Callable, serveHere } from '../../support/service.ts';
import { suiteStack } from '../../support/suite.ts';

const ENGINES = [
  { kind: sqlite, engine: 'sqlite', migrations: 'src/store/sqlite/schema/migrations/*.sql' },
  { kind: postgres, engine: 'postgres', migrations: 'src/store/postgres/schema/migrations/*.sql' },
] as const;

interface Check {
  name: string;
  status: string;
  message: string;
}

for (const { kind, engine, migrations } of ENGINES) {
  const frozen = frozenDatabases(engine);
  const newest = globSync(migrations).length;

  it(`there is a frozen database of each schema (${kind.name})`, () => {
    const numbers = Array.from({ length: newest }, (_, index) => index + 1);
    assert.deepEqual(
      frozen.map(({ schema }) => schema),
      numbers,
    );
  });

  for (const database of frozen) {
    describe(`a database of schema ${database.schema} (${kind.name})`, () => {
      const stack = suiteStack();
      const folder = stack.use(new Folder());
      let thawed: TestDatabase;
      before(async () => {
        thawed = stack.use(await thaw(database, kind));
      });

      it('is checked by doctor, which finds that its keys fit', async () => {
        const { stdout, stderr } = await runHosted(folder, ['doctor', '--json'], thawed);
        assert.equal(stderr, '');
        const checks = (JSON.parse(stdout).checks as Check[]).filter(({ name }) => /schema|keys/.test(name));
        const pending = newest - database.schema;
        assert.deepEqual(
          checks.map(({ name, status, message }) => [
            name,
            status,
            /^\d+|\d+(?= sampled)/.exec(message)?.[0],
          ]),
          [
            ['schema', pending === 0 ? 'ok' : 'warning', pending === 0 ? undefined : String(pending)],
            ['keys', 'ok', String(countGroups(database.contents))],
          ],
        );
      });

      it('is listed by key list', async () => {
        const { stdout, code } = await runHosted(folder, ['key', 'list', '--json'], thawed);
        assert.equal(code, 0);
        const [{ registered, tokens }] = JSON.parse(stdout);
        assert.deepEqual([registered, tokens], [true, countGroups(database.contents)]);
      });

      // Last on this database, because it migrates it.
      it('is migrated by serve, which logs each migration, and keeps every group, token and document', async () => {
        const log = await assertServes(folder, thawed.env, database);
        const lines = log.map((line) => JSON.parse(line));
        const steps = Array.from({ length: newest - database.schema }, (_, index) => database.schema + index);
        for (const message of ['migrating the database', 'migrated the database']) {
          const found = lines.filter(({ msg }) => msg === message);
          assert.deepEqual(
            found.map(({ fromSchema, toSchema, migration }) => [fromSchema, toSchema, migration.slice(0, 4)]),
            steps.map((from) => [from, from + 1, String(from + 1).padStart(4, '0')]),
          );
          if (message.startsWith('migrated')) for (const { tookMs } of found) assert.ok(tookMs >= 0);
        }
      });

      if (kind !== sqlite) return;

      it('is restored from a backup', async () => {
        await using other = await thaw(database, kind);
        const path = other.url.slice('sqlite:'.length);
        renameSync(path, folder.join('backup'));
        const { code, stdout, stderr } = await runHosted(folder, ['restore', 'backup'], other);
        assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
        const restored = `Restored ${countGroups(database.contents)} user groups to ${path}. `;
        assert.ok(stdout.startsWith(restored), stdout);
        await assertServes(folder, other.env, database);
      });
    });
  }
}

/** Returns the lines of the log. */
async function assertServes(
  folder: Folder,
  env: Record<string, string>,
  { contents }: FrozenDatabase,
): Promise<readonly string[]> {
  await using service = await serveHere(folder, env);
  for (const { provided_id, name, token } of contents.userGroups) {
    const { status, json } = await service.call(contents.apiToken, 'POST', '/v1/resolve', { token });
    assert.equal(status, 200);
    assert.deepEqual([json.user_group.provided_id, json.user_group.name], [provided_id, name]);
    const read = await service.call(contents.apiToken, 'GET', `/v1/user-groups/${provided_id}`);
    assert.equal(read.json.user_group.token, token);
  }
  if (contents.administration) await assertAdministered(service, contents.administration);
  return service.logLines;
}

async function assertAdministered(
  service: Callable,
  { apiToken, configuration, suspendedToken }: FrozenAdministration,
): Promise<void> {
  const { json } = await service.call(apiToken, 'GET', '/v1/config');
  assert.partialDeepStrictEqual(json, configuration);
  const { status } = await service.call(apiToken, 'POST', '/v1/resolve', { token: suspendedToken });
  assert.equal(status, 404);
}
