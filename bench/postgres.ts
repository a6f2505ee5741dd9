// Compares the service on PostgreSQL with pgbench (the same rows, one per transaction) and with a minimal implementation
// (Express and pg, one query per request), in alternating rounds.

import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { printTable } from '../src/commands/terminal/output.ts';
import { type Operation, operationOf } from './operation.ts';
import { pgbench, requirePgbench } from './pgbench.ts';
import { type BenchServer, copyToPostgres, openBenchServer } from './postgres-database.ts';
import { processorTime, processorTimeOfChildren } from './processor-time.ts';
import { verdict } from './report.ts';
import { type SeededDatabase, seed } from './seed.ts';
import { ServerProcess } from './server-process.ts';
import { startService } from './service.ts';
import { type Contender, inAlternation } from './turns.ts';
import { loadAll, type Round } from './wrk.ts';

const PGBENCH_CLIENTS = 32;
/** Threads of pgbench: its default, and one per core; more do not help. */
const PGBENCH_THREADS = [1, availableParallelism()];
const PROCESSES = 2;
const LOOKUP_TARGET = 0.75;
const CREATE_TARGET = 1;
const EXPRESS_TARGET = 2.5;

export interface PostgresOptions {
  folder: string;
  seconds: number;
  rounds: number;
  groups: number;
  /** Numbers of connections to the service and to Express, measured one after the other. */
  connections: readonly number[];
  report: (text: string) => void;
}

interface Measured extends Round {
  /** Microseconds of CPU time per request; NaN if unknown. */
  nodeTime: number;
  databaseTime: number;
}

interface Competitor extends Contender<Measured> {
  /** Express with the same number of callers, for the service. */
  express?: Competitor;
}

/** The environment of the contenders. */
interface Stage {
  server: BenchServer;
  database: SeededDatabase;
  services: readonly ServerProcess[];
  express: ServerProcess;
  connections: readonly number[];
}

export async function measurePostgres(options: PostgresOptions): Promise<void> {
  const { folder, groups, connections, report } = options;
  requirePgbench();
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await openBenchServer());
  report(`creating ${groups} user groups`);
  const database = await copyToPostgres(await seed(join(folder, 'seeded'), groups), server, stack);
  const services: ServerProcess[] = [];
  while (services.length < PROCESSES) services.push(stack.use(await startService(database)));
  const express = stack.use(await startExpress(database));
  const stage = { server, database, services, express, connections };

  await compare('lookups', LOOKUP_TARGET, lookups(stage), options);
  await compare('creates', CREATE_TARGET, creates(stage), options);
  const warnings = services.map(({ output }) => output).join('');
  if (warnings !== '') throw new Error(`the service logged warnings:\n${warnings}`);
}

function startExpress({ databaseUrl, apiToken }: SeededDatabase): Promise<ServerProcess> {
  return ServerProcess.start({
    script: ['bench/peers/express.ts'],
    env: { NODE_ENV: 'production', DATABASE_URL: databaseUrl, BENCH_API_TOKEN: apiToken },
  });
}

/** Returns the competitors, pgbench first, with its default and with one thread per core. */
function lookups(stage: Stage): Competitor[] {
  const [get, resolve] = [operationOf('get'), operationOf('resolve')];
  return [
    ...pgbenchOf('select', stage),
    ...stage.connections.flatMap((connections) => {
      const express = expressOf(get, connections, stage);
      const services = [1, PROCESSES].flatMap((processes) => [
        serviceOf('GET', get, { processes, connections, express }, stage),
        serviceOf('resolve', resolve, { processes, connections, express }, stage),
      ]);
      return [express, ...services];
    }),
  ];
}

/** Returns the competitors, as `lookups` does. */
function creates(stage: Stage): Competitor[] {
  const create = operationOf('create-random-id');
  return [
    ...pgbenchOf('insert', stage),
    ...stage.connections.flatMap((connections) => {
      // POST on the Express server only inserts.
      const express = expressOf(operationOf('v1-create'), connections, stage);
      const services = [1, PROCESSES].map((processes) =>
        serviceOf('create', create, { processes, connections, express }, stage),
      );
      return [express, ...services];
    }),
  ];
}

