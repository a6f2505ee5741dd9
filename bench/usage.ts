// The cost of recording when a user group was last seen.

import { join } from 'node:path';
import { compareCosts } from './cost.ts';
import type { FeatureCostOptions } from './metrics.ts';
import { copyOf, seed } from './seed.ts';
import { startVariant } from './service.ts';

export async function measureUsage({ folder, groups, ...options }: FeatureCostOptions): Promise<void> {
  options.report(`creating ${groups} user groups`);
  const database = await seed(join(folder, 'without'), groups);
  const copy = copyOf(database, join(folder, 'with'));
  await using off = await startVariant(database, ['--no-usage']);
  await using on = await startVariant(copy, []);
  const pair = [
    { name: 'without', service: off, database },
    { name: 'with', service: on, database: copy },
  ] as const;
  await compareCosts(pair, ['resolve'], options);
}
