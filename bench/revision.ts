// Another revision of the service against this one. Each seeds its own database: their schemas may differ.

import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CostOptions, compareCosts } from './cost.ts';
import { seed } from './seed.ts';
import { startService } from './service.ts';

export interface RevisionOptions extends CostOptions {
  /** A checkout of the other revision, with its dependencies. */
  other: string;
  folder: string;
  groups: number;
  only: readonly string[];
  events: boolean;
}

export async function compareRevisions({
  other,
  folder,
  groups,
  only,
  events,
  ...options
}: RevisionOptions): Promise<void> {
  const theirs = await importBench(other);
  options.report(`creating ${groups} user groups for each`);
  const theirDatabase = await theirs.seed(join(folder, 'other'), groups);
  const database = await seed(join(folder, 'this'), groups);
  await using theirService = await theirs.startService(theirDatabase);
  await using service = await startService(database, [], events ? {} : { UGS_EVENT_RETENTION_DAYS: '0' });
  const pair = [
    { name: 'other', service: theirService, database: theirDatabase },
    { name: 'this', service, database },
  ] as const;
  await compareCosts(pair, only, options);
}

interface Bench {
  seed: typeof seed;
  startService: typeof startService;
}

async function importBench(checkout: string): Promise<Bench> {
  const [seeding, service] = await Promise.all(
    ['seed.ts', 'service.ts'].map((file) => import(pathToFileURL(resolve(checkout, 'bench', file)).href)),
  );
  return { seed: seeding.seed, startService: service.startService };
}
