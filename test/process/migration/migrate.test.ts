// Schema migrations run by a command or by concurrent processes, and refused for a newer schema.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { describeOnEachDatabase } from '../../support/database.ts';
import { Folder, run, runHosted } from '../../support/process.ts';

const STORES = new URL('../../../src/store/', import.meta.url);
const MIGRATIONS = migrationsOf('sqlite');
const FOLDERS = { SQLite: 'sqlite', PostgreSQL: 'postgres', Citus: 'postgres' };
const PROCESSES = 4;

describe('migrate', () => {
  it('prints the applied migrations, and then that the schema is up to date', async () => {
    using folder = new Folder();
    const first = await run(folder, ['migrate']);
    assert.equal(first.code, 0);
    assert.equal(first.stdout, `Applied ${MIGRATIONS.join(', ')}.\n`);
    assert.equal(first.stderr, 'Created database data/user-groups.db.\n');
    const second = await runHosted(folder, ['migrate']);
    assert.deepEqual(
      { code: second.code, stdout: second.stdout, stderr: second.stderr },
      { code: 0, stdout: 'The schema is up to date.\n', stderr: '' },
    );
  });

  it('prints JSON', async () => {
    using folder = new Folder();
    const json = async () => JSON.parse((await runHosted(folder, ['migrate', '--json'])).stdout);
    assert.deepEqual(await json(), { applied: MIGRATIONS });
    assert.deepEqual(await json(), { applied: [] });
  });

  for (const command of [['migrate'], ['serve'], ['api-token', 'list']]) {
    it(`refuses a database of a newer version with 78 and one line: ${command.join(' ')}`, async () => {
      using folder = new Folder();
      await runHosted(folder, ['migrate']);
      const database = new DatabaseSync(folder.join('data/user-groups.db'));
      database.exec("insert into schema_migrations values (9999, '9999-from-the-future.sql', 0)");
      database.close();
      const { code, stdout, stderr } = await runHosted(folder, command);
      assert.deepEqual({ code, stdout }, { code: 78, stdout: '' });
      assert.match(stderr, /^user-group-service: [^\n]*is newer than this version [^\n]*\n$/);
    });
  }
});

describeOnEachDatabase(`${PROCESSES} processes that migrate concurrently`, (kind) => {
  it('apply each migration once, and all of them succeed', async () => {
    using folder = new Folder();
    await using database = await kind.create();
    const migrate = () => run(folder, ['migrate', '--json'], { env: database.env });
    const exits = await Promise.all(Array.from({ length: PROCESSES }, migrate));
    const failed = exits.filter(({ code }) => code !== 0);
    assert.deepEqual(failed, []);
    const applied = exits.flatMap(({ stdout }) => JSON.parse(stdout).applied);
    assert.deepEqual(applied.sort(), migrationsOf(FOLDERS[kind.name]));
  });
});

function migrationsOf(store: string): string[] {
  return readdirSync(new URL(`${store}/schema/migrations/`, STORES)).sort();
}
