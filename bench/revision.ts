// Compares another revision of the service with this one. Each seeds its own database, because their schemas
// may differ.

import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CostOptions, compareCosts } from './cost.ts';
import { copyToPostgres, openBenchServer } from './postgres-database.ts';
import { type SeededDatabase, seed } from './seed.ts';
import { startService } from './service.ts';

interface RevisionOptions extends CostOptions {
  /** Path of a checkout of the other revision, with its dependencies installed. */
  other: string;
  folder: string;
  groups: number;
  database: 'sqlite' | 'postgres';
  only: readonly string[];
}

export async function compareRevisions({
  other,
  folder,
  groups,
  database: engine,
  only,
  ...options
}: RevisionOptions): Promise<void> {
  const theirs = await importBench(other);
  await using stack = new AsyncDisposableStack();
  const server = engine === 'postgres' ? stack.use(await openBenchServer()) : null;
  const served = (seeded: SeededDatabase, copy: typeof copyToPostgres) =>
    server === null ? seeded : copy(seeded, server, stack);
  options.report(`creating ${groups} user groups for each`);
  const theirDatabase = await served(await theirs.seed(join(folder, 'other'), groups), theirs.copyToPostgres);
  const database = await served(await seed(join(folder, 'this'), groups), copyToPostgres);
  await using theirService = await theirs.startService(theirDatabase);
  await using service = await startService(database);
  const pair = [
    { name: 'other', service: theirService, database: theirDatabase },
    { name: 'this', service, database },
  ] as const;
  await compareCosts(pair, only, options);
}

interface Bench {
  seed: typeof seed;
  copyToPostgres: typeof copyToPostgres;
  startService: typeof startService;
}

async function importBench(checkout: string): Promise<Bench> {
  const modules = await Promise.all(
    ['seed.ts', 'postgres-database.ts', 'service.ts'].map(
      (file) => import(pathToFileURL(resolve(checkout, 'bench', file)).href),
    ),
  );
  return Object.assign({}, ...modules);
}
