// The cost of introspection and of forward authentication, relative to resolve.

import { join } from 'node:path';
import { compareCosts } from './cost.ts';
import type { FeatureCostOptions } from './metrics.ts';
import { VERIFICATION_SHARE } from './operation.ts';
import { seed } from './seed.ts';
import { startService } from './service.ts';

export async function measureVerification({ folder, groups, ...options }: FeatureCostOptions): Promise<void> {
  options.report(`creating ${groups} user groups`);
  const database = await seed(join(folder, 'service'), groups);
  await using service = await startService(database);
  const pair = [
    { name: 'resolve', service, database, operation: 'resolve' },
    { name: 'this', service, database },
  ] as const;
  await compareCosts(pair, ['introspect', 'forward-auth'], options);
  options.report(`target: at most ${(1 / VERIFICATION_SHARE).toFixed(2)} times resolve`);
}
