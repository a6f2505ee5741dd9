// Each migration only adds to the schema, so the previous version can serve the database after it. Migrates a
// database that the previous version wrote, and compares it with what it was.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type DatabaseKind, postgres, sqlite } from '../../support/database.ts';
import { additiveFaults, snapshotOf } from '../../support/migration/additive-migration.ts';
import { type FrozenDatabase, frozenDatabases, thaw } from '../../support/migration/frozen-database.ts';
import { executeSql } from '../../support/sql.ts';

const ENGINES = [
  { kind: sqlite, engine: 'sqlite', folder: 'src/store/sqlite/schema/migrations' },
  { kind: postgres, engine: 'postgres', folder: 'src/store/postgres/schema/migrations' },
] as const;
/**
 * Migrations older than the rule: SQLite's replaces a table, and PostgreSQL's changes the collation of a
 * column.
 */
const NOT_ADDITIVE = ['0002-lists.sql'];

const ADDITIONS = `
  alter table user_groups add column color text;
  alter table user_groups add column weight integer not null default 1;
  create index user_groups_color on user_groups (workspace_id, color);
  create table colors (color text not null primary key, name text not null unique);
  insert into id_blocks (sequence, next) values ('color_id', 1);
  update user_groups set color = 'red';`;

/** Statements that are not additive, each with the start of its fault. */
const FAULTS: Record<'sqlite' | 'postgres', Record<string, RegExp>> = {
  sqlite: {
    'drop table imported_tokens': /^removes or changes imported_tokens: /,
    'alter table api_tokens drop column name': /^removes or changes api_tokens: column name/,
    'alter table api_tokens rename column name to label': /^removes or changes api_tokens: column name/,
    'alter table api_tokens rename to tokens': /^removes or changes api_tokens: /,
    'drop index user_groups_bucket_token_digest': /^removes or changes user_groups: CREATE UNIQUE INDEX/,
    'create unique index one_name on user_groups (name)': /^may refuse a write .* one_name/,
    "create trigger frozen before update on user_groups begin select raise(abort, 'no'); end":
      /^may refuse a write .* TRIGGER frozen/,
    'create table t (key_id text not null primary key, created_at integer not null check (created_at > 0)) strict; insert into t select * from token_keys; drop table token_keys; alter table t rename to token_keys':
      /^may refuse a write .* checks/,
    'create table t (key_id text not null primary key, created_at text not null) strict; insert into t select * from token_keys; drop table token_keys; alter table t rename to token_keys':
      /^removes or changes token_keys: column created_at INTEGER/i,
    'create table t (key_id text not null primary key, created_at integer not null, by text not null) strict; insert into t select *, 1 from token_keys; drop table token_keys; alter table t rename to token_keys':
      /^may refuse a write .* column by TEXT not null/i,
    "update user_groups set name = name || '!'": /^changes or deletes rows of user_groups/,
    'delete from api_tokens': /^changes or deletes rows of api_tokens/,
  },
  postgres: {
    'drop table imported_tokens': /^removes or changes imported_tokens: /,
    'alter table api_tokens drop column name': /^removes or changes api_tokens: column name/,
    'alter table api_tokens rename column name to label': /^removes or changes api_tokens: column name/,
    'alter table api_tokens rename to tokens': /^removes or changes api_tokens: /,
    'alter table api_tokens alter column name type varchar(9)': /^removes or changes api_tokens: column name/,
    'alter table api_tokens alter column permission drop not null':
      /^removes or changes api_tokens: column permission/,
    "alter table token_keys add column by text not null default 'x'; alter table token_keys alter column by drop default":
      /^may refuse a write .* column by text .*not null/,
    'drop index user_groups_bucket_token_digest': /^removes or changes user_groups: CREATE UNIQUE INDEX/,
    'create unique index one_name on user_groups (name)': /^may refuse a write .* one_name/,
    "alter table user_groups add check (name <> '')": /^may refuse a write .* CHECK/,
    'alter table api_tokens add foreign key (workspace_id) references workspaces':
      /^may refuse a write .* FOREIGN/,
    'create function no() returns trigger language plpgsql as $$begin return null; end$$; create trigger frozen before update on user_groups for each row execute function no()':
      /^may refuse a write .* TRIGGER frozen/,
    "update user_groups set name = name || '!'": /^changes or deletes rows of user_groups/,
    'delete from api_tokens': /^changes or deletes rows of api_tokens/,
  },
};

for (const { kind, engine, folder } of ENGINES) {
  const files = readdirSync(folder).sort();
  const frozen = frozenDatabases(engine);

  describe(`a migration (${kind.name})`, () => {
    for (const previous of frozen.slice(0, files.length - 1)) {
      const file = files[previous.schema]!;
      const isAdditive = !NOT_ADDITIVE.includes(file);
      it(`${file} ${isAdditive ? 'only adds to the schema' : 'is found not to be additive'}`, async () => {
        const faults = await faultsOf(kind, previous, readFileSync(`${folder}/${file}`, 'utf8'));
        if (isAdditive) assert.deepEqual(faults, []);
        else assert.notDeepEqual(faults, []);
      });
    }
  });

  describe(`the check of migrations (${kind.name})`, () => {
    it('accepts new tables, indexes, rows, and columns that may be omitted', async () => {
      assert.deepEqual(await faultsOf(kind, frozen.at(-1)!, ADDITIONS), []);
    });

    for (const [sql, fault] of Object.entries(FAULTS[engine])) {
      it(`finds: ${sql.slice(0, 90)}`, async () => {
        const faults = await faultsOf(kind, frozen.at(-1)!, sql);
        assert.ok(
          faults.some((line) => fault.test(line)),
          faults.join('\n') || 'nothing found',
        );
      });
    }
  });
}

async function faultsOf(kind: DatabaseKind, previous: FrozenDatabase, migration: string): Promise<string[]> {
  await using database = await thaw(previous, kind);
  const before = await snapshotOf(database);
  await executeSql(database, migration);
  return additiveFaults(before, await snapshotOf(database, before));
}
