// Provides the program of another version, which runs with the dependencies of this checkout.

import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Folder } from '../process.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAX_ARCHIVE_BYTES = 2 ** 28;
const SCHEMAS = ['src/store/sqlite/schema', 'src/store/postgres/schema'];

export class OtherVersion implements Disposable {
  readonly #folder: Folder;

  /** Provides a revision of this repository. */
  static ofRevision(name: string): OtherVersion {
    const folder = new Folder();
    const archive = execFileSync('git', ['archive', name], { cwd: ROOT, maxBuffer: MAX_ARCHIVE_BYTES });
    execFileSync('tar', ['-x'], { cwd: folder.path, input: archive });
    return new OtherVersion(folder);
  }

  /**
   * Provides this version with one more migration, which changes every table in every way that a migration
   * may.
   */
  static next(): OtherVersion {
    const folder = new Folder();
    for (const name of ['bin', 'src', 'package.json']) {
      cpSync(join(ROOT, name), folder.join(name), { recursive: true });
    }
    for (const schema of SCHEMAS) addMigration(folder.join(schema));
    return new OtherVersion(folder);
  }

  private constructor(folder: Folder) {
    this.#folder = folder;
    symlinkSync(join(ROOT, 'node_modules'), folder.join('node_modules'));
  }

  /** Path of the executable script. */
  get program(): string {
    return this.#folder.join('bin/user-group-service.js');
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}

function addMigration(schema: string): void {
  const number = String(globSync(`${schema}/migrations/*.sql`).length + 1).padStart(4, '0');
  writeFileSync(`${schema}/migrations/${number}-next.sql`, nextMigration(tablesOf(schema)));
}

function tablesOf(schema: string): string[] {
  const matches = readFileSync(`${schema}/schema.sql`, 'utf8').matchAll(/^create table (\w+)/gim);
  return Array.from(matches, ([, table]) => table!).filter((table) => table !== 'schema_migrations');
}

function nextMigration(tables: readonly string[]): string {
  const changes = tables.map(
    (table) => `
      alter table ${table} add column next_text text;
      alter table ${table} add column next_number integer not null default 7;
      create index next_${table} on ${table} (next_text, next_number);`,
  );
  return `create table next_things (thing_id integer not null primary key, name text not null); ${changes.join('')}`;
}
