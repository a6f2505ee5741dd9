// Databases that an earlier version of the service wrote, one for each schema; `npm run freeze-database`
// creates them.

import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DatabaseKind, TestDatabase } from '../database.ts';
import { executeSql } from '../sql.ts';

export const FROZEN = fileURLToPath(new URL('../frozen-databases/', import.meta.url));

export interface FrozenDatabase {
  /** Number of the newest migration of the database. */
  schema: number;
  /** Statements that create the database. */
  sql: string;
  contents: FrozenContents;
}

/** Contents as callers know them. */
export interface FrozenContents {
  tokenKeys: string;
  apiToken: string;
  userGroups: FrozenGroup[];
  /** Additional contents, since the schema that supports them. */
  administration?: FrozenAdministration;
}

export interface FrozenAdministration {
  /** API token with the permission `admin`. */
  apiToken: string;
  /** Documents of each kind, as `GET /v1/config` returned them. */
  configuration: object;
  /** Token of a suspended group. */
  suspendedToken: string;
}

export interface FrozenGroup {
  provided_id: string;
  name: string;
  token: string;
}

/** Returns the number of groups, and so of tokens. */
export function countGroups({ userGroups, administration }: FrozenContents): number {
  return userGroups.length + (administration ? 1 : 0);
}

const PREFIX = '-- ';

/** Returns the databases in the order of their schemas. */
export function frozenDatabases(engine: 'sqlite' | 'postgres'): FrozenDatabase[] {
  return globSync(`${engine}-*.sql`, { cwd: FROZEN })
    .sort()
    .map((file) => {
      const sql = readFileSync(join(FROZEN, file), 'utf8');
      const contents = JSON.parse(sql.slice(PREFIX.length, sql.indexOf('\n')));
      return { schema: Number(basename(file, '.sql').split('-')[1]), sql, contents };
    });
}

/** Creates the frozen database as a new one, with the settings to serve it. */
export async function thaw({ sql, contents }: FrozenDatabase, kind: DatabaseKind): Promise<TestDatabase> {
  const database = await kind.create();
  await executeSql(database, kind.name === 'SQLite' ? `pragma journal_mode = wal; ${sql}` : sql);
  return { ...database, env: { ...database.env, UGS_TOKEN_KEYS: contents.tokenKeys } };
}

/** Returns the text of the file. */
export function freeze(contents: FrozenContents, statements: readonly string[]): string {
  return `${PREFIX}${JSON.stringify(contents)}\n\n${statements.map((sql) => `${sql};\n`).join('\n')}`;
}