function pgbenchOf(script: string, { server, database }: Stage): Competitor[] {
  const { databaseUrl, groups } = database;
  return PGBENCH_THREADS.map((threads) => ({
    name: `pgbench ${script}, -j ${threads}`,
    run: async (seconds) => {
      const before = databaseTime(server);
      const load = { databaseUrl, script, groups, seconds, clients: PGBENCH_CLIENTS, threads };
      const round = await pgbench(load);
      const requests = round.requestsPerSecond * seconds;
      return { ...round, nodeTime: Number.NaN, databaseTime: (databaseTime(server) - before) / requests };
    },
  }));
}

function expressOf(operation: Operation, connections: number, stage: Stage): Competitor {
  const run = loadOf([stage.express], operation, connections, stage);
  return { name: `Express, ${connections} callers`, run };
}

function serviceOf(
  what: string,
  operation: Operation,
  { processes, connections, express }: { processes: number; connections: number; express: Competitor },
  stage: Stage,
): Competitor {
  const name = `${what}, ${processes} ${processes === 1 ? 'process' : 'processes'}, ${connections} callers`;
  const services = stage.services.slice(0, processes);
  return { name, run: loadOf(services, operation, connections, stage), express };
}

function databaseTime({ processId }: BenchServer): number {
  return processorTimeOfChildren(processId ?? Number.NaN);
}

function loadOf(
  processes: readonly ServerProcess[],
  operation: Operation,
  connections: number,
  { server, database }: Stage,
): Competitor['run'] {
  const nodeTime = () => processes.reduce((sum, { processId }) => sum + processorTime(processId), 0);
  return async (seconds) => {
    const before = { node: nodeTime(), database: databaseTime(server) };
    const round = await loadAll(processes, { operation, database, seconds, connections });
    const requests = round.requestsPerSecond * seconds;
    return {
      ...round,
      nodeTime: (nodeTime() - before.node) / requests,
      databaseTime: (databaseTime(server) - before.database) / requests,
    };
  };
}

/** Runs alternating rounds, and compares each with the default pgbench and with Express with as many callers. */
async function compare(
  title: string,
  target: number,
  competitors: readonly Competitor[],
  options: PostgresOptions,
): Promise<void> {
  const figures = await inAlternation(competitors, options);
  const rateOf = (competitor: Competitor) => figures[competitors.indexOf(competitor)]!.requestsPerSecond;
  const [pgbenchRate, threadedRate] = figures.map(({ requestsPerSecond }) => requestsPerSecond);
  const ratioHeadings = ['of pgbench', '', '', `of -j ${PGBENCH_THREADS[1]}`, 'of Express', '', ''];
  const rows = competitors.map(({ name, express }, index) => {
    const rate = figures[index]!.requestsPerSecond;
    const ratios = express && [
      ...against(rate / pgbenchRate!, target),
      (rate / threadedRate!).toFixed(2),
      ...against(rate / rateOf(express), EXPRESS_TARGET),
    ];
    return [name, ...cellsOf(figures[index]!, ratios ?? ratioHeadings.map(() => ''))];
  });
  console.log('');
  printTable([title, '1/s', ...ratioHeadings, 'p50 ms', 'p99 ms', 'Node µs', 'PostgreSQL µs'], rows);
}

function against(ratio: number, target: number): string[] {
  return [ratio.toFixed(2), `>= ${target}`, verdict(ratio >= target)];
}

function cellsOf(figures: Measured, ratios: readonly string[]): string[] {
  const cell = (value: number, digits: number) => (Number.isNaN(value) ? '-' : value.toFixed(digits));
  const { requestsPerSecond, p50Ms, p99Ms, nodeTime, databaseTime } = figures;
  return [
    cell(requestsPerSecond, 0),
    ...ratios,
    ...[cell(p50Ms, 2), cell(p99Ms, 2), cell(nodeTime, 1), cell(databaseTime, 1)],
  ];
}
