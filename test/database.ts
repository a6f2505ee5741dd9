// The databases that the suite runs on. A test asks for one that is new and empty, and drops it afterwards.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'node:test';

export interface TestDatabase {
  /** What DATABASE_URL is set to. */
  url: string;
  drop(): Promise<void>;
}

export interface DatabaseKind {
  name: 'SQLite' | 'PostgreSQL';
  create(): Promise<TestDatabase>;
}

const sqlite: DatabaseKind = {
  name: 'SQLite',
  create: async () => {
    const folder = temporaryFolder();
    return { url: `sqlite:${join(folder, 'user-groups.db')}`, drop: async () => removeFolder(folder) };
  },
};

export const databases: readonly DatabaseKind[] = [sqlite];

/** Runs the same suite on every database: a promise holds on all of them or it is none. */
export function describeOnEachDatabase(title: string, suite: (database: DatabaseKind) => void): void {
  for (const database of databases) describe(`${title} (${database.name})`, () => suite(database));
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'user-group-service-'));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
