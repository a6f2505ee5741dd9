// How far one file, one PostgreSQL server and several processes go: GETs and creates on a small and on a large
// database, by one process and by more, in turns, so that the ratios are of the same minutes of the machine.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { printTable } from '../src/commands/output.ts';
import { createDatabase, dropDatabase, inDatabase } from '../test/postgres/node.ts';
import { median } from './median.ts';
import { operationOf } from './operation.ts';
import { type SeededDatabase, seed } from './seed.ts';
import { rootPath, ServerProcess } from './server-process.ts';
import { load, type Round } from './wrk.ts';

const CONNECTIONS = 32;
const WARM_UP_SECONDS = 2;
const MOST_PROCESSES = 3;
const OPERATIONS = ['get', 'create'];

export interface ScalingOptions {
  folder: string;
  seconds: number;
  rounds: number;
  /** User groups in the small database and in the large one. */
  sizes: readonly [small: number, large: number];
  /** A PostgreSQL server on which databases can be made; null measures SQLite only. */
  postgres: URL | null;
  say: (text: string) => void;
}

/** Processes that share one database, and the load that they share. */
interface Setup {
  name: string;
  database: SeededDatabase;
  processes: readonly ServerProcess[];
}

export async function measureScaling(options: ScalingOptions): Promise<void> {
  const { folder, sizes, postgres, say } = options;
  await using stack = new AsyncDisposableStack();
  const setups: Setup[] = [];
  for (const groups of sizes) {
    say(`making ${groups} user groups`);
    const file = await seed(join(folder, String(groups)), groups);
    if (postgres !== null) {
      const copy = await copyToPostgres(file, postgres, stack);
      setups.push(...(await serve(copy, groups === sizes[1] ? MOST_PROCESSES : 1, stack)));
    }
    setups.push(...(await serve(file, 1, stack)));
  }
  for (const operation of OPERATIONS) {
    const figures = await measureInTurns(setups, operation, options);
    console.log(`\n${operation}`);
    printTable(
      ['database', 'processes', 'requests/s', 'p50 ms', 'p99 ms'],
      setups.map(({ name, processes }, index) => [
        name,
        String(processes.length),
        ...cellsOf(figures[index]!),
      ]),
    );
  }
}

async function copyToPostgres(
  file: SeededDatabase,
  server: URL,
  stack: AsyncDisposableStack,
): Promise<SeededDatabase> {
  const name = `user_group_service_bench_${randomBytes(4).toString('hex')}`;
  await createDatabase(server, name);
  stack.defer(() => dropDatabase(server, name));
  const databaseUrl = inDatabase(server, name).href;
  const args = [rootPath('bin/user-group-service.js'), 'copy', '--from', file.databaseUrl];
  await promisify(execFile)(process.execPath, args, { env: { TARGET_DATABASE_URL: databaseUrl } });
  return { ...file, databaseUrl };
}

/** The same database served by one process, by two, and so on. */
async function serve(database: SeededDatabase, most: number, stack: AsyncDisposableStack): Promise<Setup[]> {
  const processes: ServerProcess[] = [];
  const env = {
    DATABASE_URL: database.databaseUrl,
    UGS_TOKEN_KEYS_FILE: join(database.folder, 'token-keys'),
  };
  const engine = new URL(database.databaseUrl).protocol === 'sqlite:' ? 'SQLite' : 'PostgreSQL';
  const setups: Setup[] = [];
  while (processes.length < most) {
    processes.push(
      stack.use(await ServerProcess.start({ script: ['bin/user-group-service.js', 'serve'], env })),
    );
    setups.push({ name: `${engine}, ${database.groups} groups`, database, processes: [...processes] });
  }
  return setups;
}

async function measureInTurns(
  setups: readonly Setup[],
  operation: string,
  { rounds, seconds, say }: ScalingOptions,
): Promise<Round[]> {
  const measured = setups.map((): Round[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, setup] of setups.entries()) {
      const figures = await loadAll(setup, operation, round === 0 ? WARM_UP_SECONDS : seconds);
      if (round === 0) continue;
      measured[index]!.push(figures);
      say(
        `${operation}, round ${round}, ${setup.name}, ${setup.processes.length}: ${Math.round(figures.requestsPerSecond)} requests/s`,
      );
    }
  }
  return measured.map(medianOf);
}

/** All processes at one time, each with its share of the connections. */
async function loadAll({ processes, database }: Setup, name: string, seconds: number): Promise<Round> {
  const connections = Math.ceil(CONNECTIONS / processes.length);
  const operation = operationOf(name);
  const rounds = await Promise.all(
    processes.map(({ url }) => load({ url, operation, database, seconds, connections })),
  );
  return {
    requestsPerSecond: rounds.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0),
    p50Ms: Math.max(...rounds.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...rounds.map(({ p99Ms }) => p99Ms)),
  };
}

function medianOf(rounds: readonly Round[]): Round {
  const of = (key: keyof Round) => median(rounds.map((round) => round[key]));
  return { requestsPerSecond: of('requestsPerSecond'), p50Ms: of('p50Ms'), p99Ms: of('p99Ms') };
}

function cellsOf({ requestsPerSecond, p50Ms, p99Ms }: Round): string[] {
  return [requestsPerSecond.toFixed(0), p50Ms.toFixed(2), p99Ms.toFixed(2)];
}
