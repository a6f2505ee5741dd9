// Measures the cost of events: creates, updates and lookups with and without them, in alternating rounds.

import { join } from 'node:path';
import { compareCosts } from './cost.ts';
import { copyToPostgres, openBenchServer } from './postgres-database.ts';
import { copyOf, type SeededDatabase, seed } from './seed.ts';
import { startService } from './service.ts';

/** Minimum ratio of requests per second with events to those without. */
const MIN_RATES = {
  get: 0.97,
  resolve: 0.97,
  create: 0.85,
  'create-random-id': 0.85,
  update: 0.85,
  patch: 0.85,
  // Rotations come last, because they replace the tokens that the other operations need.
  rotate: 0.85,
};

interface EventsOptions {
  folder: string;
  seconds: number;
  rounds: number;
  groups: number;
  report: (text: string) => void;
}

export async function measureEvents(options: EventsOptions): Promise<void> {
  const { folder, groups, report } = options;
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await openBenchServer());
  report(`creating ${groups} user groups`);
  const file = await seed(join(folder, 'seed'), groups);
  for (const engine of ['SQLite', 'PostgreSQL'] as const) {
    const copies = [0, 1].map((index) => copyOf(file, join(folder, `${engine}-${index}`)));
    const databases: SeededDatabase[] = [];
    for (const copy of copies)
      databases.push(engine === 'SQLite' ? copy : await copyToPostgres(copy, server, stack));
    console.log(`\n${engine}`);
    await compareThroughput(databases, options);
  }
}

async function compareThroughput(
  [without, withEvents]: readonly SeededDatabase[],
  options: EventsOptions,
): Promise<void> {
  await using off = await startService(without!, [], { UGS_EVENT_RETENTION_DAYS: '0' });
  await using on = await startService(withEvents!);
  await compareCosts(
    [
      { name: 'without events', service: off, database: without! },
      { name: 'with events', service: on, database: withEvents! },
    ],
    Object.keys(MIN_RATES),
    { ...options, minRates: MIN_RATES },
  );
}
