// The cost of metrics.

import { join } from 'node:path';
import { freePort } from '../test/support/postgres/server.ts';
import { type CostOptions, compareCosts } from './cost.ts';
import { copyOf, seed } from './seed.ts';
import { startService } from './service.ts';

export interface FeatureCostOptions extends CostOptions {
  folder: string;
  groups: number;
}

export async function measureMetrics({ folder, groups, ...options }: FeatureCostOptions): Promise<void> {
  options.report(`creating ${groups} user groups`);
  const database = await seed(join(folder, 'without'), groups);
  const copy = copyOf(database, join(folder, 'with'));
  const env = { UGS_METRICS_ADDRESS: `127.0.0.1:${await freePort()}` };
  await using off = await startService(database);
  await using on = await startService(copy, [], env);
  const pair = [
    { name: 'without', service: off, database },
    { name: 'with', service: on, database: copy },
  ] as const;
  await compareCosts(pair, ['get', 'resolve', 'create'], options);
}
