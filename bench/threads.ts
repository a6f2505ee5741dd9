// Compares a process with several serving threads with one that has a single thread: processor time and rate
// of requests, memory and start time.

import { join } from 'node:path';
import { residentMb } from '../reliability/support/resident-memory.ts';
import { printTable } from '../src/commands/terminal/output.ts';
import { type CostOptions, compareCosts } from './cost.ts';
import { median } from './median.ts';
import { copyToPostgres, openBenchServer } from './postgres-database.ts';
import { type SeededDatabase, seed } from './seed.ts';
import type { ServerProcess } from './server-process.ts';
import { startService } from './service.ts';

const STARTS = 5;

interface ThreadsOptions extends CostOptions {
  folder: string;
  groups: number;
  threads: number;
  database: 'sqlite' | 'postgres';
  only: readonly string[];
}

export async function measureThreads(options: ThreadsOptions): Promise<void> {
  const { folder, groups, threads, database, only, report } = options;
  await using stack = new AsyncDisposableStack();
  const server = database === 'postgres' ? stack.use(await openBenchServer()) : null;
  report(`creating ${groups} user groups for each`);
  // Each server has its own database, because only one process can serve a SQLite file.
  const open = async (name: string): Promise<SeededDatabase> => {
    const file = await seed(join(folder, name), groups);
    return server === null ? file : copyToPostgres(file, server, stack);
  };
  const [one, several] = [await open('one'), await open('several')];
  const start = (seeded: SeededDatabase, count: number): Promise<ServerProcess> =>
    startService(seeded, [], { UGS_THREADS: String(count) });
  const starts: [number[], number[]] = [[], []];
  // The first start of each has no compile cache.
  for (let round = 0; round <= STARTS; round++) {
    for (const [index, seeded] of [one, several].entries()) {
      await using service = await start(seeded, index === 0 ? 1 : threads);
      if (round > 0) starts[index]!.push(service.readyAfterMs);
    }
  }
  const oneService = stack.use(await start(one, 1));
  const severalService = stack.use(await start(several, threads));
  const name = (count: number) => `${count} ${count === 1 ? 'thread' : 'threads'}`;
  await compareCosts(
    [
      { name: name(1), service: oneService, database: one },
      { name: name(threads), service: severalService, database: several },
    ],
    only,
    options,
  );
  const [startOne, startSeveral] = starts.map(median) as [number, number];
  const memoryOne = residentMb(oneService.processId);
  const memorySeveral = residentMb(severalService.processId);
  printTable(
    ['', name(1), name(threads), 'per additional thread'],
    [
      ['ready after, ms', startOne.toFixed(0), startSeveral.toFixed(0), ''],
      [
        'memory after the load, MB',
        memoryOne.toFixed(0),
        memorySeveral.toFixed(0),
        ((memorySeveral - memoryOne) / (threads - 1)).toFixed(0),
      ],
    ],
  );
}
