// Measures how SQLite, PostgreSQL and several processes scale: GETs and creates on a small and on a large
// database, with one and with several processes, in alternating rounds; and the first and the last page of a
// list of the large database.

import { join } from 'node:path';
import { printTable } from '../src/commands/terminal/output.ts';
import { comparePages } from './list.ts';
import { operationOf } from './operation.ts';
import { copyToPostgres, openBenchServer } from './postgres-database.ts';
import { verdict } from './report.ts';
import { markAllSeen, type SeededDatabase, seed } from './seed.ts';
import type { ServerProcess } from './server-process.ts';
import { startService } from './service.ts';
import { inAlternation } from './turns.ts';
import { loadAll, type Round } from './wrk.ts';

const CONNECTIONS = 32;
const MAX_PROCESSES = 3;
/** Maximum ratio of the 99th percentile on the large database to that on the small one. */
const P99_TARGET = 1.3;

interface ScalingOptions {
  folder: string;
  seconds: number;
  rounds: number;
  /** Numbers of user groups in the small and in the large database. */
  sizes: readonly [small: number, large: number];
  database: 'sqlite' | 'postgres' | 'both';
  only: readonly string[];
  /**
   * Whether resolves write nothing: every user group was seen within the hour, and without events no use is
   * counted.
   */
  readOnly: boolean;
  report: (text: string) => void;
}

/** Processes that share one database, and the load that they share. */
interface Setup {
  engine: 'SQLite' | 'PostgreSQL';
  database: SeededDatabase;
  processes: readonly ServerProcess[];
}

export async function measureScaling(options: ScalingOptions): Promise<void> {
  const { folder, sizes, database, only, readOnly } = options;
  await using stack = new AsyncDisposableStack();
  const server = database === 'sqlite' ? null : stack.use(await openBenchServer());
  const env = readOnly ? { UGS_EVENT_RETENTION_DAYS: '0' } : {};
  const setups: Setup[] = [];
  for (const groups of sizes) {
    options.report(`creating ${groups} user groups`);
    const file = await seed(join(folder, String(groups)), groups);
    if (readOnly) markAllSeen(file);
    if (server !== null) {
      const copy = await copyToPostgres(file, server, stack);
      setups.push(
        ...(await serve('PostgreSQL', copy, groups === sizes[1] ? MAX_PROCESSES : 1, { env, stack })),
      );
    }
    if (database !== 'postgres') setups.push(...(await serve('SQLite', file, 1, { env, stack })));
  }
  for (const operation of only) {
    const contenders = setups.map((setup) => ({
      name: `${operation}, ${nameOf(setup)}`,
      run: (seconds: number) => run(setup, operation, seconds),
    }));
    report(operation, setups, await inAlternation(contenders, options));
  }
  for (const setup of setups.filter(({ processes }) => processes.length === 1)) {
    await comparePages(nameOf(setup), setup.processes[0]!, setup.database);
  }
}

/** Starts setups of the same database with one process, with two, and so on. */
async function serve(
  engine: Setup['engine'],
  database: SeededDatabase,
  most: number,
  { env, stack }: { env: Record<string, string>; stack: AsyncDisposableStack },
): Promise<Setup[]> {
  const processes: ServerProcess[] = [];
  const setups: Setup[] = [];
  while (processes.length < most) {
    processes.push(stack.use(await startService(database, [], env)));
    setups.push({ engine, database, processes: [...processes] });
  }
  return setups;
}

function run({ processes, database }: Setup, name: string, seconds: number): Promise<Round> {
  return loadAll(processes, {
    operation: operationOf(name),
    database,
    seconds,
    connections: CONNECTIONS,
  });
}

function nameOf({ engine, database, processes }: Setup): string {
  return `${engine}, ${database.groups} groups, ${processes.length} ${processes.length === 1 ? 'process' : 'processes'}`;
}

function report(operation: string, setups: readonly Setup[], figures: readonly Round[]): void {
  const rows = setups.map((setup, index) => {
    const { requestsPerSecond, p50Ms, p99Ms } = figures[index]!;
    // The first setup of an engine is its small database with one process.
    const small = figures[setups.findIndex(({ engine }) => engine === setup.engine)]!;
    const growth = p99Ms / small.p99Ms;
    const isCompared = setup.processes.length === 1 && figures[index] !== small;
    const cells = [requestsPerSecond.toFixed(0), p50Ms.toFixed(2), p99Ms.toFixed(2)];
    const compared = [growth.toFixed(2), `<= ${P99_TARGET}`, verdict(growth <= P99_TARGET)];
    return [nameOf(setup), ...cells, ...(isCompared ? compared : [])];
  });
  console.log('');
  printTable([operation, 'requests/s', 'p50 ms', 'p99 ms', 'p99 ratio to the small one'], rows);
}
