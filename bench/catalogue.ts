// The cost of a catalogue and a property schema for resolve.

import { join } from 'node:path';
import { type CostOptions, compareCosts } from './cost.ts';
import { addCatalogue, copyOf, seed } from './seed.ts';
import { startService } from './service.ts';

interface CatalogueOptions extends CostOptions {
  folder: string;
  dataSources: number;
}

export async function measureCatalogue({ folder, dataSources, ...options }: CatalogueOptions): Promise<void> {
  options.report(`creating ${dataSources} user groups and data sources`);
  const database = await seed(join(folder, 'without'), dataSources);
  const copy = copyOf(database, join(folder, 'with'));
  await addCatalogue(copy, dataSources);
  await using off = await startService(database);
  await using on = await startService(copy);
  const pair = [
    { name: 'without', service: off, database },
    { name: 'with', service: on, database: copy },
  ] as const;
  await compareCosts(pair, ['resolve'], options);
}
