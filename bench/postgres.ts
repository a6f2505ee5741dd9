// The service on PostgreSQL against what PostgreSQL does by itself (pgbench, the same rows, one by one) and against
// what a team writes in an afternoon (Express and pg, a query per request), in turns.

import { join } from 'node:path';
import { printTable } from '../src/commands/output.ts';
import { type Operation, operationOf } from './operation.ts';
import { pgbench, requirePgbench } from './pgbench.ts';
import { type BenchServer, copyToPostgres, openBenchServer } from './postgres-database.ts';
import { processorTime, processorTimeOfChildren } from './processor-time.ts';
import { verdict } from './report.ts';
import { type SeededDatabase, seed } from './seed.ts';
import { ServerProcess } from './server-process.ts';
import { startService, startVariant } from './service.ts';
import { type Contender, inTurns } from './turns.ts';
import { loadAll, type Round } from './wrk.ts';

const PGBENCH_CLIENTS = 32;
const PROCESSES = 2;
const LOOK_UP_TARGET = 0.75;
const CREATE_TARGET = 1;
const EXPRESS_TARGET = 2.5;
const LONE_TARGET_MS = 0.1;

export interface PostgresOptions {
  folder: string;
  seconds: number;
  rounds: number;
  groups: number;
  /** Of those who call the service, and Express. */
  connections: number;
  say: (text: string) => void;
}

interface Measured extends Round {
  /** Microseconds of processor time a request; NaN where they cannot be told. */
  nodeTime: number;
  databaseTime: number;
}

/** What the contenders run on. */
interface Stage {
  server: BenchServer;
  database: SeededDatabase;
  services: readonly ServerProcess[];
  express: ServerProcess;
  connections: number;
}

export async function measurePostgres(options: PostgresOptions): Promise<void> {
  const { folder, groups, connections, say } = options;
  requirePgbench();
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await openBenchServer());
  say(`making ${groups} user groups`);
  const database = await copyToPostgres(await seed(join(folder, 'seeded'), groups), server, stack);
  const services: ServerProcess[] = [];
  while (services.length < PROCESSES) services.push(stack.use(await startService(database)));
  const express = stack.use(await startExpress(database));
  const unbatched = stack.use(await startVariant(database, ['--no-batches']));
  const stage = { server, database, services, express, connections };

  report(
    'look-ups',
    LOOK_UP_TARGET,
    lookUpContenders(stage),
    await inTurns(lookUpContenders(stage), options),
  );
  await reportLoneClient(stage, unbatched, options);
  report('creates', CREATE_TARGET, createContenders(stage), await inTurns(createContenders(stage), options));
  const warnings = services.map(({ output }) => output).join('');
  if (warnings !== '') throw new Error(`the service has warned:\n${warnings}`);
}

function startExpress({ databaseUrl, apiToken }: SeededDatabase): Promise<ServerProcess> {
  return ServerProcess.start({
    script: ['bench/peers/express.ts'],
    env: { NODE_ENV: 'production', DATABASE_URL: databaseUrl, BENCH_API_TOKEN: apiToken },
  });
}

/** pgbench first, Express second. */
function lookUpContenders(stage: Stage): Contender<Measured>[] {
  const { services, express } = stage;
  const [get, resolve] = [operationOf('get'), operationOf('resolve')];
  return [
    pgbenchContender('select', stage),
    contender('Express', [express], get, stage),
    contender('GET', services.slice(0, 1), get, stage),
    contender('resolve', services.slice(0, 1), resolve, stage),
    contender(`GET, ${services.length} processes`, services, get, stage),
    contender(`resolve, ${services.length} processes`, services, resolve, stage),
  ];
}

function createContenders(stage: Stage): Contender<Measured>[] {
  const { services, express } = stage;
  const create = operationOf('create-random-id');
  return [
    pgbenchContender('insert', stage),
    // Its POST does nothing but insert.
    contender('Express', [express], operationOf('v1-create'), stage),
    contender('create', services.slice(0, 1), create, stage),
    contender(`create, ${services.length} processes`, services, create, stage),
  ];
}

function pgbenchContender(script: string, { server, database }: Stage): Contender<Measured> {
  const { databaseUrl, groups } = database;
  const run = async (seconds: number): Promise<Measured> => {
    const before = databaseTime(server);
    const round = await pgbench({ databaseUrl, script, groups, seconds, clients: PGBENCH_CLIENTS });
    const requests = round.requestsPerSecond * seconds;
    return { ...round, nodeTime: Number.NaN, databaseTime: (databaseTime(server) - before) / requests };
  };
  return { name: `pgbench ${script}`, run };
}

function databaseTime({ processId }: BenchServer): number {
  return processorTimeOfChildren(processId ?? Number.NaN);
}

function contender(
  name: string,
  processes: readonly ServerProcess[],
  operation: Operation,
  { server, database, connections }: Stage,
): Contender<Measured> {
  const nodeTime = () => processes.reduce((sum, { processId }) => sum + processorTime(processId), 0);
  const run = async (seconds: number): Promise<Measured> => {
    const before = { node: nodeTime(), database: databaseTime(server) };
    const round = await loadAll(processes, {
      operation,
      database,
      seconds,
      connections,
    });
    const requests = round.requestsPerSecond * seconds;
    return {
      ...round,
      nodeTime: (nodeTime() - before.node) / requests,
      databaseTime: (databaseTime(server) - before.database) / requests,
    };
  };
  return { name, run };
}

function report(
  title: string,
  target: number,
  contenders: readonly Contender<Measured>[],
  figures: readonly Measured[],
): void {
  const [pgbenchRate, expressRate] = figures.map(({ requestsPerSecond }) => requestsPerSecond);
  const against = (rate: number, other: number, least: number) => [
    (rate / other).toFixed(2),
    `>= ${least}`,
    verdict(rate / other >= least),
  ];
  const rows = contenders.map(({ name }, index) => {
    const rate = figures[index]!.requestsPerSecond;
    const ratios =
      index < 2
        ? ['', '', '', '', '', '']
        : [...against(rate, pgbenchRate!, target), ...against(rate, expressRate!, EXPRESS_TARGET)];
    return [name, ...cellsOf(figures[index]!, ratios)];
  });
  const ratioHeadings = ['of pgbench', '', '', 'of Express', '', ''];
  console.log('');
  printTable([title, '1/s', ...ratioHeadings, 'p50 ms', 'p99 ms', 'Node µs', 'PostgreSQL µs'], rows);
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

/** What a client that is alone pays for batches, which do nothing for it. */
async function reportLoneClient(
  { database, services, express }: Stage,
  unbatched: ServerProcess,
  options: PostgresOptions,
): Promise<void> {
  const operation = operationOf('get');
  const alone = (name: string, server: ServerProcess): Contender<Round> => ({
    name: `${name}, one connection`,
    run: (seconds) => loadAll([server], { operation, database, seconds, connections: 1 }),
  });
  const figures = await inTurns(
    [alone('GET', services[0]!), alone('GET without batches', unbatched), alone('Express', express)],
    options,
  );
  const [batched, single, peer] = figures.map(({ p50Ms }) => p50Ms);
  const cost = batched! - single!;
  console.log(
    `\nGET of a lone client, p50: ${batched!.toFixed(3)} ms; without batches ${single!.toFixed(3)} ms; ` +
      `Express ${peer!.toFixed(3)} ms\nbatches cost it ${cost.toFixed(3)} ms, ` +
      `target <= ${LONE_TARGET_MS}: ${verdict(cost <= LONE_TARGET_MS)}`,
  );
}
