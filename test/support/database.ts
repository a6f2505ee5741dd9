// Databases that the suite runs on. A test creates a new empty database, and drops it at the end.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { generateKeyLine } from '../../src/domain/key-ring.ts';
import { createDatabase, createOnCluster, dropDatabase, dropOnCluster, inDatabase } from './postgres/node.ts';

export interface TestDatabase extends AsyncDisposable {
  /** Value of DATABASE_URL. */
  url: string;
  /** Environment variables that a process needs to use the database. */
  env: Record<string, string>;
  drop(): Promise<void>;
}

export interface DatabaseKind {
  name: 'SQLite' | 'PostgreSQL' | 'Citus';
  /** Creates an empty database. */
  create(): Promise<TestDatabase>;
  /** Creates a database for a service, which has the newest schema if copying it takes less time than migrating. */
  createForService(): Promise<TestDatabase>;
}

export const sqlite: DatabaseKind = {
  name: 'SQLite',
  create: async () => {
    const folder = temporaryFolder();
    const url = `sqlite:${join(folder, 'user-groups.db')}`;
    return testDatabase(url, { DATABASE_URL: url }, async () => removeFolder(folder));
  },
  createForService: () => sqlite.create(),
};

/**
 * Settings for a test that counts changes on a busy machine: a change whose statement times out may have been applied, so a
 * repetition is not counted. Any other test would hide statements that take too long for users.
 */
export const PATIENT_STATEMENTS = { UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '20000' };

export const postgres: DatabaseKind = {
  name: 'PostgreSQL',
  create: () => createOnServer('TEST_DATABASE_URL', createDatabase, dropDatabase),
  createForService: () => createOnServer('TEST_DATABASE_URL', copyTemplate, dropDatabase),
};

export const citus: DatabaseKind = {
  name: 'Citus',
  create: () => createOnServer('TEST_CITUS_URL', createOnCluster, dropOnCluster),
  createForService: () => citus.create(),
};

/** `npm test` sets the variable if it has created the template. */
function copyTemplate(server: URL, name: string): Promise<void> {
  return createDatabase(server, name, process.env.TEST_DATABASE_TEMPLATE);
}

/** A Citus cluster is optional. Without one, `test/postgres/citus.test.ts` reports that it was skipped. */
const available: readonly DatabaseKind[] = process.env.TEST_CITUS_URL
  ? [sqlite, postgres, citus]
  : [sqlite, postgres];
const databases = process.env.TEST_SKIP_SQLITE ? [postgres] : available;

interface SuiteOptions {
  /** Whether to run the tests of the suite concurrently: for independent tests that mostly wait. */
  concurrency?: boolean;
}

/** Returns the database of a suite, which exists from before its tests until after them. */
export function databaseOf(kind: DatabaseKind): TestDatabase {
  const database = {} as TestDatabase;
  before(async () => Object.assign(database, await kind.create()));
  after(() => database.drop());
  return database;
}

/** Runs the same suite on every database, because every promise must hold on all of them. */
export function describeOnEachDatabase(
  title: string,
  suite: (database: DatabaseKind) => void,
  options: SuiteOptions = {},
): void {
  for (const database of databases) describe(`${title} (${database.name})`, options, () => suite(database));
}

type OnServer = (server: URL, name: string) => Promise<void>;

async function createOnServer(variable: string, create: OnServer, drop: OnServer): Promise<TestDatabase> {
  const server = serverUrl(variable);
  const name = `user_group_service_${randomBytes(8).toString('hex')}`;
  await create(server, name);
  const url = inDatabase(server, name).href;
  const env = { DATABASE_URL: url, UGS_TOKEN_KEYS: generateKeyLine().reveal() };
  return testDatabase(url, env, () => drop(server, name));
}

export function testDatabase(
  url: string,
  env: TestDatabase['env'],
  drop: TestDatabase['drop'],
): TestDatabase {
  return { url, env, drop, [Symbol.asyncDispose]: drop };
}

function serverUrl(variable: string): URL {
  const url = process.env[variable];
  if (url) return new URL(url);
  throw new Error(
    `${variable} is not set. "npm test -- test/NAME.test.ts" starts a PostgreSQL server and runs the file.`,
  );
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'user-group-service-'));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
