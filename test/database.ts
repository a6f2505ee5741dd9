// The databases that the suite runs on. A test asks for one that is new and empty, and drops it afterwards.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'node:test';
import pg from 'pg';
import { generateKeyLine } from '../src/domain/key-ring.ts';

export interface TestDatabase {
  /** What DATABASE_URL is set to. */
  url: string;
  /** All settings that a process needs to use the database, by their environment variables. */
  env: Record<string, string>;
  drop(): Promise<void>;
}

export interface DatabaseKind {
  name: 'SQLite' | 'PostgreSQL';
  create(): Promise<TestDatabase>;
}

export const sqlite: DatabaseKind = {
  name: 'SQLite',
  create: async () => {
    const folder = temporaryFolder();
    const url = `sqlite:${join(folder, 'user-groups.db')}`;
    return { url, env: { DATABASE_URL: url }, drop: async () => removeFolder(folder) };
  },
};

export const postgres: DatabaseKind = {
  name: 'PostgreSQL',
  create: async () => {
    const name = `user_group_service_${randomBytes(8).toString('hex')}`;
    await runOnServer(`create database ${name}`);
    const url = new URL(postgresServerUrl());
    url.pathname = `/${name}`;
    return {
      url: url.href,
      env: { DATABASE_URL: url.href, UGS_TOKEN_KEYS: generateKeyLine().reveal() },
      drop: () => runOnServer(`drop database ${name} with (force)`),
    };
  },
};

export const databases: readonly DatabaseKind[] = [sqlite, postgres];

/** Runs the same suite on every database: a promise holds on all of them or it is none. */
export function describeOnEachDatabase(title: string, suite: (database: DatabaseKind) => void): void {
  for (const database of databases) describe(`${title} (${database.name})`, () => suite(database));
}

async function runOnServer(sql: string): Promise<void> {
  const client = new pg.Client(postgresServerUrl());
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function postgresServerUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (url) return url;
  throw new Error(
    'TEST_DATABASE_URL names no PostgreSQL server. "npm test -- test/NAME.test.ts" starts one and runs the file.',
  );
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'user-group-service-'));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
